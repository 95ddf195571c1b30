import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { addDemoBlocks, createService, demoWorld } from '../../src/devnet/index.ts'
import type { FullChain } from '../../src/devnet/service/chain.ts'
import { verifyEvidence } from '../../src/entry/anchor.ts'
import { encodeMessageClaim, lineaMessageService, messageEvidence } from '../../src/entry/messages.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { PROGRAM } from '../package/build.ts'
import { openBridge } from '../verify/messages/deployed.ts'
import { fileOf, folderOf, networkFile, networkOf, runHere, saveProgress } from './io.ts'

const read = (name: string) => JSON.parse(readFileSync(`vectors/messages/valid/evidence-${name}.json`, 'utf8'))
const fromL2 = read('from-l2')
const { rollup, trusted } = fromL2.claim
const { messageHash } = fromL2.expected.verified
const flags = [...networkOf(rollup.address), '--l1-block-hash', trusted.l1BlockHash]
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
  const { message, messageProof } = verifyEvidence(fromL2.input, {
    kind: messageEvidence,
    rollup,
    trusted,
    message: 'fromBundle',
  })
  if (messageProof === undefined) throw new Error('a message to L2')
  expect(JSON.parse(json.stdout)).toMatchObject({
    ...{ verdict: 'verified', status: 'claimable', messageHash, sources: { message: 'bundle', rollup: 'user' } },
    claimData: encodeMessageClaim({ message, messageProof }),
  })
})

it('verifies a message to L2, from a beacon block or an L1 state root', async () => {
  const { input, claim } = read('from-beacon-block')
  const { beaconBlockRoot, network } = claim.trusted
  const beacon = [...networkOf(rollup.address, { beacon: network }), '--checkpoint', beaconBlockRoot]
  const { code, stdout } = await verify(input, ...beacon)
  expect(code).toBe(0)
  expect(stdout).toContain('Verified, for the message that the bundle names: L1 has sent this message to L2.')
  expect(stdout).toContain('from the bundle, not stated by you')
  expect(stdout).toMatch(/signers +511 of 512/)
  expect(stdout).not.toContain('claim it with')
  const { l1Block } = read('to-l2').expected.verified
  const state = await verify(input, ...networkOf(rollup.address), '--l1-state-root', l1Block.stateRoot)
  expect([state.code, state.stdout.includes('L1 block')]).toEqual([0, false])
})

it('refuses another message, and says which was asked for', async () => {
  const other = `0x${'ab'.repeat(32)}`
  const { code, stdout, stderr } = await verify(fromL2.input, ...flags, '--message', other)
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  expect(stdout).toContain('Refused: MESSAGE_MISMATCH')
  expect(stdout).toMatch(new RegExp(`message +${other}`))
  const altered = { ...fromL2.input, message: { ...fromL2.input.message, value: '0x1' } }
  const refused = await verify(altered, ...flags)
  expect(refused.stdout).toContain('Refused: MESSAGE_ROOT_MISMATCH')
  expect(refused.stdout).toMatch(/message +the one in the bundle/)
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
  expect(await usage(fromL2.input, ...networkOf(rollup.address))).toContain('state what you trust')
  const answer = { accountProof: {}, storageProofs: [] }
  expect(await usage(answer, '--message', messageHash)).toContain('is an answer alone: leave out --message')
})

it('inspects a message as evidence', async () => {
  const { code, stdout } = await runHere(['inspect', fileOf(fromL2.input)])
  expect(code).toBe(0)
  expect(stdout).toContain('message as evidence')
  expect(stdout).toMatch(new RegExp(`address +${rollup.address}`))
  expect(stdout).toMatch(/leafIndex +8/)
  expect(stdout).toMatch(/number +\d+\n/)
})

const user = `0x${'a1'.repeat(20)}` as const
const late = `0x${'a2'.repeat(20)}` as const

/** A service in which the user has sent a message in each direction, and another account one that is on its way. */
async function startBridge() {
  const contract = { address: `0x${'ff'.repeat(20)}` } as const
  const created = { genesis: demoWorld(poseidon2), rollup: contract, messageService: lineaMessageService }
  const service = createService({ ...created, l1Unfinalized: 1 })
  const { messages } = service.chain
  const [out, into] = [
    messages.sendFromL2([{ from: user, to: user, value: 7n }]),
    messages.sendToL2([{ from: user, to: user }]),
  ]
  messages.receiveOnL2()
  addDemoBlocks(service.chain, { counts: [1], l1Blocks: 1 })
  service.chain.l1.addBlock()
  messages.sendFromL2([{ from: late, to: user, value: 8n }])
  service.chain.addBlock()
  messages.sendToL2([{ from: late, to: user }])
  const { url: l2, l1Url: l1 } = await service.listen()
  onTestFinished(() => service.close({ graceMs: 0 }))
  const common = ['--l1', l1, '--l2', l2, ...networkOf(contract.address)]
  const record = (file: string, ...more: string[]) => runHere(['record', 'message', ...common, '-o', file, ...more])
  return { service, common, record, out, into }
}

it('records a message from L2 with the data of its claim, and says what it waits for while it is on its way', async () => {
  const { service, record } = await startBridge()
  const folder = folderOf()
  const file = `${folder}/message.json`
  const { code, stdout } = await record(file, '--sender', user)
  expect([code, stdout.split('\n')[0]]).toEqual([
    0,
    'Consistent: nobody has confirmed the L1 block hash. If it is right, for the message that the endpoint names: this message from L2 can be claimed on L1.',
  ])
  const [, claimData = ''] = /claim it with +(0x\w+)/.exec(stdout) ?? []
  const [, command = ''] = /npx rollup-state-proof (verify .*)/.exec(stdout) ?? []
  const verified = await runHere([...command.split(' '), '--json'])
  expect(JSON.parse(verified.stdout)).toMatchObject({ verdict: 'verified', status: 'claimable', claimData })
  // What was printed is a claim that the rules of the bridge accept, once.
  const contract = await (await openBridge()).deploy()
  expect(await contract.send(claimData as `0x${string}`)).toBe('UnknownRoot')
  await contract.call('anchor', JSON.parse(verified.stdout).messageProof.root, 5n)
  expect(await contract.send(claimData as `0x${string}`)).toBe('accepted')
  expect(await contract.send(claimData as `0x${string}`)).toBe('AlreadyClaimed')

  const waiting = await record(`${folder}/waiting.json`, '--sender', late)
  expect([waiting.code, existsSync(`${folder}/waiting.json`)]).toEqual([3, false])
  expect(waiting.stderr).toMatch(/BLOCK_NOT_FINALIZED: .*message is in block 2, and the last final one is 1\./)
  service.chain.messages.claimOnL1([1n])
  service.chain.l1.addBlock()
  expect((await record(file, '--sender', user, '--force')).stdout).toContain('is claimed on L1.')

  const none = await record(`${folder}/none.json`, '--sender', lineaMessageService)
  expect([none.code, none.stderr.includes('MESSAGE_MISSING')]).toEqual([3, true])
  for (const wrong of [
    [],
    ['--message', '0x12'],
    ['--sender', 'me'],
    ['--sender', user, '--transaction', `0x${'12'.repeat(32)}`],
    ['--to-l2', '--address', user],
  ]) {
    expect((await record(`${folder}/wrong.json`, ...wrong)).code).toBe(2)
  }
  const without = ['--network', networkFile({ rollup: { address: `0x${'ff'.repeat(20)}` } })]
  const unknown = await runHere(['record', 'message', ...without, '-o', `${folder}/x.json`, '--sender', user])
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('has no messageService')])
})

it('records a message to L2, and how far it has come there', async () => {
  const { service, record } = await startBridge()
  const folder = folderOf()
  const sent = await record(`${folder}/sent.json`, '--sender', user, '--to-l2')
  expect([sent.code, sent.stdout.split('\n')[0]]).toEqual([
    0,
    'Consistent: nobody has confirmed the L1 block hash. If it is right, for the message that the endpoint names: L1 has sent this message to L2.',
  ])
  expect(sent.stdout).toMatch(/on L2 +received +follows, at L2 block 1/)
  expect(sent.stderr.match(/^L1 block \d+ of /gm)).toHaveLength(1)
  const later = await record(`${folder}/later.json`, '--sender', late, '--to-l2')
  expect([later.code, later.stderr]).toEqual([3, expect.stringContaining('BLOCK_NOT_FINALIZED: the L1 endpoint')])
  service.chain.l1.addBlock()
  const final = await record(`${folder}/final.json`, '--sender', late, '--to-l2')
  expect(final.stdout).toMatch(/on L2 +not received +follows, at L2 block 1/)
})

it('follows messages into a folder, each once, also after a kill at any time', async () => {
  const { service, common } = await startBridge()
  const { messages } = service.chain
  const more = [1n, 2n, 3n].map(value => ({ from: user, to: lineaMessageService, value }))
  messages.sendFromL2([...more, { from: lineaMessageService, to: user }])
  addDemoBlocks(service.chain, { counts: [1], l1Blocks: 1 })
  const folder = join(folderOf(), 'messages')
  const args = ['follow', 'messages', ...common]
  args.push('--sender', user, '--from-block', '0', '--once', '-o', folder)
  const numbers = (file = join(folder, 'index.ndjson')) =>
    readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map(line => Number(JSON.parse(line).number))
  // A run that is killed once it has printed the first message.
  const program = spawn(process.execPath, [PROGRAM, ...args.filter(arg => arg !== '--once')])
  await once(program.stdout, 'data')
  const killed = once(program, 'close')
  program.kill('SIGKILL')
  await killed
  // The newest finalization is not final on L1 yet.
  expect((await runHere([...args, '--json'])).code).toBe(0)
  expect(numbers()).toEqual([1])
  service.chain.l1.addBlock()
  expect((await runHere(args)).stdout.match(/^Consistent: message \d/gm)).toEqual(
    [3, 4, 5].map(number => `Consistent: message ${number}`),
  )
  expect(numbers()).toEqual([1, 3, 4, 5])
  expect((await runHere(args)).stderr).toContain('No new message that can be claimed.')
  const verified = await runHere([
    'verify',
    join(folder, '4.json'),
    ...common.slice(4),
    '--json',
    '--l1-block-hash',
    await hashIn(folder),
  ])
  expect(JSON.parse(verified.stdout)).toMatchObject({ status: 'claimable', message: { number: '4', value: '2' } })

  // A run that is killed between two writes leaves a part of a line, and the progress of the finalization before.
  const [state, index] = ['state.json', 'index.ndjson'].map(name => join(folder, name)) as [string, string]
  const complete = readFileSync(index, 'utf8')
  const saved = JSON.parse(readFileSync(state, 'utf8'))
  const stateRoot = (service.chain as FullChain).at(1n)?.stateRoot()
  const ends = complete
    .split('\n')
    .slice(0, -1)
    .map(line => `${line}\n`)
  for (const [lines, rest] of [
    [1, ''],
    [1, ends[1]],
    [1, ends.slice(1).join('')],
    [1, '{"version":1,"num'],
  ] as const) {
    const written = ends.slice(0, lines).join('')
    const writing = ends.slice(lines).map(line => JSON.parse(line).file)
    writeFileSync(index, `${written}${rest}`)
    const before = { ...saved.progress.progress, nextNumber: '0x2', l2BlockNumber: '0x1', stateRoot }
    saveProgress(state, { progress: before, writing, length: written.length })
    expect((await runHere(args)).code).toBe(0)
    expect(readFileSync(index, 'utf8').replace(/"l1Block\w+":"\w+",?/g, '')).toBe(
      complete.replace(/"l1Block\w+":"\w+",?/g, ''),
    )
  }

  expect((await runHere([...args.slice(0, -1), `${folder}2`, '--recipient', user.replace('1', '2')])).code).toBe(0)
  expect((await runHere([...args, '--recipient', user])).stderr).toContain('of another request')
  writeFileSync(join(folder, '7.json'), '{}')
  messages.sendFromL2([{ from: user, to: user }])
  addDemoBlocks(service.chain, { counts: [1], l1Blocks: 1 })
  service.chain.l1.addBlock()
  const taken = await runHere(args)
  expect([taken.code, taken.stderr.includes('was not written by a run that follows')]).toEqual([2, true])
  for (const wrong of [['--sender', 'me'], ['--address', user], ['--skip-unavailable']]) {
    expect((await runHere([...args, ...wrong])).code).toBe(2)
  }
})

const hashIn = async (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'index.ndjson'), 'utf8').trimEnd().split('\n').at(3) ?? '').l1BlockHash
