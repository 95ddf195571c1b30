import { expect, it, onTestFinished, vi } from 'vitest'
import { type Hex, isArgumentError, isProofError } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { type CallBundle, type CallClaim, recordCall, verifyCallEvidence } from '../../../src/entry/provider.ts'
import type { RequestProvider } from '../../../src/entry/rpc.ts'
import { asOfNetwork, withNetwork } from '../../network.ts'
import { at, createEndpoints, dataOf, LEFT, ROLLUP, word } from '../endpoints.ts'
import { CHAIN_ID, type FullAccount, type FullState } from '../full-state.ts'

const [ALICE, OTHER, TARGET] = [at('a1'), at('ee'), at('c0')]
const HASH: Hex = `0x${'ab'.repeat(32)}`
const RETURN = '5f5260205ff3'
const push20 = (address: Hex) => `73${address.slice(2)}`

function endpointsOf(code: string, more: readonly [Hex, FullAccount][] = []) {
  const target: FullAccount = { nonce: 1n, code: `0x${code}`, storage: { [word(0)]: word(5), [word(1)]: word(6) } }
  const state: FullState = new Map<Hex, FullAccount>([[TARGET, target], [ALICE, { balance: 9n }], ...more])
  const endpoints = createEndpoints(state, true)
  for (let block = 0; block < 9; block++) endpoints.chain.addBlock()
  endpoints.chain.finalize()
  return endpoints
}

async function record(code: string, request: object = {}, more?: readonly [Hex, FullAccount][]) {
  const { l1, l2 } = endpointsOf(code, more)
  const about = { scheme: poseidon2, rollup: ROLLUP, chainId: CHAIN_ID }
  const recorded = await recordCall(withNetwork({ l1, l2, ...about, call: { from: ALICE, to: TARGET }, ...request }))
  const bundle: CallBundle = JSON.parse(JSON.stringify(recorded.bundle))
  const trusted = { l1BlockHash: recorded.verified.l1Block.hash }
  const claim: CallClaim<{ l1BlockHash: Hex }> = {
    ...{ ...about, trusted, l2BlockNumber: 'fromBundle', hardfork: 'prague', call: LEFT },
  }
  return { ...recorded, bundle, claim }
}

/** What a bundle is refused with: the code, the path, and what was expected or found. */
const refusal = (bundle: unknown, claim: CallClaim) =>
  verifyCallEvidence(bundle, claim).then(
    () => null,
    error =>
      isProofError(error) || isArgumentError(error)
        ? [error.code, error.path, error.expected ?? null, error.found ?? null]
        : error,
  )

it('holds what the call reads, and no more', async () => {
  // Returns the sum of slot 0 and the balance of another account.
  const {
    bundle,
    claim,
    verified: evidence,
  } = await record(`5f54${push20(OTHER)}3101${RETURN}`, {}, [[OTHER, { balance: 7n }]])
  expect(bundle).toMatchObject({
    format: 'rollup-state-proof/evidence',
    version: 1,
    kind: 'call',
    scheme: 'poseidon2',
    l2BlockNumber: '0x9',
    chainId: '0x539',
  })
  expect(Object.keys(bundle)).toEqual([
    ...[
      'format',
      'version',
      'kind',
      'rollup',
      'scheme',
      'l2BlockNumber',
      'l1',
      'chainId',
      'hardfork',
      'environment',
      'call',
    ],
    ...['answers', 'codes'],
  ])
  expect(bundle.call).toEqual({ from: ALICE, to: TARGET, data: '0x', value: '0x0', gas: '0x2faf080' })
  expect(bundle.answers.map(({ address, storageKeys }) => [address, storageKeys])).toEqual([
    [ALICE, []],
    [TARGET, [word(0)]],
    [OTHER, []],
  ])
  expect(bundle.codes.length).toBe(1)
  expect(await verifyCallEvidence(bundle, claim)).toEqual(evidence)
  expect(evidence).toMatchObject({ outcome: 'returned', returnData: word(12), chainId: CHAIN_ID, hardfork: 'prague' })
  expect(evidence).not.toHaveProperty('account')
})

it('tells how a call ended', async () => {
  const outcomes: unknown[] = []
  for (const code of [`6007${RETURN}`, '60075f5260205ffd', 'fe']) {
    const { bundle, claim, verified } = await record(code)
    expect(await verifyCallEvidence(bundle, claim)).toEqual(verified)
    const { outcome, returnData, revertData, gasUsed } = { returnData: null, revertData: null, ...verified }
    expect(gasUsed).toBeGreaterThan(21_000n)
    outcomes.push([outcome, returnData, revertData])
  }
  expect(outcomes).toEqual([
    ['returned', word(7), null],
    ['reverted', null, word(7)],
    ['failed', null, null],
  ])
})

it('states the values that the call reads and L1 does not prove', async () => {
  const environment = { baseFee: 7n, gasLimit: 8n, coinbase: OTHER }
  // Returns the sum of the gas limit and the base fee, which a call that pays nothing needs nobody for.
  const { bundle, claim, verified: evidence } = await record(`454801${RETURN}`, { environment })
  // The coinbase is warm if it is stated, which changes nothing here.
  expect(bundle.environment).toEqual({ gasLimit: '0x8' })
  expect(evidence.environment).toEqual({ gasLimit: 8n })
  expect(dataOf(evidence)).toBe(word(8n))
  const changed = (values: object) => refusal({ ...bundle, environment: { ...bundle.environment, ...values } }, claim)
  expect(await changed({ baseFee: '0x7' })).toEqual([
    ...['CALL_STATE_UNUSED', 'environment.baseFee', null, 'a value that is not read'],
  ])
  expect(await changed({ gasLimit: undefined })).toEqual([
    ...['CALL_STATE_MISSING', 'environment', 'the value of GASLIMIT', null],
  ])
})

it('states the coinbase where a call reads it, or pays less for it, and nowhere else', async () => {
  const environment = { coinbase: OTHER }
  const read = await record(`41${RETURN}`, { environment })
  expect([read.bundle.environment, dataOf(read.verified)]).toEqual([environment, word(BigInt(OTHER))])
  // The balance of the coinbase, which costs 2,500 less gas if the address is warm.
  const balance = `73${OTHER.slice(2)}31${RETURN}`
  const paid = await record(balance, { environment })
  expect(paid.bundle.environment).toEqual(environment)
  const cold = await record(balance)
  expect(cold.verified.gasUsed - paid.verified.gasUsed).toBe(2500n)
  expect((await record(balance, { environment, hardfork: 'paris' })).bundle.environment).toEqual({})
  const none = await record(`5f${RETURN}`, { environment })
  expect(none.bundle.environment).toEqual({})
  expect(await refusal({ ...none.bundle, environment }, none.claim)).toEqual([
    ...['CALL_STATE_UNUSED', 'environment.coinbase', null, 'a value that is not read'],
  ])
})

it('takes the timestamp from L1 if that proves it, and from the author otherwise', async () => {
  const code = `42${RETURN}`
  const proven = await record(code, { environment: { timestamp: 5n } })
  expect([proven.bundle.environment, proven.verified.environment]).toEqual([{}, {}])
  expect(dataOf(proven.verified)).toBe(word(proven.verified.finalizedTimestamp ?? 0n))
  // L1 does not prove the time of an older finalization.
  const older = await record(code, { environment: { timestamp: 5n }, l2BlockNumber: 0n })
  expect(older.bundle.environment).toEqual({ timestamp: '0x5' })
  expect(dataOf(older.verified)).toBe(word(5))
  const stated = { ...proven.bundle, environment: { timestamp: '0x5' } }
  expect(await refusal(stated, proven.claim)).toEqual([
    ...['CALL_STATE_UNUSED', 'environment.timestamp', null, 'a value beside the one that is proven'],
  ])
  // From an L2 state root, nothing of L1 is proven.
  const trusted = { l2StateRoot: proven.verified.stateRoot }
  const claim = { ...proven.claim, trusted, l2BlockNumber: 9n }
  expect(dataOf(await verifyCallEvidence(stated, claim))).toBe(word(5))
  expect(await refusal(proven.bundle, claim)).toEqual([
    ...['CALL_STATE_MISSING', 'environment', 'the value of TIMESTAMP', null],
  ])
  expect(await refusal(stated, { ...proven.claim, trusted })).toEqual([
    ...['ARGUMENT_INVALID', 'l2BlockNumber', 'the number of the block of this state root', null],
  ])
})

it('is refused if state is missing, or is there without being read', async () => {
  const { bundle, claim } = await record(`5f5460015401${push20(OTHER)}3b01${RETURN}`, {}, [
    [OTHER, { nonce: 1n, code: '0x00' }],
  ])
  const idle = await record('00')
  const { answers, codes } = bundle
  const [alice, target, other] = answers
  if (!alice || !target || !other) throw new Error('three')
  const { l2 } = endpointsOf(`5f5460015401${push20(OTHER)}3b01${RETURN}`, [[OTHER, { nonce: 1n, code: '0x00' }]])
  const proofOf = async (address: Hex, storageKeys: Hex[]) => {
    const answer = await l2.request({ method: 'rollup_getProof', params: [address, storageKeys, '0x9'] })
    return { address, storageKeys, answer }
  }
  const cases: [object, unknown[]][] = [
    [{ answers: [] }, ['CALL_STATE_MISSING', 'answers', `account ${bundle.call.from}`, null]],
    [{ answers: [alice, target] }, ['CALL_STATE_MISSING', 'answers', `account ${OTHER}`, null]],
    [
      { answers: [alice, await proofOf(TARGET, [word(0)]), other] },
      ['CALL_STATE_MISSING', 'answers[1]', `slot ${word(1)} of ${TARGET}`, null],
    ],
    [{ codes: codes.slice(1) }, ['CALL_STATE_MISSING', 'codes']],
    [{ answers: [...answers, alice] }, ['CALL_STATE_UNUSED', 'answers[3]', null, `a second answer for ${ALICE}`]],
    [
      { answers: [...answers, await proofOf(at('77'), [])] },
      ['CALL_STATE_UNUSED', 'answers[3]', null, `account ${at('77')}`],
    ],
    [
      { answers: [alice, await proofOf(TARGET, [word(0), word(1), word(2)]), other] },
      ['CALL_STATE_UNUSED', 'answers[1].storageKeys', null, 'a slot that is not read, or is there twice'],
    ],
    [
      { answers: [alice, await proofOf(TARGET, [word(0), word(1), word(1)]), other] },
      ['CALL_STATE_UNUSED', 'answers[1].storageKeys', null, 'a slot that is not read, or is there twice'],
    ],
    [{ codes: [...codes, '0x01'] }, ['CALL_STATE_UNUSED', 'codes', null, 'a code that is not read, or is there twice']],
    [
      { codes: [...codes, ...codes] },
      ['CALL_STATE_UNUSED', 'codes', null, 'a code that is not read, or is there twice'],
    ],
  ]
  for (const [change, expected] of cases) {
    expect((await refusal({ ...bundle, ...change }, claim)).slice(0, expected.length)).toEqual(expected)
  }
  expect(cases.length).toBe(10)
  expect(await refusal(idle.bundle, idle.claim)).toBeNull()
})

it('names places in the bundle, also for what is wrong with its first answer', async () => {
  const { bundle, claim } = await record('00')
  const [first, second] = bundle.answers
  const without = (place: object, name: string) => ({ ...place, [name]: undefined })
  const lie = (answer: unknown) => ({
    ...Object(answer),
    accountProof: { ...Object(answer).accountProof, leafIndex: 7 },
  })
  const cases: [object, string, string][] = [
    [{ answers: [{ ...first, answer: lie(first?.answer) }, second] }, 'answers[0].answer.accountProof', 'PROOF'],
    [{ answers: [first, { ...second, answer: lie(second?.answer) }] }, 'answers[1].answer.accountProof', 'PROOF'],
    [{ answers: [first, { ...second, address: '0x12' }] }, 'answers[1].address', 'WRONG_LENGTH'],
    [{ answers: [first, { ...second, storageKeys: ['0x'] }] }, 'answers[1].storageKeys[0]', 'WRONG_LENGTH'],
    [{ answers: [first, { ...second, storageKeys: 7 }] }, 'answers[1].storageKeys', 'EVIDENCE_MALFORMED'],
    [{ answers: 7 }, 'answers', 'EVIDENCE_MALFORMED'],
    [{ rollup: { address: '0x' } }, 'rollup.address', 'WRONG_LENGTH'],
    [{ l1: without(Object(bundle.l1), 'header') }, 'l1.header', 'EVIDENCE_L1_MISSING'],
    [{ version: undefined }, 'version', 'EVIDENCE_MALFORMED'],
    [{ version: 3 }, 'version', 'EVIDENCE_VERSION'],
    [{ version: 2 }, 'version', 'EVIDENCE_VERSION'],
    [{ kind: 'account' }, 'kind', 'EVIDENCE_MALFORMED'],
    [{ chainId: '0x0539' }, 'chainId', 'EVIDENCE_MALFORMED'],
    [{ chainId: `0x1${'0'.repeat(64)}` }, 'chainId', 'EVIDENCE_MALFORMED'],
    [{ hardfork: 'frontier' }, 'hardfork', 'EVIDENCE_MALFORMED'],
    [{ hardfork: 7 }, 'hardfork', 'EVIDENCE_MALFORMED'],
    [{ environment: undefined }, 'environment', 'EVIDENCE_MALFORMED'],
    [{ environment: { timestamp: 5 } }, 'environment.timestamp', 'EVIDENCE_MALFORMED'],
    [{ environment: { timestamp: `0x1${'0'.repeat(16)}` } }, 'environment.timestamp', 'EVIDENCE_MALFORMED'],
    [{ environment: { gasLimit: `0x1${'0'.repeat(16)}` } }, 'environment.gasLimit', 'EVIDENCE_MALFORMED'],
    [{ environment: { baseFee: `0x1${'0'.repeat(64)}` } }, 'environment.baseFee', 'EVIDENCE_MALFORMED'],
    [{ environment: { blobBaseFee: '0x00' } }, 'environment.blobBaseFee', 'EVIDENCE_MALFORMED'],
    [{ environment: { coinbase: HASH } }, 'environment.coinbase', 'WRONG_LENGTH'],
    [{ environment: { prevRandao: ALICE } }, 'environment.prevRandao', 'WRONG_LENGTH'],
    [{ call: { ...bundle.call, from: '0x' } }, 'call.from', 'WRONG_LENGTH'],
    [{ call: { ...bundle.call, to: HASH } }, 'call.to', 'WRONG_LENGTH'],
    [{ call: { ...bundle.call, data: '0x1' } }, 'call.data', 'BAD_HEX'],
    [{ call: { ...bundle.call, data: `0x${'00'.repeat(2 ** 20 + 1)}` } }, 'call.data', 'EVIDENCE_MALFORMED'],
    [{ call: { ...bundle.call, value: '1' } }, 'call.value', 'EVIDENCE_MALFORMED'],
    [{ call: { ...bundle.call, gas: `0x1${'0'.repeat(16)}` } }, 'call.gas', 'EVIDENCE_MALFORMED'],
    [{ call: { ...bundle.call, gas: '0x2faf081' } }, 'call.gas', 'EVIDENCE_MALFORMED'],
    [{ codes: ['0x0'] }, 'codes[0]', 'BAD_HEX'],
    [{ codes: [7] }, 'codes[0]', 'EVIDENCE_MALFORMED'],
  ]
  for (const [change, path, code] of cases) {
    const found = await refusal({ ...bundle, ...change }, claim)
    expect(found?.[1], JSON.stringify(Object.keys(change))).toContain(path)
    if (code !== 'PROOF') expect(found?.slice(0, 2)).toEqual([code, path])
  }
  expect(cases.length).toBe(33)
})

it('holds at most 65,536 accounts, slots and codes', async () => {
  const { bundle, claim } = await record('00')
  const [first, second] = bundle.answers
  const tooMany = ['EVIDENCE_MALFORMED', 'at most 65536 accounts, slots and codes']
  const found = async (change: object) => {
    const [code, , expected] = await refusal({ ...bundle, ...change }, claim)
    return [code, expected]
  }
  const sparse = (count: number) => Object.assign([], { length: count })
  expect(await found({ codes: sparse(65_535) })).toEqual(tooMany)
  expect((await found({ codes: sparse(65_534) }))[1]).toBe('a string')
  expect(await found({ answers: [first, { ...second, storageKeys: sparse(65_535) }] })).toEqual(tooMany)
  expect(await found({ answers: sparse(65_537) })).toEqual(tooMany)
})

it('may carry 1 MiB of data', async () => {
  const { bundle, claim } = await record('00')
  const data: Hex = `0x${'00'.repeat(2 ** 20)}`
  expect(await refusal({ ...bundle, call: { ...bundle.call, data } }, claim)).toBeNull()
})

it('is refused if the call cannot begin', async () => {
  const { bundle, claim } = await record('00')
  const cases: [object, string][] = [
    [{ ...bundle.call, gas: '0x5207' }, 'intrinsic gas too low'],
    [{ ...bundle.call, value: '0xa' }, 'insufficient funds'],
  ]
  for (const [call, message] of cases) {
    const stated = { ...claim, call: { ...LEFT, gas: BigInt(Object(call).gas) } }
    const [code, path, expected, found] = await refusal({ ...bundle, call }, stated)
    expect([code, path, expected]).toEqual(['EVIDENCE_MALFORMED', 'call', 'a call that can begin'])
    expect(found).toContain(message)
  }
  expect(cases.length).toBe(2)
})

it('is compared with everything that the caller states', async () => {
  const data: Hex = '0xabcd'
  const call = { from: ALICE, to: TARGET, data, value: 3n }
  const { bundle, claim } = await record('00', { call })
  // Hexadecimal in any case.
  const upper = (hex: Hex): Hex => `0x${hex.slice(2).toUpperCase()}`
  const same = { from: upper(ALICE), to: upper(TARGET), data: upper(data), value: 3n, gas: 50_000_000n }
  expect(await refusal(bundle, { ...claim, call: same, hardfork: 'prague', l2BlockNumber: 9n })).toBeNull()
  const others: [object, string][] = [
    [{ chainId: 1n }, 'chainId'],
    [{ hardfork: 'osaka' }, 'hardfork'],
    [{ call: { ...LEFT, from: OTHER } }, 'call.from'],
    [{ call: { ...LEFT, to: OTHER } }, 'call.to'],
    [{ call: { ...LEFT, data: '0x' } }, 'call.data'],
    [{ call: { ...LEFT, value: 4n } }, 'call.value'],
    [{ call: { ...LEFT, gas: 21_000n } }, 'call.gas'],
  ]
  for (const [change, path] of others) {
    expect((await refusal(bundle, { ...claim, ...change } as CallClaim)).slice(0, 2)).toEqual(['CALL_MISMATCH', path])
  }
  expect(others.length).toBe(7)
  expect(await refusal(bundle, { ...claim, l2BlockNumber: 8n })).toContain('EVIDENCE_BLOCK_MISMATCH')
})

it('takes from the bundle what the claim leaves to it, and says what that is', async () => {
  const call = { from: ALICE, to: TARGET, data: '0xabcd', value: 3n, gas: 30_000_000n } as const
  const { bundle, claim } = await record('00', { call, hardfork: 'osaka' })
  const open = { ...claim, hardfork: 'fromBundle', call: 'fromBundle' } as const
  expect(await verifyCallEvidence(bundle, open)).toMatchObject({ call, hardfork: 'osaka', l2BlockNumber: 9n })
  const parts = { ...open, call: { ...LEFT, gas: 'fromBundle' } } as const
  expect(await verifyCallEvidence(bundle, parts)).toMatchObject({ call })
  // The chain is that of the rollup unless the claim states it.
  const rollup = { ...ROLLUP, chainId: Number(CHAIN_ID) }
  expect(await refusal(bundle, { ...open, chainId: undefined, rollup })).toBeNull()
  expect(await refusal(bundle, { ...open, chainId: Number(CHAIN_ID) })).toBeNull()
})

it('needs a claim that is complete and has no other fields', async () => {
  const { bundle, claim } = await record('00')
  const { from, to, data, value, gas } = LEFT
  const wrong: [unknown, string][] = [
    [undefined, ''],
    [{ ...claim, scheme: {} }, 'scheme'],
    [{ ...claim, scheme: undefined }, 'scheme'],
    [{ ...claim, rollup: undefined }, 'rollup'],
    [{ ...claim, rollup: { ...ROLLUP, adress: OTHER } }, 'rollup.adress'],
    [{ ...claim, trusted: {} }, 'trusted'],
    [{ ...claim, trusted: undefined }, 'trusted'],
    [{ ...claim, trusted: { l1blockhash: HASH } }, 'trusted.l1blockhash'],
    [{ ...claim, maxgas: 1n }, 'maxgas'],
    [{ ...claim, address: 'fromBundle' }, 'address'],
    [{ ...claim, chainId: undefined }, 'rollup.chainId'],
    [{ ...claim, chainId: 'fromBundle' }, 'chainId'],
    [{ ...claim, chainId: 0n }, 'chainId'],
    [{ ...claim, chainId: 1n << 256n }, 'chainId'],
    [{ ...claim, rollup: { ...ROLLUP, chainId: 1 } }, 'chainId'],
    [{ ...claim, l2BlockNumber: undefined }, 'l2BlockNumber'],
    [{ ...claim, l2BlockNumber: 9 }, 'l2BlockNumber'],
    [{ ...claim, hardfork: undefined }, 'hardfork'],
    [{ ...claim, hardfork: 'frontier' }, 'hardfork'],
    [{ ...claim, call: undefined }, 'call'],
    [{ ...claim, call: 'frombundle' }, 'call'],
    [{ ...claim, call: { ...LEFT, nonce: 1n } }, 'call.nonce'],
    [{ ...claim, call: { to, data, value, gas } }, 'call.from'],
    [{ ...claim, call: { from, data, value, gas } }, 'call.to'],
    [{ ...claim, call: { from, to, value, gas } }, 'call.data'],
    [{ ...claim, call: { from, to, data, gas } }, 'call.value'],
    [{ ...claim, call: { from, to, data, value } }, 'call.gas'],
    [{ ...claim, call: { ...LEFT, from: '0x12' } }, 'call.from'],
    [{ ...claim, call: { ...LEFT, to: HASH } }, 'call.to'],
    [{ ...claim, call: { ...LEFT, data: 7 } }, 'call.data'],
    [{ ...claim, call: { ...LEFT, value: 3 } }, 'call.value'],
    [{ ...claim, call: { ...LEFT, value: 1n << 256n } }, 'call.value'],
    [{ ...claim, call: { ...LEFT, gas: 1n << 64n } }, 'call.gas'],
    [{ ...claim, call: { ...LEFT, gas: 50_000_001n } }, 'call.gas'],
  ]
  for (const [stated, path] of wrong) {
    // Whatever the bundle is, the claim is wrong.
    for (const any of [bundle, {}]) {
      expect((await refusal(any, stated as CallClaim))?.slice(0, 2), path).toEqual([
        'ARGUMENT_INVALID',
        asOfNetwork(path),
      ])
    }
  }
  expect(wrong.length).toBe(34)
  for (const [options, path] of [
    [{ sginal: undefined }, 'sginal'],
    [{ signal: 7 }, 'signal'],
    [null, ''],
  ] as const) {
    const error = await verifyCallEvidence(bundle, claim, options as never).catch(error => error)
    expect([isArgumentError(error), error.path]).toEqual([true, path])
  }
  // What the caller's own function throws is not an error of the bundle.
  const boom = new TypeError('boom')
  const verifyConsensus = () => {
    throw boom
  }
  const trusted = { beaconBlockRoot: word(1), network: 'devnet', verifyConsensus, lightClient: {} as never }
  const withConsensus = { ...bundle, consensus: { bootstrap: {}, updates: [] } }
  expect(await refusal(withConsensus, { ...claim, trusted })).toBe(boom)
})

it('is recorded only with valid options', async () => {
  const { l1, l2, asked } = endpointsOf('00')
  const right = { l1, l2, scheme: poseidon2, rollup: ROLLUP, chainId: CHAIN_ID, call: { to: TARGET } }
  const wrong: [object, string][] = [
    [{ l1: undefined }, 'l1'],
    [{ l2: [] }, 'l2'],
    [{ scheme: undefined }, 'scheme'],
    [{ rollup: undefined }, 'rollup'],
    [{ rollup: { ...ROLLUP, layuot: {} } }, 'rollup.layuot'],
    [{ chainid: 1n }, 'chainid'],
    [{ chainId: undefined }, 'chainId'],
    [{ chainId: 0n }, 'chainId'],
    [{ hardfork: 'frontier' }, 'hardfork'],
    [{ hardfork: 'fromBundle' }, 'hardfork'],
    [{ l2BlockNumber: 1 }, 'l2BlockNumber'],
    [{ call: undefined }, 'call'],
    [{ call: { to: TARGET, nonce: 1n } }, 'call.nonce'],
    [{ call: {} }, 'call.to'],
    [{ call: { to: TARGET, from: '0x' } }, 'call.from'],
    [{ call: { to: TARGET, value: -1n } }, 'call.value'],
    [{ call: { to: TARGET, value: 1n << 256n } }, 'call.value'],
    [{ call: { to: TARGET, gas: 20_999n } }, 'call.gas'],
    [{ call: { to: TARGET, gas: 50_000_001n } }, 'call.gas'],
    [{ call: { to: TARGET, data: '0x1' } }, 'call.data'],
    [{ call: { to: TARGET, data: 7 } }, 'call.data'],
    [{ call: { to: TARGET, data: 'data:0x12' } }, 'call.data'],
    [{ call: { to: TARGET, data: `0x${'00'.repeat(2 ** 20 + 1)}` } }, 'call.data'],
    [{ environment: { timestamp: 5 } }, 'environment.timestamp'],
    [{ environment: { blockhashes: {} } }, 'environment.blockhashes'],
    [{ maxRequests: 0 }, 'maxRequests'],
    [{ maxKeysPerRequest: 0 }, 'maxKeysPerRequest'],
    [{ method: 7 }, 'method'],
    [{ l1BlockNumber: 1 }, 'l1BlockNumber'],
    [{ onProgress: 7 }, 'onProgress'],
    [{ signal: 7 }, 'signal'],
    [{ resumeFrom: {} }, 'resumeFrom'],
  ]
  for (const [change, path] of wrong) {
    const error = await recordCall(withNetwork({ ...right, ...change }) as never).catch(error => error)
    expect([isArgumentError(error), error.path], `${error}`).toEqual([true, asOfNetwork(path)])
  }
  expect(wrong.length).toBe(32)
  expect(asked).toEqual([])
  // The default sender, and hexadecimal in any case.
  const call = { to: `0x${'C0'.repeat(20)}`, data: '0xAB' } as const
  const { bundle } = await recordCall(withNetwork({ ...right, call, l2BlockNumber: 0n }))
  expect(bundle.call).toEqual({ from: at('00'), to: TARGET, data: '0xab', value: '0x0', gas: '0x2faf080' })
  expect(bundle.l2BlockNumber).toBe('0x0')
})

it('is recorded with a limited number of requests, which can be aborted', async () => {
  // Reads slots 0 and 1, one after the other.
  const code = `5f5460015401${RETURN}`
  const { l1, l2 } = endpointsOf(code)
  const call = { from: ALICE, to: TARGET }
  const options = { l1, l2, scheme: poseidon2, rollup: ROLLUP, chainId: CHAIN_ID, call }
  await expect(recordCall(withNetwork({ ...options, maxRequests: 2 }))).rejects.toMatchObject({
    reason: 'LIMIT_REACHED',
  })
  const signal = AbortSignal.abort(new Error('enough'))
  const aborted = { code: 'ABORTED', cause: { message: 'enough' } }
  await expect(recordCall(withNetwork({ ...options, signal }))).rejects.toMatchObject(aborted)
  const { verified } = await recordCall(withNetwork({ ...options, maxKeysPerRequest: 1 }))
  expect([dataOf(verified), verified.trustedInput]).toEqual([word(11), 'l1BlockHash'])
})

it('is recorded from the endpoints that answer, of the right chain', async () => {
  const { l1, l2 } = endpointsOf(`6007${RETURN}`)
  const down: RequestProvider = { request: () => Promise.reject(new Error('down')) }
  const elsewhere: RequestProvider = {
    request: args => (args.method === 'eth_chainId' ? Promise.resolve('0x1') : l2.request(args)),
  }
  const call = { from: ALICE, to: TARGET }
  const options = { scheme: poseidon2, rollup: ROLLUP, chainId: CHAIN_ID, call }
  const { verified } = await recordCall(withNetwork({ ...options, l1: [down, l1], l2: [down, elsewhere, l2] }))
  expect(dataOf(verified)).toBe(word(7))
  const mismatch = { code: 'CHAIN_MISMATCH', layer: 'L2', action: 'change' }
  await expect(recordCall(withNetwork({ ...options, l1, l2: elsewhere }))).rejects.toMatchObject(mismatch)
})

it('can be aborted while it is verified, even if it reads nothing from a network', async () => {
  const { bundle, claim } = await record(`5f54600154015f5260205ff3`)
  const signal = AbortSignal.abort(new Error('enough'))
  const aborted = { code: 'ABORTED', cause: { message: 'enough' } }
  await expect(verifyCallEvidence(bundle, claim, { signal })).rejects.toMatchObject(aborted)
  await expect(verifyCallEvidence({}, claim, { signal })).rejects.toMatchObject(aborted)
  // By this clock, every step takes a second, so that other tasks get their turn before every answer and every read.
  let now = 0
  vi.spyOn(Date, 'now').mockImplementation(() => {
    now += 1000
    return now
  })
  onTestFinished(() => void vi.restoreAllMocks())
  async function abortAtTurn(wanted: number, bundle: unknown) {
    const controller = new AbortController()
    let turns = 0
    const later = (run: () => void, delay?: number) => {
      // The deadline is no turn.
      if (delay !== undefined) return
      turns++
      if (turns === wanted) controller.abort()
      queueMicrotask(run)
    }
    for (const name of ['setTimeout', 'setImmediate'] as const) {
      vi.spyOn(globalThis, name).mockImplementation(later as never)
    }
    const { signal } = controller
    const ended = await verifyCallEvidence(bundle, claim, { signal, timeoutMs: 2 ** 31 - 1 }).catch(error => error)
    return { turns, ended: ended.code ?? ended.outcome }
  }
  const { turns, ended } = await abortAtTurn(Number.POSITIVE_INFINITY, bundle)
  expect([turns > 2 * bundle.answers.length, ended]).toEqual([true, 'returned'])
  for (let turn = 1; turn <= turns; turn++)
    expect(await abortAtTurn(turn, bundle)).toEqual({ turns: turn, ended: 'ABORTED' })
  // There is a turn after the anchor, and one before each answer.
  const { length } = bundle.answers
  const broken = { ...bundle, answers: bundle.answers.with(length - 1, { ...Object(bundle.answers[0]), answer: {} }) }
  expect(await abortAtTurn(length + 1, broken)).toEqual({ turns: length + 1, ended: 'ABORTED' })
  expect(await abortAtTurn(length + 2, broken)).toMatchObject({ turns: length + 1, ended: 'CALL_STATE_UNUSED' })
})
