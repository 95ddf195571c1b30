import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { uncompress } from 'snappyjs'
import { expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { bytesToHex } from '../../../src/base/bytes.ts'
import {
  type BeaconNetwork,
  type Committee,
  type VerifiedUpdate,
  verifyBootstrap,
  verifyConsensus,
  verifyFinality,
  verifyUnfinalized,
  verifyUpdate,
} from '../../../src/entry/beacon.ts'
import type { BeaconPreset } from '../../../src/verify/beacon/clock.ts'
import { decodeSignedHeader, type Header } from '../../../src/verify/beacon/decode.ts'
import { decodeNetwork } from '../../../src/verify/beacon/network.ts'
import {
  createCommittee,
  createHeader,
  type ForkName,
  type Made,
  network,
  type Signers,
  sign,
} from '../../../vectors/beacon/chain.ts'
import { convertHeader } from '../../../vectors/beacon/converted.ts'
import { ssz } from '../../../vectors/beacon/lodestar.ts'
import { refusal } from '../../refusal.ts'

// Read by the types when they are imported.
vi.hoisted(() => {
  Object.assign(process.env, { LODESTAR_PRESET: 'minimal' })
})

const SPEC = '../shared/vectors/beacon/spec'
const SUITES = (['deneb', 'electra'] as const).flatMap(fork =>
  ['light_client_sync', 'advance_finality_without_sync_committee', 'supply_sync_committee_from_past_update'].map(
    suite => [fork, suite] as const,
  ),
)

const preset: BeaconPreset = { committeeSize: 32, slotsPerEpoch: 8, epochsPerPeriod: 8, secondsPerSlot: 6 }

interface LightHeader {
  readonly beacon: { readonly slot: string }
}
interface UpdateData {
  readonly signature_slot: string
  readonly sync_aggregate: object
  readonly attested_header: LightHeader
  readonly finalized_header: LightHeader
  readonly next_sync_committee: Signers['keys']
}
interface Check {
  readonly slot: string
  readonly beacon_root: string
  readonly execution_root: string
}
interface Step {
  readonly process_update?: Checked & { readonly update: string }
  readonly force_update?: Checked
}
interface Checked {
  readonly current_slot: string
  readonly checks: { readonly finalized_header: Check; readonly optimistic_header: Check }
}

/** Every scalar stays text. */
const readYaml = (path: string) => parse(readFileSync(path, 'utf8'), { schema: 'failsafe' })

const toCheck = ({ slot, root, execution }: Header): Check => ({
  slot: `${slot}`,
  beacon_root: bytesToHex(root),
  execution_root: bytesToHex(execution.root),
})

function readSuite(fork: 'deneb' | 'electra', suite: string) {
  const folder = `${SPEC}/${fork}/${suite}`
  const config = readYaml(`${folder}/config.yaml`)
  const meta = readYaml(`${folder}/meta.yaml`)
  const forks = (['capella', 'deneb', 'electra'] as const).map(name => {
    const [version, epoch] = ['VERSION', 'EPOCH'].map(part => config[`${name.toUpperCase()}_FORK_${part}`])
    return { name, version, epoch: epoch === undefined ? undefined : Number(epoch) }
  })
  const network: BeaconNetwork = {
    ...{ name: 'minimal', genesisValidatorsRoot: meta.genesis_validators_root, genesisTime: 0 },
    // Forks that the configuration does not know yet have no version.
    ...{ forks: forks.filter(({ version }) => version !== undefined), preset },
  }
  const read = (name: string, type: 'LightClientBootstrap' | 'LightClientUpdate') => {
    const types = ssz[fork][type]
    const data = types.toJson(types.deserialize(uncompress(readFileSync(`${folder}/${name}.ssz_snappy`))))
    // The fields of an update; a bootstrap has none of them.
    return { version: fork, data: data as unknown as UpdateData }
  }
  return {
    trusted: { network, blockRoot: meta.trusted_block_root },
    bootstrap: read('bootstrap', 'LightClientBootstrap'),
    steps: readYaml(`${folder}/steps.yaml`) as Step[],
    readUpdate: (name: string) => read(name, 'LightClientUpdate'),
  }
}

type Update = ReturnType<ReturnType<typeof readSuite>['readUpdate']>

function refuseLies(update: Update, signing: Committee): void {
  const { data } = update
  const { attested_header: header } = data
  const codeOf = (change: object) =>
    refusal(() => verifyFinality({ ...update, data: { ...data, ...change } }, signing)).code
  const lie = { ...header, beacon: { ...header.beacon, proposer_index: '999' } }
  expect(codeOf({ attested_header: lie })).toBe('BEACON_SIGNATURE_MISMATCH')
  const few = { ...data.sync_aggregate, sync_committee_bits: '0xffff1f00' }
  expect(codeOf({ sync_aggregate: few })).toBe('BEACON_TOO_FEW_SIGNERS')
}

/** What the steps of one suite showed, and what the specification's store does that this client does not. */
function runSuite(fork: 'deneb' | 'electra', suite: string) {
  const { trusted, bootstrap, steps, readUpdate } = readSuite(fork, suite)
  const counts = { updates: 0, finalized: 0, optimistic: 0, forced: 0, finalizedByForce: 0, committeesByForce: 0 }
  const decoded = decodeNetwork(trusted.network)
  const start = verifyBootstrap(bootstrap, trusted)
  const committees = new Map([[start.committee.period, start.committee]])
  /** Committees of updates whose finalized block is in an earlier period: only a forced update adopts them. */
  const unsettled = new Map<number, Committee>()
  const first = { version: fork, data: { attested_header: Reflect.get(bootstrap.data, 'header') } }
  let finalized = checkIn(first.data.attested_header)
  let optimistic = finalized
  let forced: Check | undefined

  function checkIn(header: unknown): Check {
    // The parts that are not read here are those of any update.
    const bits = `0x${'00'.repeat(4)}`
    const aggregate = { sync_committee_bits: bits, sync_committee_signature: `0x${'00'.repeat(96)}` }
    const data = { attested_header: header, sync_aggregate: aggregate, signature_slot: '0' }
    return toCheck(decodeSignedHeader({ data }, decoded).attested)
  }

  function process({ update: name, current_slot }: NonNullable<Step['process_update']>): void {
    const update = readUpdate(name)
    const { data } = update
    const period = Math.floor(Number(data.signature_slot) / 64)
    expect(Number(current_slot)).toBeGreaterThanOrEqual(Number(data.signature_slot))
    const signing = committees.get(period)
    if (signing === undefined) throw new Error(`no committee of period ${period}`)
    const block = verifyUnfinalized(update, signing)
    const attested = checkIn(data.attested_header)
    expect(block).toMatchObject({ blockRoot: attested.beacon_root, slot: BigInt(attested.slot) })
    if (Number(attested.slot) > Number(optimistic.slot)) optimistic = attested

    const [, hasCommittee, isFinal] = /_(s|x)(f|x)$/.exec(name) ?? []
    const settled = hasCommittee === 's' ? takeCommittee(update, signing, isFinal === 'f') : undefined
    if (isFinal === 'x') {
      expect(refusal(() => verifyFinality(update, signing)).code).toBe('BEACON_FINALITY_MISSING')
    } else {
      const header = checkIn(data.finalized_header)
      const proven = settled ?? verifyFinality(update, signing)
      expect(proven).toMatchObject({ blockRoot: header.beacon_root, slot: BigInt(header.slot) })
      if (proven.slot > BigInt(finalized.slot)) finalized = header
    }
    if (counts.updates++ === 0) refuseLies(update, signing)
  }

  function takeCommittee(update: Update, signing: Committee, isFinal: boolean): VerifiedUpdate | undefined {
    const { attested_header, finalized_header, next_sync_committee } = update.data
    const periodIn = ({ beacon }: LightHeader) => Math.floor(Number(beacon.slot) / 64)
    const next = periodIn(attested_header) + 1
    if (isFinal && periodIn(finalized_header) === signing.period) {
      const verified = verifyUpdate(update, signing)
      committees.set(next, verified.committee)
      return verified
    }
    const code = isFinal ? 'BEACON_FINALIZED_PERIOD' : 'BEACON_FINALITY_MISSING'
    expect(refusal(() => verifyUpdate(update, signing)).code).toMatch(new RegExp(`^(${code}|BEACON_ATTESTED_PERIOD)$`))
    const { pubkeys, aggregate_pubkey: aggregatePubkey } = next_sync_committee
    const root = bytesToHex(
      ssz.altair.SyncCommittee.hashTreeRoot(ssz.altair.SyncCommittee.fromJson(next_sync_committee)),
    )
    unsettled.set(next, { network: trusted.network, period: next, root, pubkeys, aggregatePubkey })
    return undefined
  }

  for (const { process_update, force_update } of steps) {
    const step = process_update ?? force_update
    if (step === undefined) throw new Error('no such step')
    if (process_update) process(process_update)
    else {
      // A policy that this client does not have: what is signed counts as final after a time without finality.
      forced = step.checks.finalized_header
      for (const [period, committee] of unsettled) {
        if (committees.has(period)) continue
        committees.set(period, committee)
        counts.committeesByForce++
      }
      counts.forced++
    }
    if (forced && Number(forced.slot) > Number(finalized.slot)) {
      expect(step.checks.finalized_header).toEqual(forced)
      counts.finalizedByForce++
    } else {
      expect(finalized).toEqual(step.checks.finalized_header)
      counts.finalized++
    }
    expect(optimistic).toEqual(step.checks.optimistic_header)
    counts.optimistic++
  }
  return counts
}

if (!existsSync(SPEC))
  console.info(`skipped: ${SUITES.length} suites of the consensus specification, because there is no ${SPEC}`)

it.skipIf(!existsSync(SPEC))('follows the steps of the consensus specification', () => {
  expect(readdirSync(SPEC).sort()).toEqual(['deneb', 'electra'])
  const total: Record<string, number> = {}
  for (const [fork, suite] of SUITES) {
    for (const [name, count] of Object.entries(runSuite(fork, suite))) total[name] = (total[name] ?? 0) + count
  }
  const { updates, finalized, optimistic, forced, finalizedByForce, committeesByForce } = total
  const rest = `${forced} forced updates, ${finalizedByForce} headers and ${committeesByForce} committees that only they make final`
  console.info(`Steps of the consensus specification: ${updates} updates with ${finalized} finalized and ${optimistic} signed \
headers as there; not applicable: ${rest}`)
  expect(total).toEqual({
    ...{ updates: 28, finalized: 24, optimistic: 32 },
    ...{ forced: 4, finalizedByForce: 8, committeesByForce: 4 },
  })
})

const PERIOD = 64
/** The first slot of Gloas, which begins a period. */
const GLOAS = 12_800 * 8
const minimal: BeaconNetwork = { ...network, preset }
const [a, b] = ['a', 'b'].map(name => createCommittee(name, preset.committeeSize))

interface Signing {
  readonly fork: ForkName
  readonly slot: number
  readonly absent?: readonly number[]
}

/** What the committee signs for: `finalized` is final in the state of `attested`, whose next committee is `b`. */
function makeUpdate(attested: Made, finalized: Made, signing: Signing, signers = b) {
  return {
    version: signing.fork,
    data: {
      ...{ attested_header: attested.json, finalized_header: finalized.json },
      ...{ finality_branch: attested.branches.finality, next_sync_committee: b?.keys },
      ...{ next_sync_committee_branch: attested.branches.next, ...sign(attested, signers ?? { secrets: [] }, signing) },
    },
  }
}

/** Of this fork, with a state in which `finalized` is final. */
const makeAttested = (fork: ForkName, slot: number, { root: finalizedRoot }: Made) =>
  createHeader(fork, slot, { ...(b && { next: b.keys }), finalizedRoot })

function makeBoundary() {
  const start = createHeader('fulu', GLOAS - 56, { ...(a && { current: a.keys }), ...(b && { next: b.keys }) })
  const bootstrap = {
    version: 'fulu',
    data: {
      header: start.json,
      current_sync_committee: a?.keys,
      current_sync_committee_branch: start.branches.current,
    },
  }
  const early = createHeader('fulu', GLOAS - 40)
  const update = makeUpdate(makeAttested('fulu', GLOAS - 20, early), early, { fork: 'fulu', slot: GLOAS - 19 }, a)
  return { bootstrap, update, trusted: { network: minimal, blockRoot: bytesToHex(start.root) } }
}

it('crosses from Fulu to Gloas with the constants of the minimal preset', () => {
  const { bootstrap, update, trusted } = makeBoundary()
  const last = createHeader('fulu', GLOAS - 16)
  // The first slot of Gloas signs for the last of Fulu, with the version of Fulu.
  const atEdge = makeUpdate(makeAttested('fulu', GLOAS - 1, last), last, { fork: 'fulu', slot: GLOAS })
  const across = makeUpdate(makeAttested('gloas', GLOAS + 9, last), last, { fork: 'gloas', slot: GLOAS + 10 })
  const finalized_header = convertHeader(last.json as never, ssz as never)
  const converted = { ...across, data: { ...across.data, finalized_header } }
  const first = createHeader('gloas', GLOAS + 16)
  const within = makeUpdate(makeAttested('gloas', GLOAS + 40, first), first, { fork: 'gloas', slot: GLOAS + 41 })
  const prove = (finality: unknown, updates = [update]) => verifyConsensus({ bootstrap, updates, finality }, trusted)
  const expected = { blockRoot: bytesToHex(last.root), slot: BigInt(GLOAS - 16), signers: 32, period: GLOAS / PERIOD }
  const slotTimestamp = BigInt(network.genesisTime + 6 * (GLOAS - 16))
  expect(prove(atEdge)).toMatchObject({ ...expected, slotTimestamp })
  expect(prove(across)).toMatchObject({ ...expected, slotTimestamp })
  expect(prove(converted)).toMatchObject({ ...expected, l1BlockHash: finalized_header.execution_block_hash })
  expect(prove(within)).toMatchObject({ blockRoot: bytesToHex(first.root), l1BlockNumber: undefined })
  const after = makeUpdate(makeAttested('gloas', GLOAS + 70, first), first, { fork: 'gloas', slot: GLOAS + 71 })
  expect(prove(after, [update, within])).toMatchObject({ blockRoot: bytesToHex(first.root), period: 1601 })
})

it('refuses what is right by other constants', () => {
  const { bootstrap, update, trusted } = makeBoundary()
  const { committee } = verifyBootstrap(bootstrap, trusted)
  expect(committee.network.preset).toEqual(preset)
  expect(verifyUpdate(update, committee).committee.period).toBe(GLOAS / PERIOD)
  const codeOf = (change: Partial<BeaconPreset>) =>
    refusal(() => verifyUpdate(update, { ...committee, network: { ...minimal, preset: { ...preset, ...change } } }))
      .code
  expect(codeOf({ committeeSize: 40 })).toBe('BEACON_COMMITTEE_SIZE')
  expect(codeOf({ epochsPerPeriod: 16 })).toBe('BEACON_SIGNATURE_PERIOD')
  // By then, Gloas would have begun.
  expect(codeOf({ slotsPerEpoch: 4 })).toBe('BEACON_MALFORMED')
})

it('needs two thirds of a committee of any size', () => {
  const { bootstrap, trusted } = makeBoundary()
  const { committee } = verifyBootstrap(bootstrap, trusted)
  const early = createHeader('fulu', GLOAS - 40)
  const attested = makeAttested('fulu', GLOAS - 20, early)
  const signedBy = (count: number) => {
    const absent = Array.from({ length: 32 - count }, (_, index) => index)
    return makeUpdate(attested, early, { fork: 'fulu', slot: GLOAS - 19, absent }, a)
  }
  expect(verifyFinality(signedBy(22), committee).signers).toBe(22)
  expect(refusal(() => verifyFinality(signedBy(21), committee))).toMatchObject({
    ...{ code: 'BEACON_TOO_FEW_SIGNERS', expected: 'at least 22', found: '21' },
  })
})
