import { expect, it, onTestFinished } from 'vitest'
import { createService, demoWorld } from '../../../src/devnet/index.ts'
import { trustBeaconBlock } from '../../../src/entry/beacon.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { type CallBundle, type CallClaim, recordCall, verifyCallEvidence } from '../../../src/entry/provider.ts'
import { createBeaconApi, createHttpProvider } from '../../../src/entry/rpc.ts'
import { encodeHeader } from '../../../src/verify/anchor/header.ts'
import { withNetwork } from '../../network.ts'
import { at, dataOf, LEFT, ROLLUP, word } from '../endpoints.ts'
import { CHAIN_ID } from '../full-state.ts'

const TOKEN = at('70')
/** No deadline: a busy machine needs many times as long. */
const UNHURRIED = { timeoutMs: 86_400_000 }
/** `decimals()`, which returns 18 in the demo world. */
const DECIMALS = '0x313ce567' as const

it('proves a call from a trusted beacon block', async () => {
  const service = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP })
  for (let count = 0; count < 3; count++) service.chain.l1.addBlock()
  const { url, l1Url, beaconUrl } = await service.listen()
  onTestFinished(() => service.close({ graceMs: 0 }))
  const { network } = service.beacon
  const trusted = trustBeaconBlock({ network, blockRoot: (await service.beacon.blockRoot(1n)) ?? '0x' })
  const [l1, l2] = [createHttpProvider(l1Url), createHttpProvider(url)]
  const about = { scheme: poseidon2, rollup: ROLLUP, chainId: CHAIN_ID }
  const options = { l1, l2, ...about, call: { to: TOKEN, data: DECIMALS }, ...UNHURRIED }
  const { bundle, verified: evidence } = await recordCall(
    withNetwork({
      ...options,
      beacon: { apis: [createBeaconApi(beaconUrl)], trusted, maxTrustedAgeSeconds: Number.POSITIVE_INFINITY },
    }),
  )
  const head = Reflect.get(service.chain.l1.getBlock(3n) ?? {}, 'hash')
  expect([evidence.trustedInput, evidence.l1Block.hash]).toEqual(['beaconBlockRoot', head])

  const written: CallBundle = JSON.parse(JSON.stringify(bundle))
  const known = { ...about, l2BlockNumber: 'fromBundle', hardfork: 'prague', call: LEFT } as const
  const claim: CallClaim = { ...known, trusted }
  const verified = await verifyCallEvidence(written, claim, UNHURRIED)
  expect(verified).toEqual(evidence)
  expect(verified).toMatchObject({ returnData: word(18), beaconBlock: { trustedBlockRoot: trusted.beaconBlockRoot } })
  // It also verifies from its L1 block hash alone, and then claims no more than that.
  const lower = await verifyCallEvidence(
    written,
    { ...known, trusted: { l1BlockHash: evidence.l1Block.hash } },
    UNHURRIED,
  )
  expect([lower.trustedInput, Object.hasOwn(lower, 'beaconBlock'), dataOf(lower)]).toEqual([
    'l1BlockHash',
    false,
    word(18),
  ])

  const { consensus, ...withoutConsensus } = written
  const { finality, ...unfinished } = consensus as { finality: { data: { sync_aggregate: object } } }
  const { data } = finality
  const aggregate = { ...data.sync_aggregate, sync_committee_bits: `0x${'00'.repeat(64)}` }
  const unsigned = { ...finality, data: { ...data, sync_aggregate: aggregate } }
  const { chain } = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP })
  for (let count = 0; count < 4; count++) chain.l1.addBlock()
  const otherHeader = encodeHeader(chain.l1.getBlock(4n))
  const wrong: [unknown, CallClaim['trusted'], string][] = [
    [withoutConsensus, trusted, 'EVIDENCE_CONSENSUS_MISSING'],
    [{ ...written, consensus: 7 }, trusted, 'EVIDENCE_MALFORMED'],
    [{ ...written, consensus: unfinished }, trusted, 'BEACON_FINALITY_MISSING'],
    [{ ...written, consensus: { ...Object(consensus), finality: unsigned } }, trusted, 'BEACON_TOO_FEW_SIGNERS'],
    [{ ...written, consensus: { ...Object(consensus), network: 'mainnet' } }, trusted, 'EVIDENCE_NETWORK_MISMATCH'],
    [written, trustBeaconBlock({ network, blockRoot: word(1) }), 'BEACON_ROOT_MISMATCH'],
    // An L1 block other than the finalized one.
    [{ ...written, l1: { ...Object(written.l1), header: otherHeader } }, trusted, 'EVIDENCE_L1_BLOCK_MISMATCH'],
  ]
  for (const [changed, stated, code] of wrong) {
    await expect(verifyCallEvidence(changed, { ...claim, trusted: stated }, UNHURRIED), code).rejects.toMatchObject({
      code,
    })
  }
  expect(wrong.length).toBe(7)
  // The signatures are verified with pauses. A function of the caller that has none is called as it is.
  const { verifyConsensus } = trusted
  const whole = {
    ...trusted,
    verifyConsensus: (...args: Parameters<typeof verifyConsensus>) => verifyConsensus(...args),
  }
  await expect(verifyCallEvidence(written, { ...claim, trusted: whole }, UNHURRIED)).resolves.toEqual(evidence)
  function* endless(): Generator<undefined, never> {
    for (;;) yield
  }
  const slow = { ...trusted, verifyConsensus: Object.assign(whole.verifyConsensus, { inSteps: endless }) }
  const ended = verifyCallEvidence(written, { ...claim, trusted: slow }, { timeoutMs: 50 })
  await expect(ended).rejects.toMatchObject({ reason: 'TIMEOUT' })
  const both = { l1BlockNumber: 1n, beacon: { apis: [createBeaconApi(beaconUrl)], trusted } }
  await expect(recordCall(withNetwork({ ...options, ...both }))).rejects.toMatchObject({ path: 'l1BlockNumber' })
  const misspelt = { beacon: { ...both.beacon, api: [] } }
  await expect(recordCall(withNetwork({ ...options, ...misspelt }))).rejects.toMatchObject({ path: 'beacon.api' })
  // The compiler knows what is proven from what is trusted.
  const fromBlock = await verifyCallEvidence(written, { ...known, trusted }, UNHURRIED)
  expect(fromBlock.beaconBlock.trustedBlockRoot).toBe(trusted.beaconBlockRoot)
})
