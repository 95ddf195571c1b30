import { expect, it } from 'vitest'
import { type EvidenceClaim, type Trusted, verifyEvidence } from '../../../src/entry/anchor.ts'
import { type Hex, safely } from '../../../src/entry/index.ts'
import { mimc } from '../../../src/entry/mimc.ts'
import { refusal, verdict } from '../../refusal.ts'
import { find } from './bundles.ts'

const { bundle, claim } = find('block-hash')
const changed = (change: object) => () => verifyEvidence(bundle, { ...claim, ...change } as EvidenceClaim)
const changedBundle = (change: object) => () => verifyEvidence({ ...bundle, ...change }, claim)

it('says what it expects and what the bundle is for', () => {
  const { request } = bundle
  const { storageKeys } = request
  expect(storageKeys.length).toBeGreaterThan(1)
  const [zeroAddress, zero] = [`0x${'00'.repeat(20)}`, `0x${'00'.repeat(32)}`] as const
  const { name, address } = bundle.rollup
  const block = BigInt(String(bundle.l2BlockNumber))
  const cases: [object, code: string, path: string, expected: string, found: string][] = [
    [{ scheme: mimc }, 'EVIDENCE_SCHEME_MISMATCH', 'scheme', 'mimc', 'poseidon2'],
    [{ rollup: { address: zeroAddress } }, 'EVIDENCE_ROLLUP_MISMATCH', 'rollup', zeroAddress, address],
    [{ rollup: { address, name: 'x\n' } }, 'EVIDENCE_ROLLUP_MISMATCH', 'rollup', '"x?"', `"${name}"`],
    [{ l2BlockNumber: block + 1n }, 'EVIDENCE_BLOCK_MISMATCH', 'l2BlockNumber', `${block + 1n}`, `${block}`],
    [{ address: zeroAddress }, 'EVIDENCE_ADDRESS_MISMATCH', 'request.address', zeroAddress, request.address],
    [
      ...[{ storageKeys: [] }, 'EVIDENCE_KEYS_MISMATCH', 'request.storageKeys', '0 keys', `${storageKeys.length} keys`],
    ] as never,
    [
      { storageKeys: storageKeys.with(1, zero) },
      ...['EVIDENCE_KEYS_MISMATCH', 'request.storageKeys', zero, storageKeys[1]],
    ] as never,
  ]
  for (const [change, code, path, expected, found] of cases) {
    expect(refusal(changed(change)), path).toMatchObject({ code, path, expected, found })
  }
  expect(cases.length).toBe(7)
})

it('compares names only if both sides have one', () => {
  const { address } = bundle.rollup
  expect(verdict(changed({ rollup: { address } }))).toBe('accepted')
  expect(verdict(changedBundle({ rollup: { address } }))).toBe('accepted')
  expect(refusal(changed({ rollup: { address, name: 7 } }))).toMatchObject({
    code: 'ARGUMENT_INVALID',
    path: 'rollup.name',
    expected: 'a string that is not empty',
    found: 'the number 7',
  })
})

it('takes exactly one trusted input, of its own properties', () => {
  const hash = Reflect.get(claim.trusted, 'l1BlockHash')
  const trusting = (trusted: unknown) => changed({ trusted })
  const expected = 'exactly one of beaconBlockRoot, l1BlockHash, l1StateRoot, l2StateRoot'
  const unreadable = Object.defineProperty({}, 'l1BlockHash', {
    enumerable: true,
    get() {
      throw new Error('a trap')
    },
  })
  for (const trusted of [{}, { l1BlockHash: hash, l2StateRoot: hash }]) {
    expect(refusal(trusting(trusted))).toMatchObject({ code: 'ARGUMENT_INVALID', path: 'trusted', expected })
  }
  expect(verdict(trusting(Object.create({ l1BlockHash: hash })))).toBe('ARGUMENT_INVALID at trusted')
  expect(verdict(trusting(unreadable))).toBe('ARGUMENT_INVALID at trusted')
  for (const trusted of [undefined, null, 7, 'l1BlockHash']) {
    const error = { code: 'ARGUMENT_INVALID', path: 'trusted', expected: 'an object' }
    expect(refusal(trusting(trusted))).toMatchObject(error)
  }
  // Whoever looked one of them up in vain meant both, or the other.
  expect(verdict(trusting({ l1BlockHash: hash, l2StateRoot: undefined }))).toBe('ARGUMENT_INVALID at trusted')
  for (const name of ['beaconBlockRoot', 'l1BlockHash', 'l1StateRoot', 'l2StateRoot']) {
    expect(verdict(trusting({ [name]: '0x12' }))).toBe(`ARGUMENT_INVALID at trusted.${name}`)
  }
  const beacon = { beaconBlockRoot: hash, network: 'mainnet', verifyConsensus: () => ({}) }
  for (const change of [
    { network: undefined },
    { network: 7 },
    { verifyConsensus: undefined },
    { verifyConsensus: 7 },
  ]) {
    expect(refusal(trusting({ ...beacon, ...change }))).toMatchObject({
      code: 'ARGUMENT_INVALID',
      path: 'trusted',
      expected: 'what trustBeaconBlock of rollup-state-proof/beacon returns',
    })
  }
})

it('reports which part of the bundle is malformed or missing', () => {
  const l1 = { ...bundle.l1 }
  const finalizedState = { messageNumber: '0x1', timestamp: '0x1' }
  const cases: [object, verdict: string][] = [
    [{ version: undefined }, 'EVIDENCE_MALFORMED at version'],
    [{ version: '1' }, 'EVIDENCE_VERSION at version'],
    [{ kind: undefined }, 'EVIDENCE_MALFORMED at kind'],
    [{ kind: 'call' }, 'EVIDENCE_MALFORMED at kind'],
    [{ scheme: 'keccak' }, 'EVIDENCE_MALFORMED at scheme'],
    [{ scheme: 7 }, 'EVIDENCE_MALFORMED at scheme'],
    [{ rollup: {} }, 'EVIDENCE_MALFORMED at rollup.address'],
    [{ rollup: { ...bundle.rollup, name: 7 } }, 'EVIDENCE_MALFORMED at rollup.name'],
    [{ request: { storageKeys: [] } }, 'EVIDENCE_MALFORMED at request.address'],
    [{ request: { ...bundle.request, storageKeys: ['0x'] } }, 'WRONG_LENGTH at request.storageKeys[0]'],
    [{ l1: 'L1' }, 'EVIDENCE_MALFORMED at l1'],
    [{ l1: undefined }, 'EVIDENCE_L1_MISSING at l1.header'],
    [{ l1: { proof: l1.proof } }, 'EVIDENCE_L1_MISSING at l1.header'],
    [{ l1: { header: l1.header } }, 'EVIDENCE_L1_MISSING at l1.proof'],
    [{ l1: { ...l1, header: 7 } }, 'HEADER_MALFORMED at l1.header'],
    [{ l1: { ...l1, finalizedState: {} } }, 'EVIDENCE_MALFORMED at l1.finalizedState.messageNumber'],
    [{ l1: { ...l1, finalizedState } }, 'L1_STORAGE_PROOF_COUNT at l1.proof.storageProof'],
    [{ answer: undefined }, 'MALFORMED_RESPONSE at answer'],
  ]
  for (const [change, expected] of cases) expect(verdict(changedBundle(change)), expected).toBe(expected)
  expect(cases.length).toBe(18)
  const { bundle: rooted, claim: rootClaim } = find('state-root')
  const { l1: _, ...alone } = rooted
  expect(verdict(() => verifyEvidence(alone, rootClaim))).toBe('EVIDENCE_L1_MISSING at l1.proof')
  const details: [object, object][] = [
    [{ version: undefined }, { expected: 'a version', found: 'none' }],
    [{ version: 3 }, { expected: '1' }],
    [{ kind: 'call' }, { expected: 'state', found: '"call"' }],
    [{ kind: undefined }, { expected: 'a string', found: 'nothing' }],
    [{ scheme: 'keccak\n' }, { expected: 'mimc or poseidon2 or ethereum', found: '"keccak?"' }],
  ]
  for (const [change, error] of details) expect(refusal(changedBundle(change))).toMatchObject(error)
  for (const quantity of ['0x1g', '0x01', '0x', '0xA', '0X1', '1', '', ' 0x1', `0x1${'0'.repeat(16)}`]) {
    expect(refusal(changedBundle({ l2BlockNumber: quantity })), quantity).toMatchObject({
      code: 'EVIDENCE_MALFORMED',
      path: 'l2BlockNumber',
      expected: 'a quantity of at most 8 bytes without leading zeros',
      found: `"${quantity}"`,
    })
  }
})

it('says which finalized state the contract keeps, and which one the bundle states', () => {
  const { bundle, claim } = find('timestamp')
  const { proof, finalizedState } = bundle.l1 ?? {}
  const altered = { ...bundle.l1, finalizedState: { ...finalizedState, timestamp: '0x1' } }
  const { storageProof } = proof as { storageProof: { value: string }[] }
  const error = refusal(() => verifyEvidence({ ...bundle, l1: altered }, claim))
  expect(error).toMatchObject({
    code: 'ANCHOR_FINALIZED_STATE_MISMATCH',
    path: 'l1.proof.storageProof[2]',
    expected: storageProof[2]?.value,
    found: expect.stringMatching(/^0x[0-9a-f]{64}$/),
  })
  expect(error.found).not.toBe(error.expected)
})

it('bounds the number of keys', () => {
  const keysOf = (count: number) =>
    changedBundle({ request: { address: `0x${'00'.repeat(20)}`, storageKeys: Array(count) } })
  expect(refusal(keysOf(65_537))).toMatchObject({
    code: 'EVIDENCE_MALFORMED',
    path: 'request.storageKeys',
    expected: 'at most 65536 keys',
    found: '65537',
  })
  expect(verdict(keysOf(65_536))).toBe('EVIDENCE_MALFORMED at request.storageKeys[0]')
})

it('reads nothing of L1 if the L2 state root is trusted', () => {
  const { bundle, claim } = find('l2-root')
  const unread = { consensus: 7, l1: { header: 7, proof: 7, finalizedState: 7 } }
  const unstated = { ...claim, l2BlockNumber: 'fromBundle' } as const
  expect(verifyEvidence({ ...bundle, ...unread }, claim)).toEqual(verifyEvidence(bundle, claim))
  expect(verifyEvidence(bundle, unstated).l2BlockNumber).toBe(undefined)
})

it('requires the consensus part of the same network, and copies what is proven field by field', () => {
  const { bundle, claim } = find('beacon-block-root')
  const consensus = { ...bundle.consensus }
  const verdictOf = (change: unknown) => refusal(() => verifyEvidence({ ...bundle, consensus: change }, claim))
  expect(verdictOf(undefined)).toMatchObject({
    code: 'EVIDENCE_CONSENSUS_MISSING',
    path: 'consensus',
    found: 'nothing',
  })
  expect(verdictOf({ ...consensus, network: 'no\tnet' })).toMatchObject({
    code: 'EVIDENCE_NETWORK_MISMATCH',
    path: 'consensus.network',
    found: '"no?net"',
  })
  const honest = verifyEvidence(bundle, claim)
  if (honest.trustedInput !== 'beaconBlockRoot') throw new Error('not from a beacon block')
  const { network: _, ...nameless } = consensus
  expect(verifyEvidence({ ...bundle, consensus: nameless }, claim)).toEqual(honest)
  const { trusted } = claim
  if (!('verifyConsensus' in trusted)) throw new Error('not a beacon block')
  const talkative: Trusted = {
    ...trusted,
    verifyConsensus: (...args) => ({ ...trusted.verifyConsensus(...args), trusted: 'forged' }),
  }
  expect(verifyEvidence(bundle, { ...claim, trusted: talkative })).toEqual(honest)
  const forged = `0x${'00'.repeat(32)}` as const
  const lying: Trusted = {
    ...trusted,
    verifyConsensus: (...args) => ({ ...trusted.verifyConsensus(...args), l1BlockHash: forged }),
  }
  expect(refusal(() => verifyEvidence(bundle, { ...claim, trusted: lying }))).toMatchObject({
    code: 'EVIDENCE_L1_BLOCK_MISMATCH',
    path: 'l1.header',
    expected: forged,
    found: honest.l1Block.hash,
  })
  const silent = { ...trusted, verifyConsensus: () => ({}) } as unknown as Trusted
  expect(verdict(() => verifyEvidence(bundle, { ...claim, trusted: silent }))).toBe(
    'ARGUMENT_INVALID at trusted.verifyConsensus().l1BlockHash',
  )
  // A copy that states another root is no claim on the block that it was made for.
  expect(verdict(() => verifyEvidence(bundle, { ...claim, trusted: { ...trusted, beaconBlockRoot: forged } }))).toBe(
    'BEACON_ROOT_MISMATCH at consensus.bootstrap.data',
  )
  // Other faults of the header keep their codes.
  expect(verdict(() => verifyEvidence({ ...bundle, l1: { ...bundle.l1, header: '0x0' } }, claim))).toBe(
    'BAD_HEX at l1.header',
  )
})

it('returns what it verified or the error, and rethrows what is not its own', () => {
  expect(safely(() => verifyEvidence(bundle, claim))).toEqual({ ok: true, value: verifyEvidence(bundle, claim) })
  const outcome = safely(() => verifyEvidence({}, claim))
  expect(outcome.ok || outcome.error.code).toBe('EVIDENCE_MALFORMED')
  const { bundle: other, claim: otherClaim } = find('beacon-block-root')
  const broken = {
    ...otherClaim.trusted,
    verifyConsensus: () => {
      throw new TypeError('broken')
    },
  } as unknown as Trusted
  expect(() => safely(() => verifyEvidence(other, { ...otherClaim, trusted: broken }))).toThrow(TypeError)
})

it('refuses fields that it does not know, and says which one is missing', () => {
  const { trusted, rollup } = claim
  const hash = Reflect.get(trusted, 'l1BlockHash')
  const wrong: [change: object, path: string][] = [
    // Without this, a bundle of any account would pass for one of the account that the caller means.
    [{ address: 'fromBundle', adress: `0x${'00'.repeat(20)}` }, 'adress'],
    [{ storagekeys: [] }, 'storagekeys'],
    [{ stateRoot: hash }, 'stateRoot'],
    [{ rollup: { ...rollup, adress: rollup.address } }, 'rollup.adress'],
    [{ rollup: { ...rollup, layout: { stateRootHashes: 1n } } }, 'rollup.layout.currentL2BlockNumber'],
    [{ trusted: { l1Blockhash: hash } }, 'trusted.l1Blockhash'],
    [{ trusted: { ...trusted, network: 'mainnet' } }, 'trusted.network'],
    [{ trusted: { ...trusted, lightClient: {} } }, 'trusted.lightClient'],
    ...['scheme', 'rollup', 'trusted', 'l2BlockNumber', 'address', 'storageKeys'].flatMap(
      (name): [object, string][] => [
        [{ [name]: undefined }, name],
        [{ [name]: null }, name],
      ],
    ),
    [{ scheme: 'fromBundle' }, 'scheme'],
    [{ rollup: 'fromBundle' }, 'rollup'],
    [{ trusted: 'fromBundle' }, 'trusted'],
    [{ l2BlockNumber: 'frombundle' }, 'l2BlockNumber'],
    [{ address: 'bundle' }, 'address'],
    [{ storageKeys: 'from the bundle' }, 'storageKeys'],
    [{ storageKeys: ['fromBundle'] }, 'storageKeys[0]'],
  ]
  for (const [change, path] of wrong) expect(verdict(changed(change)), path).toBe(`ARGUMENT_INVALID at ${path}`)
  expect(wrong.length).toBe(27)
  for (const name of ['l2BlockNumber', 'address', 'storageKeys']) {
    const error = { expected: "a value, or 'fromBundle'", found: 'nothing' }
    expect(refusal(changed({ [name]: undefined }))).toMatchObject(error)
    expect(verdict(changed({ [name]: 'fromBundle' }))).toBe('accepted')
  }
})

it('returns the keys as the caller wrote them, or those of the bundle', () => {
  const upper = bundle.request.storageKeys.map((key): Hex => `0x${key.slice(2).toUpperCase()}`)
  const keysOf = (storageKeys: readonly Hex[] | 'fromBundle') =>
    verifyEvidence(bundle, { ...claim, storageKeys }).storage.map(({ key }) => key)
  expect(keysOf(upper)).toEqual(upper)
  expect(keysOf('fromBundle')).toEqual(bundle.request.storageKeys)
  expect(upper.length).toBe(2)
})
