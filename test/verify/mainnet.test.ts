import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isProofError } from '../../src/base/errors.ts'
import {
  createBundle,
  encodeHeader,
  lineaRollup,
  verifyEthProof,
  verifyEvidence,
  verifyHeader,
} from '../../src/entry/anchor.ts'
import {
  mainnetBeacon,
  verifyBootstrap,
  verifyConsensus,
  verifyFinality,
  verifyUnfinalized,
  verifyUpdate,
} from '../../src/entry/beacon.ts'
import { type Hex, verifyProof } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { openFile } from '../../src/site/explore.ts'
import { judge } from '../../src/site/judge.ts'
import { statementFrom } from '../../src/site/statement.ts'
import { fileOf, runHere } from '../cli/io.ts'
import { strided } from '../size.ts'

/** What public endpoints of Ethereum and Linea mainnet answered on one day. */
interface Capture {
  readonly checkpoint: Hex
  readonly beacon: { readonly bootstrap: unknown; readonly updates: readonly [unknown]; readonly finality: unknown }
  readonly l1: {
    readonly block: { readonly hash: Hex; readonly stateRoot: Hex }
    readonly rollupProof: { readonly storageProof: readonly { readonly key: Hex; readonly value: Hex }[] }
  }
  readonly l2: { readonly account: Hex; readonly keys: readonly Hex[]; readonly proof: unknown }
}

const FILE = '../shared/vectors/mainnet/2026-10-01.json'
const isHere = existsSync(FILE)
if (!isHere) console.warn(`SKIPPED 10 tests of real answers of mainnet: ${FILE} is not here`)

const L2_BLOCK = 32_197_714n
/** `stateRootHashes[L2_BLOCK]`, in the contract's storage. */
const STATE_ROOT = '0x184424a30117c5cb0886d81d38dccb7840989c3e3fbe9f81714cef09149a0b4f'
const FINALIZED_L1_BLOCK = '0x0c683435fcd9f5c6d10551c12263badd46e14428e1742c74e0e23307c9d4fbd6'

/** Copies of `value`, each with a digit of one of its texts, or one of its numbers, changed. `stride`: of lists of more than 40, one item of how many. */
function* changedCopies(value: unknown, stride: number): Generator<readonly [place: string, copy: unknown]> {
  if (typeof value === 'string') {
    const index = value.length >> 1
    const digit = value[index] === '1' ? '2' : '1'
    if (index > 0) yield ['', `${value.slice(0, index)}${digit}${value.slice(index + 1)}`]
  } else if (typeof value === 'number') yield ['', value + 1]
  else if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value)
    const step = keys.length > 40 ? stride : 1
    for (const key of keys.filter((_, index) => index % step === 0)) {
      for (const [place, changed] of changedCopies(Reflect.get(value, key), stride)) {
        const copy: object = Array.isArray(value) ? [...value] : { ...value }
        Reflect.set(copy, key, changed)
        yield [`.${key}${place}`, copy]
      }
    }
  }
}

/** The places at which a change is accepted. A result other than that of the true value fails the test. */
function survivors(value: unknown, verify: (value: unknown) => unknown, stride = 1) {
  const expected = verify(value)
  const accepted = new Set<string>()
  let refused = 0
  for (const [place, copy] of changedCopies(value, stride)) {
    try {
      expect(verify(copy), place).toEqual(expected)
      accepted.add(place)
    } catch (error) {
      if (!isProofError(error)) throw error
      refused++
    }
  }
  return { refused, accepted: [...accepted] }
}

it.skipIf(!isHere)('finds the real answers of mainnet', () => expect(isHere).toBe(true))

const verifyCapture = () => {
  const { checkpoint, beacon, l1, l2 }: Capture = JSON.parse(readFileSync(FILE, 'utf8'))
  const trusted = { network: mainnetBeacon, blockRoot: checkpoint }
  const claim = { scheme: poseidon2, rollup: lineaRollup, l2BlockNumber: L2_BLOCK }
  const asked = { address: l2.account, storageKeys: l2.keys }
  const rollupProof = { ...l1.rollupProof, storageProof: l1.rollupProof.storageProof.slice(0, 1) }
  const bundle = createBundle({
    ...{ ...claim, ...asked, answer: l2.proof },
    l1: { block: l1.block, proof: rollupProof },
  })

  it('lead from a checkpoint to a finalized L1 block', () => {
    const proven = verifyConsensus(beacon, trusted)
    expect(proven).toMatchObject({ l1BlockHash: FINALIZED_L1_BLOCK, slot: 15_334_912n })
  })

  it('lead from a checkpoint to the L1 block of the contract proof, which was signed and not final yet', () => {
    const { committee } = verifyBootstrap(beacon.bootstrap, trusted)
    const { unfinalizedL1BlockHash } = verifyUnfinalized(beacon.finality, committee)
    expect(unfinalizedL1BlockHash).toBe(l1.block.hash)
    const known = { ...claim, ...asked, trusted: { l1BlockHash: unfinalizedL1BlockHash } }
    expect(verifyEvidence(bundle, known).storage.map(({ exists }) => exists)).toEqual(Array(5).fill(false))
  })

  it('lead from a checkpoint nowhere if a step is changed anywhere', () => {
    const { committee } = verifyBootstrap(beacon.bootstrap, trusted)
    const steps = [
      survivors(beacon.bootstrap, answer => verifyBootstrap(answer, trusted), strided(128)),
      survivors(beacon.updates[0], answer => verifyUpdate(answer, committee), strided(128)),
      survivors(beacon.finality, answer => verifyFinality(answer, committee)),
    ]
    expect(steps.map(({ accepted }) => accepted)).toEqual([[], [], []])
    expect(Math.min(...steps.map(({ refused }) => refused))).toBeGreaterThan(30)
  })

  it('have the L1 header of its hash, and no other', () => {
    const verify = (block: unknown) => verifyHeader(encodeHeader(block), l1.block.hash)
    expect(verify(l1.block).stateRoot).toBe(l1.block.stateRoot)
    const { refused, accepted } = survivors(l1.block, verify)
    // What the endpoint calls the hash is not part of the header.
    expect(accepted).toEqual(['.hash'])
    expect(refused).toBe(21)
  })

  it('prove the root, the implementation and an empty slot of the rollup contract', () => {
    const storageKeys = l1.rollupProof.storageProof.map(({ key }) => key)
    const verify = (proof: unknown) =>
      verifyEthProof(proof, { l1StateRoot: l1.block.stateRoot, address: lineaRollup.address, storageKeys })
    const { storage } = verify(l1.rollupProof)
    const implementation = `0x${'52b73d934e9412045bf731574463fd026d74645'.padStart(64, '0')}`
    expect(storage.map(({ value }) => value)).toEqual([STATE_ROOT, implementation, `0x${'0'.repeat(64)}`])
    const { refused, accepted } = survivors(l1.rollupProof, verify)
    expect(accepted).toEqual([])
    expect(refused).toBe(41)
  })

  it('prove an account and five slots that do not exist', () => {
    const verify = (answer: unknown) => verifyProof(answer, { scheme: poseidon2, stateRoot: STATE_ROOT, ...asked })
    const { account, storage } = verify(l2.proof)
    expect([account?.nonce, account?.codeSize]).toEqual([1n, 9871n])
    expect(storage.map(({ exists }) => exists)).toEqual(Array(5).fill(false))
    const { refused, accepted } = survivors(l2.proof, verify)
    expect(accepted).toEqual([])
    expect(refused).toBeGreaterThan(200)
  })

  it('fit into a bundle from an L1 block hash', () => {
    const known = { ...claim, ...asked, trusted: { l1BlockHash: l1.block.hash } }
    const proven = verifyEvidence(bundle, known)
    expect(proven).toMatchObject({ stateRoot: STATE_ROOT, trustedInput: 'l1BlockHash' })
    expect(proven.account?.codeSize).toBe(9871n)
    const { refused } = survivors(bundle, changed => verifyEvidence(changed, known), strided(7))
    expect(refused).toBeGreaterThan(30)
  })

  it('verify on the command line', async () => {
    const flags = ['--l2-block', `${L2_BLOCK}`, '--address', l2.account]
    const keys = l2.keys.flatMap(key => ['--storage-key', key])
    const { code, stdout } = await runHere([
      'verify',
      fileOf(bundle),
      ...flags,
      ...keys,
      '--l1-block-hash',
      l1.block.hash,
      '--json',
    ])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'verified' })
  })

  it('verify on the page', () => {
    const file = openFile(bundle)
    const statement = { ...statementFrom(file.suggested), trusted: { value: l1.block.hash, source: 'user' as const } }
    expect(judge(file, statement).report.verdict).toBe('verified')
  })
}

if (isHere) describe('real answers of mainnet', verifyCapture)
