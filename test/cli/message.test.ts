import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { encodeMessageClaim, verifyMessageEvidence } from '../../src/messages.ts'
import { fileOf, folderOf, runHere } from './io.ts'

const read = (name: string) => JSON.parse(readFileSync(`vectors/messages/valid/evidence-${name}.json`, 'utf8'))
const fromL2 = read('from-l2')
const { rollup, trusted } = fromL2.claim
const { messageHash } = fromL2.expected.verified
const flags = ['--rollup', rollup.address, '--l1-block-hash', trusted.l1BlockHash]
const verify = (bundle: unknown, ...more: string[]) => runHere(['verify', fileOf(bundle), ...more])

it('verifies a message from L2, and prints the data of its claim', async () => {
  const { code, stdout, stderr } = await verify(fromL2.input, ...flags, '--message', messageHash)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('Verified: this message from L2 can be claimed on L1.')
  expect(stdout).toMatch(new RegExp(`message +${messageHash} +stated by you`))
  expect(stdout).toMatch(/L1 block +24000000 +of /)
  expect(stdout).toMatch(/value +\d+ wei/)
  expect(stdout).toMatch(/claim it with +0x6463fb2a/)

  const json = await verify(fromL2.input, ...flags, '--json')
  const { message, messageProof } = verifyMessageEvidence(fromL2.input, { rollup, trusted, message: 'fromBundle' })
  if (messageProof === undefined) throw new Error('a message to L2')
  expect(JSON.parse(json.stdout)).toMatchObject({
    ...{ verified: true, status: 'claimable', messageHash, sources: { message: 'bundle', rollup: 'flag' } },
    claimData: encodeMessageClaim({ message, messageProof }),
  })
})

it('verifies a message to L2, from a beacon block or an L1 state root', async () => {
  const { input, claim } = read('from-beacon-block')
  const { beaconBlockRoot, network } = claim.trusted
  const beacon = ['--rollup', rollup.address, '--checkpoint', beaconBlockRoot, '--network', fileOf(network)]
  const { code, stdout } = await verify(input, ...beacon)
  expect(code).toBe(0)
  expect(stdout).toContain('Verified: L1 has sent this message to L2.')
  expect(stdout).toContain('from the bundle, not stated by you')
  expect(stdout).toMatch(/signers +511 of 512/)
  expect(stdout).not.toContain('claim it with')
  const { l1Block } = read('to-l2').expected.verified
  const state = await verify(input, '--rollup', rollup.address, '--l1-state-root', l1Block.stateRoot)
  expect([state.code, state.stdout.includes('L1 block')]).toEqual([0, false])
})

it('refuses another message, and says which was asked for', async () => {
  const other = `0x${'ab'.repeat(32)}`
  const { code, stdout, stderr } = await verify(fromL2.input, ...flags, '--message', other)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('Not verified: MESSAGE_MISMATCH')
  expect(stderr).toMatch(new RegExp(`message +${other}`))
  const altered = { ...fromL2.input, message: { ...fromL2.input.message, value: '0x1' } }
  const refused = await verify(altered, ...flags)
  expect(refused.stderr).toContain('Not verified: MESSAGE_ROOT_MISMATCH')
  expect(refused.stderr).toMatch(/message +the one in the bundle/)
})

it('says which options are for messages, and which are not', async () => {
  const usage = async (bundle: unknown, ...more: string[]) => {
    const { code, stderr } = await verify(bundle, ...more)
    expect(code).toBe(2)
    return stderr
  }
  expect(await usage(fromL2.input, ...flags, '--address', `0x${'aa'.repeat(20)}`)).toContain('leave out --address')
  expect(await usage(fromL2.input, ...flags, '--state-root', messageHash)).toContain('leave out --state-root')
  expect(await usage(fromL2.input, ...flags, '--message', '0x12')).toContain('--message')
  expect(await usage(fromL2.input, '--l1-block-hash', trusted.l1BlockHash)).toContain('--rollup is needed')
  expect(await usage(fromL2.input, '--rollup', rollup.address)).toContain('state what you trust')
  const answer = { accountProof: {}, storageProofs: [] }
  expect(await usage(answer, '--message', messageHash)).toContain('is not a message as evidence')
  const vectors = await runHere(['vectors', folderOf({ 'message.json': fromL2.input })])
  expect(`${vectors.stdout}${vectors.stderr}`).toContain('it is a message as evidence: verify it by itself')
})

it('inspects a message as evidence', async () => {
  const { code, stdout } = await runHere(['inspect', fileOf(fromL2.input)])
  expect(code).toBe(0)
  expect(stdout).toContain('message as evidence')
  expect(stdout).toMatch(new RegExp(`address +${rollup.address}`))
  expect(stdout).toMatch(/leafIndex +8/)
  expect(stdout).toMatch(/number +\d+\n/)
})
