import { encodeFunctionData } from 'viem'
import { beforeAll, expect, it } from 'vitest'
import { type Hex, isArgumentError, isProofError } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import {
  type CallBundle,
  type CallClaim,
  type CallRecordOptions,
  recordCall,
  verifyCallEvidence,
} from '../../src/entry/provider.ts'
import { withNetwork } from '../network.ts'
import {
  ALICE,
  BOB,
  demoState,
  MANY,
  manyAbi,
  PROXY,
  SURROUNDINGS,
  surroundingsAbi,
  TOKEN,
  tokenAbi,
} from './contracts.ts'
import { createEndpoints, LEFT, ROLLUP, word } from './endpoints.ts'
import { CHAIN_ID } from './full-state.ts'

const balanceOf = encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [BOB] })
const tooMuch = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [BOB, 10n ** 9n] })
const sum = encodeFunctionData({ abi: manyAbi, functionName: 'sum' })
const around = (functionName: string, args: unknown[] = []) => ({
  to: SURROUNDINGS,
  data: encodeFunctionData({ abi: surroundingsAbi, functionName, args }),
})

async function record(call: CallRecordOptions['call'], more: object = {}) {
  const { l1, l2 } = createEndpoints(demoState, true)
  const about = { scheme: poseidon2, rollup: ROLLUP, chainId: CHAIN_ID }
  const recorded = await recordCall(withNetwork({ l1, l2, ...about, call, ...more }))
  const { l1Block } = recorded.verified
  const claim: CallClaim<{ l1BlockHash: Hex }> = {
    ...{
      ...about,
      trusted: { l1BlockHash: l1Block.hash },
      l2BlockNumber: 'fromBundle',
      hardfork: 'prague',
      call: LEFT,
    },
  }
  // As read back from a file.
  return { ...recorded, bundle: JSON.parse(JSON.stringify(recorded.bundle)) as CallBundle, claim }
}
type Recording = Awaited<ReturnType<typeof record>>

let proxied: Recording
beforeAll(async () => {
  proxied = await record({ from: ALICE, to: PROXY, data: balanceOf })
})

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    error => (isProofError(error) || isArgumentError(error) ? error.code : error),
  )

it('records only what a call reads, and executes it again offline', async () => {
  const { bundle, claim, verified: evidence } = proxied
  expect(bundle.answers.map(({ address, storageKeys }) => [address, storageKeys.length])).toEqual([
    ...[
      [ALICE, 0],
      [PROXY, 2],
      [TOKEN, 0],
    ],
  ])
  expect(bundle.codes.length).toBe(2)
  const verified = await verifyCallEvidence(bundle, {
    ...claim,
    call: { from: ALICE, to: PROXY, data: balanceOf, value: 0n, gas: 50_000_000n },
  })
  expect(verified).toEqual(evidence)
  expect(verified).toMatchObject({
    outcome: 'returned',
    returnData: word(70),
    trustedInput: 'l1BlockHash',
    environment: {},
  })
})

it('records reverts, 200 slots, and stated values', async () => {
  const reverted = await record({ from: ALICE, to: TOKEN, data: tooMuch })
  const ended = await verifyCallEvidence(reverted.bundle, reverted.claim)
  expect(ended.outcome === 'reverted' && ended.revertData.slice(0, 10)).toBe('0xdb42144d')
  const many = await record({ to: MANY, data: sum })
  expect(await verifyCallEvidence(many.bundle, many.claim)).toMatchObject({ returnData: word(20_100) })
  const stated = await record(around('gasLimit'), { environment: { baseFee: 7n, gasLimit: 9n } })
  expect(stated.bundle.environment).toEqual({ gasLimit: '0x9' })
  const verified = await verifyCallEvidence(stated.bundle, stated.claim)
  expect(verified).toMatchObject({ outcome: 'returned', returnData: word(9) })
  expect({ ...verified.environment }).toEqual({ gasLimit: 9n })
  // The timestamp is proven, so the stated value is not used.
  const timed = await record(around('timestamp'), { environment: { timestamp: 5n } })
  expect(timed.bundle.environment).toEqual({})
  const proven = await verifyCallEvidence(timed.bundle, timed.claim)
  expect(proven).toMatchObject({ returnData: word(proven.finalizedTimestamp ?? 0n) })
  await expect(record(around('coinbase'))).rejects.toMatchObject({ reason: 'VALUE_UNPROVEN' })
})

it('says whether there is code where the call goes', async () => {
  const nobody = `0x${'9'.repeat(40)}` as const
  const identity = `0x${'0'.repeat(39)}4` as const
  for (const [to, hasCode, returnData] of [
    [TOKEN, true, word(70)],
    [BOB, false, '0x'],
    [nobody, false, '0x'],
    [identity, false, balanceOf],
  ] as const) {
    const { bundle, claim } = await record({ from: ALICE, to, data: balanceOf })
    const isToken = to === TOKEN
    const verified = await verifyCallEvidence(bundle, claim)
    expect(verified, to).toMatchObject({ outcome: 'returned', hasCode })
    if (!isToken) expect(verified).toMatchObject({ returnData })
  }
})

const WRONG_CLAIMS: [object, string][] = [
  [{ chainId: 1n }, 'CALL_MISMATCH'],
  [{ hardfork: 'osaka' }, 'CALL_MISMATCH'],
  [{ call: { ...LEFT, to: TOKEN } }, 'CALL_MISMATCH'],
  [{ call: { ...LEFT, from: BOB } }, 'CALL_MISMATCH'],
  [{ call: { ...LEFT, data: '0x' } }, 'CALL_MISMATCH'],
  [{ call: { ...LEFT, value: 1n } }, 'CALL_MISMATCH'],
  [{ l2BlockNumber: 9n }, 'EVIDENCE_BLOCK_MISMATCH'],
  [{ rollup: { address: TOKEN } }, 'EVIDENCE_ROLLUP_MISMATCH'],
  [{ trusted: { l1BlockHash: word(1) } }, 'HEADER_HASH_MISMATCH'],
  [{ trusted: { l2StateRoot: word(1) }, l2BlockNumber: 0n }, 'STATE_ROOT_MISMATCH'],
]
it('refuses a bundle for another claim', async () => {
  const { bundle, claim } = proxied
  for (const [change, code] of WRONG_CLAIMS) {
    const found = await codeOf(verifyCallEvidence(bundle, { ...claim, ...change } as CallClaim))
    expect(found, Object.keys(change).join()).toBe(code)
  }
  expect(WRONG_CLAIMS.length).toBe(10)
})

it('does not let the bundle choose the gas or the hard fork, which can make parts of a call fail', async () => {
  const starved = await record({ ...around('guarded'), gas: 21_400n })
  expect(await codeOf(verifyCallEvidence(starved.bundle, starved.claim))).toBe('CALL_MISMATCH')
  const stated = await verifyCallEvidence(starved.bundle, { ...starved.claim, call: { ...LEFT, gas: 21_400n } })
  expect([stated.outcome, stated.call.gas]).toEqual([starved.verified.outcome, 21_400n])
  const early = await record(around('guarded'), { hardfork: 'london' })
  expect(await codeOf(verifyCallEvidence(early.bundle, early.claim))).toBe('CALL_MISMATCH')
  expect((await verifyCallEvidence(early.bundle, { ...early.claim, hardfork: 'london' })).hardfork).toBe('london')
})

it('requires the block number if the claim trusts a state root', async () => {
  const { bundle, claim, verified: evidence } = proxied
  const trusted = { l2StateRoot: evidence.stateRoot }
  expect(await codeOf(verifyCallEvidence(bundle, { ...claim, trusted }))).toBe('ARGUMENT_INVALID')
  const verified = await verifyCallEvidence(bundle, { ...claim, trusted, l2BlockNumber: 0n })
  expect(verified).toMatchObject({ returnData: word(70), trustedInput: 'l2StateRoot', l1Block: undefined })
})

/** A copy with one place changed. */
const changed = (bundle: object, path: readonly (string | number)[], change: (value: never) => unknown): unknown => {
  const [name, ...rest] = path
  if (name === undefined) return change(bundle as never)
  const copy: Record<string | number, unknown> = Array.isArray(bundle) ? ([...bundle] as never) : { ...bundle }
  copy[name] = changed(Reflect.get(bundle, name) as object, rest, change)
  return copy
}

it('never accepts another result from a bundle that is changed anywhere', async () => {
  const { bundle, claim } = proxied
  const honest = await verifyCallEvidence(bundle, claim)
  const paths = (value: unknown, path: (string | number)[] = []): (string | number)[][] =>
    typeof value !== 'object' || value === null
      ? [path]
      : [path, ...Object.entries(value).flatMap(([name, part]) => paths(part, [...path, name]))]
  const junk: ((part: unknown) => unknown)[] = [
    part => (typeof part === 'string' ? `${part.slice(0, -1)}${part.endsWith('1') ? '2' : '1'}` : null),
    () => undefined,
    () => [],
    () => ({ length: 2 ** 31 }),
    part => (Array.isArray(part) ? [...part, ...part] : '0x'),
  ]
  const counts = { refused: 0, same: 0 }
  const places = paths(bundle).filter(path => !path.includes('proofRelatedNodes') || Number(path.at(-1)) % 20 === 0)
  for (const path of places.filter((_, index) => index % 2 === 0)) {
    for (const change of junk) {
      try {
        const { call, gasUsed, ...verified } = await verifyCallEvidence(changed(bundle, path, change), claim)
        // The bundle states the caller and the gas if the claim does not.
        const { call: _, gasUsed: __, ...same } = honest
        if (!['call', 'hardfork', 'environment'].includes(`${path[0]}`)) {
          expect({ ...verified, gasUsed }, path.join('.')).toEqual({ ...same, gasUsed: honest.gasUsed })
        }
        counts.same++
      } catch (error) {
        expect(isProofError(error), path.join('.')).toBe(true)
        counts.refused++
      }
    }
  }
  expect(counts.refused).toBeGreaterThan(250)
})

it('throws only its own errors, whatever getters and proxies throw', async () => {
  const { bundle, claim } = proxied
  const fail = (): never => {
    throw new TypeError('a trap')
  }
  const hostile = new Proxy({}, { get: fail, getOwnPropertyDescriptor: fail, has: fail, ownKeys: fail })
  let tried = 0
  for (const name of Object.keys(bundle)) {
    expect(await codeOf(verifyCallEvidence({ ...bundle, [name]: hostile }, claim)), name).toMatch(/^[A-Z0-9_]+$/)
    tried++
  }
  const huge = { ...bundle, codes: Object.assign([], { length: 2 ** 32 - 1 }) }
  expect(await codeOf(verifyCallEvidence(huge, claim))).toBe('EVIDENCE_MALFORMED')
  expect(tried).toBeGreaterThan(10)
})
