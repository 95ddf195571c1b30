import fc from 'fast-check'
import { expect, it } from 'vitest'
import { openEndpoints } from '../../../src/client/sources/endpoints.ts'
import { historyContract } from '../../../src/entry/blocks.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { recordCall, verifyCallEvidence } from '../../../src/entry/provider.ts'
import { createKnownState, createProvenState } from '../../../src/provider/proven-state.ts'
import { createViews, newestIn } from '../../../src/provider/view.ts'
import { readRollup } from '../../../src/verify/anchor/rollup.ts'
import { createStateVerifier } from '../../../src/verify/state/kind.ts'
import { loneLeaf, loneStorage } from '../../../vectors/evidence/l1.ts'
import { withNetwork } from '../../network.ts'
import { sized } from '../../size.ts'
import { at, createEndpoints, type Endpoints, LEFT, ROLLUP, upgrade, word } from '../endpoints.ts'
import { CHAIN_ID, type FullAccount, type FullState } from '../full-state.ts'

/** Blocks whose hash L1 holds: their state is one of Ethereum. */

const [PERSON, CONTRACT, BARE, ABSENT] = [at('a1'), at('c0'), at('c1'), at('ee')]
const CODE: Hex = '0x6001600101'
const STATE: FullState = new Map<Hex, FullAccount>([
  [PERSON, { nonce: 1n, balance: 2n }],
  [CONTRACT, { nonce: 1n, code: CODE, storage: { [word(1)]: word(7), [word(2)]: word(1n << 255n) } }],
  [BARE, { nonce: 3n, storage: { [word(1)]: word(0xff) } }],
])

function viewsOver({ l1, l2, l1BlockHash }: Endpoints, more: object = {}, scheme: object | 'ethereum' = poseidon2) {
  const rollup = readRollup(ROLLUP)
  return createViews({
    ...{ l1: openEndpoints('l1', l1, 'L1'), l2: openEndpoints('l2', l2, 'L2'), l1BlockHash, rollup, signal: undefined },
    ...{ scheme: scheme as never, method: 'rollup_getProof', maxKeysPerRequest: 2 },
    known: createKnownState(),
    ...more,
  })
}

function setUp(state = STATE) {
  const endpoints = createEndpoints(state, true)
  upgrade(endpoints)
  return { ...endpoints, views: viewsOver(endpoints), header: Object(endpoints.chain.getBlock(1n)) }
}

it('takes the state root and the time from the header that L1 holds the hash of', async () => {
  const { views, header, asked } = setUp()
  const held = await views.find(null)
  expect(held).toMatchObject({
    ...{ l2BlockNumber: 1n, stateRoot: header.stateRoot, timestamp: BigInt(header.timestamp) },
    header: { hash: header.hash, number: 1n, baseFeePerGas: 7n },
  })
  expect([held.state.scheme, newestIn(held)]).toEqual(['ethereum', 1n])
  expect(asked).toEqual(['eth_getBlockByNumber', 'eth_getProof'])
  expect(await views.find(held)).toBe(held)
})

it('reads accounts, slots and code, many slots at once in portions', async () => {
  const { views, asked } = setUp()
  const { state } = await views.find(null)
  asked.length = 0
  await state.load(CONTRACT, [1, 2, 3, 4, 5].map(word))
  expect(asked).toEqual(['eth_getProof', 'eth_getProof', 'eth_getProof'])
  expect([state.holds(CONTRACT, word(5)), state.holds(CONTRACT, word(6)), state.holds(CONTRACT, 'code')]).toEqual([
    ...[true, false, false],
  ])
  const slots = await Promise.all([1, 2, 3].map(slot => state.getStorage(CONTRACT, word(slot))))
  expect(slots).toEqual([word(7), word(1n << 255n), word(0)])
  expect(await state.getCode(CONTRACT)).toEqual(Uint8Array.of(0x60, 1, 0x60, 1, 1))
  expect(await state.getAccount(BARE)).toMatchObject({ nonce: 3n, balance: 0n, hasStorage: true })
  expect(await state.getCode(BARE)).toEqual(new Uint8Array(0))
  expect(await state.getStorage(BARE, word(1))).toBe(word(0xff))
  expect(await state.getAccount(PERSON)).toMatchObject({ nonce: 1n, balance: 2n, hasStorage: false })
  expect([await state.getAccount(ABSENT), await state.getStorage(ABSENT, word(1))]).toEqual([null, word(0)])
})

const anAccount = fc.record({
  nonce: fc.bigInt(0n, 300n),
  balance: fc.bigInt(0n, 1n << 128n),
  code: fc.constantFrom<Hex>('0x', CODE, '0x00'),
  storage: fc.dictionary(fc.integer({ min: 0, max: 40 }).map(word), fc.bigInt(1n, (1n << 256n) - 1n).map(word), {
    maxKeys: 6,
  }),
})
const aState = fc.array(fc.tuple(fc.integer({ min: 1, max: 200 }), anAccount), { minLength: 1, maxLength: 12 })

it('reads what was written, whatever that was', async () => {
  let slots = 0
  await fc.assert(
    fc.asyncProperty(aState, async drawn => {
      const state = new Map<Hex, FullAccount>(drawn.map(([last, account]) => [at(`${word(last).slice(-2)}`), account]))
      const { state: proven } = await setUp(state).views.find(null)
      for (const [address, { nonce = 0n, balance = 0n, code = '0x', storage = {} }] of state) {
        const keys = [...Object.keys(storage), word(41)] as Hex[]
        const values = await Promise.all(keys.map(key => proven.getStorage(address, key)))
        expect(values).toEqual(keys.map(key => storage[key] ?? word(0)))
        const account = await proven.getAccount(address)
        // An account of which nothing was written is none.
        if (account !== null || nonce > 0n || balance > 0n || code !== '0x' || keys.length > 1) {
          expect(account).toMatchObject({ nonce, balance, hasStorage: keys.length > 1 })
        }
        expect(`0x${Buffer.from(await proven.getCode(address)).toString('hex')}`).toBe(code)
        slots += keys.length
      }
      expect(await proven.getAccount(ABSENT)).toBeNull()
    }),
    { seed: 11, numRuns: sized(6) },
  )
  expect(slots).toBeGreaterThan(40)
})

it('refuses a state whose trie no node could have made', async () => {
  const key = word(1)
  const value = (bytes: string) => Uint8Array.from(Buffer.from(bytes, 'hex'))
  // A value with a leading zero, zero itself, a list, and one of 33 bytes.
  for (const bytes of ['820007', '00', '80', 'c107', `a1${'11'.repeat(33)}`]) {
    const { stateRoot, proof } = loneStorage(CONTRACT, 1n, loneLeaf(value(key.slice(2)), value(bytes)))
    const l2 = openEndpoints('l2', { request: async () => proof }, 'L2')
    const how = { l2, block: 1n, stateRoot, method: 'rollup_getProof', maxKeysPerRequest: 2, known: createKnownState() }
    const state = createProvenState({ ...how, scheme: 'ethereum', verify: createStateVerifier('ethereum') })
    await expect(state.getStorage(CONTRACT, key), bytes).rejects.toMatchObject({ path: 'answer.storageProof[0].proof' })
  }
})

it('crosses the upgrade: what is held stays, what follows is Ethereum', async () => {
  const endpoints = createEndpoints(STATE, true)
  const { chain, asked } = endpoints
  const views = viewsOver(endpoints)
  const before = await views.find(null)
  expect([before.state.scheme, before.header, before.timestamp]).toEqual([
    ...[poseidon2, undefined, chain.timestamp(0n)],
  ])
  chain.upgrade()
  // L1 has other code, and nothing else: the view is proven again, from the new L1 block.
  const upgraded = await views.find(before)
  expect([upgraded.state, upgraded.l2BlockNumber, upgraded.l1Block.number]).toEqual([
    ...[before.state, 0n, chain.l1.blockNumber()],
  ])
  upgrade(endpoints)
  asked.length = 0
  const after = await views.find(upgraded)
  expect([after.l2BlockNumber, after.state.scheme]).toEqual([1n, 'ethereum'])
  expect(asked).toEqual(['eth_getBlockByNumber', 'eth_getProof'])
  // Both kinds are found by number, each as L1 holds it.
  const [old, same] = [await views.findAt(after, 0n), await views.findAt(after, 1n)]
  expect([old.state.scheme, same.state.scheme, same.header?.hash]).toEqual([
    ...[poseidon2, 'ethereum', after.header?.hash],
  ])
  for (const { state } of [before, after, old, same]) {
    expect(await state.getAccount(CONTRACT)).toEqual(await before.state.getAccount(CONTRACT))
    expect(await state.getStorage(CONTRACT, word(2))).toBe(word(1n << 255n))
  }
  // A later view has a header, too, and nobody is asked for its time.
  let logs = 0
  endpoints.lie.l1 = (method, answer) => {
    if (method === 'eth_getLogs') logs++
    return answer
  }
  upgrade(endpoints)
  expect([(await views.find(after)).l2BlockNumber, logs]).toEqual([2n, 0])
})

it('answers from an earlier block if no endpoint has the header or the state of the newest', async () => {
  for (const withheld of ['eth_getBlockByNumber', 'eth_getProof']) {
    const { views, lie, ...endpoints } = setUp()
    upgrade(endpoints)
    lie.l2 = (method, answer, params) => {
      if (method !== withheld || !params.includes('0x2')) return answer
      if (method === 'eth_getBlockByNumber') return null
      throw Object.assign(new Error('missing trie node'), { code: -32000 })
    }
    expect((await views.find(null)).l2BlockNumber, withheld).toBe(1n)
  }
  // The block before has a root, which is proven as ever.
  const { views, lie } = setUp()
  lie.l2 = (method, answer) => (method === 'eth_getBlockByNumber' ? null : answer)
  expect(await views.find(null)).toMatchObject({ l2BlockNumber: 0n, header: undefined })
})

it('refuses a block whose hash on L1 has changed, and a root in the place of a hash', async () => {
  const [one, other] = [setUp(), setUp(new Map([[PERSON, { balance: 9n }]]))]
  const held = await one.views.find(null)
  other.chain.l1.addBlock()
  const error = await other.views.find(held).catch(thrown => thrown)
  expect(error).toMatchObject({ code: 'L1_DISAGREEMENT', layer: 'L1' })
  expect(error.message).toContain(`L2 block 1 had the hash ${one.header.hash}, and has the hash ${other.header.hash}`)
  const roots = createEndpoints(STATE)
  roots.chain.addBlock()
  roots.chain.finalize()
  for (let block = 0; block < 3; block++) roots.chain.l1.addBlock()
  await expect(viewsOver(roots).find(held)).rejects.toMatchObject({ code: 'L1_DISAGREEMENT' })
})

it('believes no root if the scheme is that of Ethereum', async () => {
  const endpoints = createEndpoints(STATE)
  const views = viewsOver(endpoints, {}, 'ethereum')
  await expect(views.find(null)).rejects.toMatchObject({ code: 'ANCHOR_NO_ROOT' })
  upgrade(endpoints)
  const held = await views.find(null)
  expect(held.l2BlockNumber).toBe(1n)
  await expect(views.findAt(held, 0n)).rejects.toMatchObject({
    reason: 'BLOCK_UNPROVEN',
    cause: { code: 'ANCHOR_NO_ROOT' },
  })
})

const RETURN = '5f5260205ff3'

/** Records a call of this code, on a chain whose blocks are from the upgrade on 1, 2, 3. */
async function record(code: string, options: object = {}) {
  const state = new Map<Hex, FullAccount>([...STATE, [CONTRACT, { nonce: 1n, code: `0x${code}${RETURN}` }]])
  const endpoints = createEndpoints(new Map([...state, [historyContract, { nonce: 1n }]]))
  for (const _ of [1, 2, 3]) upgrade(endpoints)
  const about = { rollup: ROLLUP, chainId: CHAIN_ID }
  const { l1, l2, chain } = endpoints
  // What the caller expects of state roots has no say in it.
  const call = { from: PERSON, to: CONTRACT }
  const recorded = await recordCall(withNetwork({ l1, l2, scheme: poseidon2, ...about, call, ...options }))
  if (recorded.scheme !== 'ethereum') throw new Error('a root in place of a hash')
  const { bundle, verified } = recorded
  const trusted = { l1BlockHash: verified.l1Block.hash }
  const claim = { scheme: 'ethereum', ...about, trusted, l2BlockNumber: 3n, hardfork: 'prague', call: LEFT } as const
  return { bundle: JSON.parse(JSON.stringify(bundle)) as typeof bundle, verified, claim, chain }
}

it('records calls, whose block values the header proves', async () => {
  // The sum of the time, the gas limit, the hashes of the blocks 2 and 1, and the stated fee for blobs.
  const environment = { gasLimit: 99n, blobBaseFee: 5n }
  const { bundle, verified, claim, chain } = await record('4245016002400160014001' + '4a01', { environment })
  const header = (block: bigint) => Object(chain.getBlock(block))
  const sum =
    BigInt(header(3n).timestamp) + BigInt(header(3n).gasLimit) + BigInt(header(2n).hash) + BigInt(header(1n).hash) + 5n
  expect(verified).toMatchObject({ returnData: word(sum % (1n << 256n)), environment: { blobBaseFee: 5n } })
  expect(verified.l2Block).toMatchObject({ hash: header(3n).hash, number: 3n })
  expect(verified.finalizedTimestamp).toBe(BigInt(header(3n).timestamp))
  expect(bundle).toMatchObject({ version: 1, kind: 'call', scheme: 'ethereum', environment: { blobBaseFee: '0x5' } })
  // The hashes of blocks are in the state.
  expect(bundle.answers.map(({ address, storageKeys }) => [address, storageKeys.length])).toEqual([
    ...[
      [PERSON, 0],
      [CONTRACT, 0],
      [historyContract, 2],
    ],
  ])
  expect(await verifyCallEvidence(bundle, claim)).toEqual(verified)
  const refusal = (change: object, more: object = {}) =>
    verifyCallEvidence({ ...bundle, ...change }, { ...claim, ...more }).catch(error => `${error.code} ${error.path}`)
  const stated = (values: object) => refusal({ environment: { ...bundle.environment, ...values } })
  expect(await stated({ baseFee: '0x7' })).toBe('CALL_STATE_UNUSED environment.baseFee')
  expect(await refusal({ l2Header: undefined })).toBe('EVIDENCE_L2_MISSING l2Header')
  expect(await refusal({ l2Header: bundle.l2Header?.replace(/.$/, last => (last === '1' ? '2' : '1')) })).toBe(
    'HEADER_HASH_MISMATCH l2Header',
  )
  expect(await refusal({ version: 2 })).toBe('EVIDENCE_VERSION version')
  expect(await refusal({}, { scheme: poseidon2 })).toBe('EVIDENCE_SCHEME_MISMATCH scheme')
  const [first, ...others] = bundle.answers
  const older = Object(first?.answer)
  expect(
    await refusal({
      answers: [{ ...first, answer: { ...older, accountProof: older.accountProof.slice(1) } }, ...others],
    }),
  ).toMatch(/^MPT_\w+ answers\[0\]\.answer\.accountProof/)
  // From a state root, nothing of the block is proven, and the header is not read.
  const fromRoot = { trusted: { l2StateRoot: verified.stateRoot } }
  expect(await refusal({ l2Header: 7 }, fromRoot)).toBe('CALL_STATE_MISSING environment')
})

it('records what a call reads by the proven values, not by those that are stated beside them', async () => {
  // The balance of the account that the gas limit names.
  const environment = { gasLimit: 99n }
  const { bundle, verified, chain } = await record('4531', { environment })
  const limit: Hex = `0x${word(BigInt(Object(chain.getBlock(3n)).gasLimit)).slice(-40)}`
  expect(bundle.answers.map(({ address }) => address)).toEqual([PERSON, CONTRACT, limit])
  expect([verified.outcome, verified.environment]).toEqual(['returned', {}])
})

it('records a call of a state that is claimed to be that of Ethereum, and refuses a root', async () => {
  const { verified, bundle, claim } = await record(`6001545f5260205ff3`, { scheme: 'ethereum' })
  expect([verified.outcome, bundle.environment]).toEqual(['returned', {}])
  const root = { trusted: { l2StateRoot: verified.stateRoot } }
  const { l1Block, l2Block } = await verifyCallEvidence({ ...bundle, l1: undefined }, { ...claim, ...root })
  expect([l1Block, l2Block]).toEqual([undefined, undefined])
  const { l1, l2 } = createEndpoints(STATE)
  const call = { to: CONTRACT }
  const early = recordCall(withNetwork({ l1, l2, scheme: 'ethereum', rollup: ROLLUP, chainId: CHAIN_ID, call }))
  await expect(early).rejects.toMatchObject({ code: 'ANCHOR_NO_ROOT' })
})
