import { decodeArgument } from '../../base/arguments.ts'
import { bytesToHex, equalBytes, type Hex } from '../../base/bytes.ts'
import type { ProofErrorCode } from '../../base/error-meanings.ts'
import { atPath, ProofError, refusal } from '../../base/errors.ts'
import { atMost } from '../../base/json/decoders.ts'
import { isGiven } from '../../base/json/known-fields.ts'
import { readOptions } from '../../base/options.ts'
import { mismatch } from '../tree/path.ts'
import { periodOf } from './clock.ts'
import {
  type Committee,
  type DecodedCommittee,
  decodeCommittee,
  encodeCommittee,
  rootOfKeys,
  signersKey,
  signingRoot,
  verifySignature,
  verifySigners,
} from './committee.ts'
import {
  decodeBootstrap,
  decodeFinality,
  decodeSignedHeader,
  decodeUpdate,
  type Header,
  reader,
  readSignatureSlot,
  type SignedHeader,
  type SignedUpdate,
} from './decode.ts'
import { MAX_UPDATES } from './limits.ts'
import { type BeaconNetwork, type DecodedNetwork, decodeNetwork, forkAt } from './network.ts'
import { rootOfBranch } from './ssz.ts'

/** What you trust: a beacon block, and the network that it belongs to. */
export interface TrustedBlock {
  /** `mainnetBeacon`, `sepoliaBeacon`, `hoodiBeacon` or your own. */
  network: BeaconNetwork
  /**
   * The root of a finalized beacon block, 32 bytes, from a source that you trust. It must not be older than the
   * weak-subjectivity period, about two weeks on mainnet: members of older committees may have left, and lose nothing by lying.
   */
  blockRoot: Hex
}

/** A beacon block, and the L1 block in it. */
export interface BeaconBlock {
  /** Hash of the L1 block, 32 bytes: what `verifyHeader` and `verifyEvidence` need. From Gloas on, that of its parent. */
  l1BlockHash: Hex
  /** Height of the L1 block; undefined from Gloas on, where the beacon chain's headers do not contain it. */
  l1BlockNumber: bigint | undefined
  /** Timestamp of the L1 block, in seconds since 1970; undefined from Gloas on. */
  l1Timestamp: bigint | undefined
  /** Root of the beacon block, 32 bytes: the `blockRoot` for next time, if you keep nothing else. */
  blockRoot: Hex
  /** Slot of the beacon block. */
  slot: bigint
  /** When the slot began, in seconds since 1970: compare it with your clock. */
  slotTimestamp: bigint
}

/** What a bootstrap proves: the beacon block that you trust, and the committee of its period. */
export interface VerifiedBootstrap extends BeaconBlock {
  /** For {@link verifyUpdate} and {@link verifyFinality}. */
  committee: Committee
}

/** A beacon block that is proven to be finalized. */
export interface VerifiedFinality extends BeaconBlock {
  /** How many of the 512 validators signed: 342 or more. */
  signers: number
  /** The period of the committee that signed. */
  period: number
}

/** A beacon block that a committee has signed, and that is NOT final: the chain may still replace it. */
export interface UnfinalizedBlock extends Omit<VerifiedFinality, 'l1BlockHash'> {
  /** Hash of the L1 block in it, 32 bytes, which may vanish from L1. From Gloas on, that of its parent. */
  unfinalizedL1BlockHash: Hex
}

/** What a committee update proves: a finalized block, and the committee of the next period. */
export interface VerifiedUpdate extends VerifiedFinality {
  /** The committee of the next period. */
  committee: Committee
}

/** What a chain from a trusted block proves: a finalized block, and who signed for it. */
export interface VerifiedConsensus extends VerifiedFinality {
  /** When the slot of the trusted block began, in seconds since 1970: compare it with your clock, see {@link TrustedBlock}. */
  trustedSlotTimestamp: bigint
  /** The committee of `period`. Store it: next time {@link verifyFinality} and {@link verifyUpdate} start from it. */
  committee: Committee
}

/** The answers of a beacon API, each `{ version, data }`, parsed from JSON. */
export interface ConsensusAnswers {
  /** `/eth/v1/beacon/light_client/bootstrap/{root}`. */
  bootstrap: unknown
  /**
   * `/eth/v1/beacon/light_client/updates?start_period=&count=`: an array of at most 512 without gaps, starting at the
   * period of the trusted block. It is empty as long as the committee of that period still signs.
   */
  updates: unknown
  /** `/eth/v1/beacon/light_client/finality_update`. Without it, the last update proves the finalized block. */
  finality?: unknown
}

export function decodeTrustedBlock(trusted: TrustedBlock): { network: DecodedNetwork; root: Uint8Array } {
  const { network, blockRoot } = readOptions('', trusted, ['network', 'blockRoot'])
  return { network: decodeNetwork(network), root: decodeArgument('blockRoot', blockRoot, 32) }
}

/**
 * Verifies a bootstrap: the beacon block is the one that you trust, and the committee is that of its period.
 *
 * @param bootstrap what the beacon API sent, `{ version, data }`, parsed from JSON
 * @param trusted the network and the beacon block root that you trust
 * @throws ProofError `BEACON_ROOT_MISMATCH`, `BEACON_COMMITTEE_MISMATCH`, `BEACON_EXECUTION_MISMATCH`,
 * `BEACON_FORK_UNKNOWN`; `BEACON_MALFORMED`, `BAD_HEX` and similar if it is not a bootstrap; ArgumentError
 *
 * @example
 * ```ts
 * import { mainnetBeacon, verifyBootstrap } from 'rollup-state-proof/beacon'
 *
 * async function committeeAt(api: string, blockRoot: `0x${string}`) {
 *   const response = await fetch(`${api}/eth/v1/beacon/light_client/bootstrap/${blockRoot}`)
 *   return verifyBootstrap(await response.json(), { network: mainnetBeacon, blockRoot }).committee
 * }
 * ```
 */
export function verifyBootstrap(bootstrap: unknown, trusted: TrustedBlock): VerifiedBootstrap {
  const { network, root: trustedRoot } = decodeTrustedBlock(trusted)
  const { header, keys, branch } = decodeBootstrap(bootstrap, network)
  return atPath('data', () => {
    if (!equalBytes(header.root, trustedRoot)) throw mismatch('BEACON_ROOT_MISMATCH', trustedRoot, header.root)
    atPath('header', () => verifyExecution(header))
    const root = rootOfKeys(keys)
    verifyBranch('BEACON_COMMITTEE_MISMATCH', root, branch, header.layout.currentCommittee, header.stateRoot)
    return {
      ...toBlock(header, network),
      committee: encodeCommittee(network, periodOf(network, header.slot), keys, root),
    }
  })
}

/**
 * Verifies a committee update: the committee signs for a finalized block of its own period, and for the committee of the
 * next period.
 *
 * @param update one of the updates that the beacon API sent, `{ version, data }`, parsed from JSON
 * @param committee the committee of the update's period, from {@link verifyBootstrap} or from the update before
 * @throws ProofError what {@link verifyFinality} throws; `BEACON_ATTESTED_PERIOD`, `BEACON_FINALIZED_PERIOD`,
 * `BEACON_NEXT_COMMITTEE_MISMATCH`
 *
 * @example
 * ```ts
 * import { type Committee, verifyUpdate } from 'rollup-state-proof/beacon'
 *
 * async function nextCommittee(api: string, committee: Committee) {
 *   const query = `start_period=${committee.period}&count=1`
 *   const response = await fetch(`${api}/eth/v1/beacon/light_client/updates?${query}`)
 *   const [update] = await response.json()
 *   return verifyUpdate(update, committee).committee
 * }
 * ```
 */
export function verifyUpdate(update: unknown, committee: Committee): VerifiedUpdate {
  const signing = decodeCommittee(committee)
  const decoded = decodeUpdate(update, signing.network)
  return atPath('data', () => {
    const { attested, finalized, nextKeys, nextBranch } = decoded
    verifySlots(decoded, signing, finalized)
    // The next committee of the attested state belongs to the period after that of the attested slot. It is settled once a block
    // of that slot's period is finalized: until then, another branch of the chain may have a different one.
    verifyPeriodOf('BEACON_ATTESTED_PERIOD', 'attested_header', attested.slot, signing)
    verifyPeriodOf('BEACON_FINALIZED_PERIOD', 'finalized_header', finalized.slot, signing)
    verifyFinalized(decoded)
    const nextRoot = rootOfKeys(nextKeys)
    const { layout, stateRoot } = attested
    verifyBranch('BEACON_NEXT_COMMITTEE_MISMATCH', nextRoot, nextBranch, layout.nextCommittee, stateRoot)
    const verified = verifySigned(decoded, finalized, signing)
    return { ...verified, committee: encodeCommittee(signing.network, signing.period + 1, nextKeys, nextRoot) }
  })
}

/**
 * Verifies a finality update: the committee signs for a finalized block.
 *
 * @param update what the beacon API sent, `{ version, data }`, parsed from JSON; or a committee update
 * @param committee the committee of the period of the signature
 * @throws ProofError `BEACON_FINALITY_MISSING`, `BEACON_SLOT_ORDER`, `BEACON_SIGNATURE_PERIOD`,
 * `BEACON_EXECUTION_MISMATCH`, `BEACON_FINALITY_MISMATCH`, `BEACON_TOO_FEW_SIGNERS`, `BEACON_KEY_POINT`,
 * `BEACON_SIGNATURE_POINT`, `BEACON_SIGNATURE_MISMATCH`, `BEACON_FORK_UNKNOWN`; `BEACON_MALFORMED`, `BAD_HEX` and similar if it
 * is not an update; `BEACON_COMMITTEE_ROOT` if the committee's keys do not match its root; ArgumentError if it is not a
 * committee
 *
 * @example
 * ```ts
 * import { type Committee, verifyFinality } from 'rollup-state-proof/beacon'
 *
 * async function l1BlockHash(api: string, committee: Committee) {
 *   const response = await fetch(`${api}/eth/v1/beacon/light_client/finality_update`)
 *   return verifyFinality(await response.json(), committee).l1BlockHash
 * }
 * ```
 */
export function verifyFinality(update: unknown, committee: Committee): VerifiedFinality {
  const signing = decodeCommittee(committee)
  const decoded = decodeFinality(update, signing.network)
  return atPath('data', () => {
    verifySlots(decoded, signing, decoded.finalized)
    verifyFinalized(decoded)
    return verifySigned(decoded, decoded.finalized, signing)
  })
}

/**
 * Verifies that the committee has signed for a block that is NOT final. It is minutes newer than a finalized block, but the
 * chain may still replace it, and no validator has to lose anything for that. Where that matters, use {@link verifyFinality}.
 *
 * @param update an optimistic update, `{ version, data }`, parsed from JSON; or a finality or committee update
 * @param committee the committee of the period of the signature
 * @throws what {@link verifyFinality} throws, except what is about the finalized block
 *
 * @example
 * ```ts
 * import { type Committee, verifyUnfinalized } from 'rollup-state-proof/beacon'
 *
 * async function newestL1BlockHash(api: string, committee: Committee) {
 *   const response = await fetch(`${api}/eth/v1/beacon/light_client/optimistic_update`)
 *   return verifyUnfinalized(await response.json(), committee).unfinalizedL1BlockHash
 * }
 * ```
 */
export function verifyUnfinalized(update: unknown, committee: Committee): UnfinalizedBlock {
  const signing = decodeCommittee(committee)
  const decoded = decodeSignedHeader(update, signing.network)
  return atPath('data', () => {
    const { attested } = decoded
    verifySlots(decoded, signing)
    atPath('attested_header', () => verifyExecution(attested))
    const { l1BlockHash: unfinalizedL1BlockHash, ...block } = verifySigned(decoded, attested, signing)
    return { unfinalizedL1BlockHash, ...block }
  })
}

/**
 * Verifies the whole chain from a beacon block that you trust to a finalized L1 block: a bootstrap, the committee updates of
 * all periods since, and a finality update. It does not show how recent that block is, because an endpoint may withhold newer
 * ones: compare `slotTimestamp` with your clock.
 *
 * @param answers what the beacon API sent
 * @param trusted the network and the beacon block root that you trust
 * @throws ProofError what {@link verifyBootstrap}, {@link verifyUpdate} and {@link verifyFinality} throw, with a path that
 * starts with `bootstrap`, `updates[n]` or `finality`; `BEACON_TOO_MANY_UPDATES`; `BEACON_OLDER_THAN_CHECKPOINT`
 *
 * @example
 * ```ts
 * import { mainnetBeacon, verifyConsensus } from 'rollup-state-proof/beacon'
 *
 * async function l1BlockHash(api: string, blockRoot: `0x${string}`, period: number) {
 *   const get = async (path: string) => (await fetch(`${api}/eth/v1/beacon/light_client/${path}`)).json()
 *   const bootstrap = await get(`bootstrap/${blockRoot}`)
 *   const updates = await get(`updates?start_period=${period}&count=128`) // of the trusted block: its slot / 8192
 *   const finality = await get('finality_update')
 *   return verifyConsensus({ bootstrap, updates, finality }, { network: mainnetBeacon, blockRoot }).l1BlockHash
 * }
 * ```
 */
export function verifyConsensus(answers: ConsensusAnswers, trusted: TrustedBlock): VerifiedConsensus {
  const steps = consensusSteps(answers, trusted)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** {@link verifyConsensus}, which pauses after each update: hundreds of them take seconds. */
export function* consensusSteps(answers: ConsensusAnswers, trusted: TrustedBlock) {
  const { bootstrap, updates, finality } = readOptions('', answers, ['bootstrap', 'updates', 'finality'])
  const start = atPath('bootstrap', () => verifyBootstrap(bootstrap, trusted))
  let committee = start.committee
  const given = atPath('updates', () =>
    reader.items(updates, atMost('BEACON_TOO_MANY_UPDATES', MAX_UPDATES), update => update),
  )
  /** What each update proves, with the committee that has signed it. */
  const steps: (VerifiedFinality & { committee: Committee })[] = []
  for (const update of given) {
    const signing = committee
    const verified = atPath(`updates[${steps.length}]`, () => verifyUpdate(update, signing))
    committee = verified.committee
    steps.push({ ...verified, committee: signing })
    yield
  }
  const verifyLast = () => {
    const period = periodOf(committee.network, readSignatureSlot(finality))
    // The updates may already include that of the current period: then the last committee but one signs. The newest is refused
    // below if there is none of this period.
    const signing = steps.find(step => step.committee.period === period)?.committee ?? committee
    return { ...verifyFinality(finality, signing), committee: signing }
  }
  const finalized = !isGiven(finality) ? steps.at(-1) : atPath('finality', verifyLast)
  if (finalized === undefined) throw new ProofError('BEACON_FINALITY_MISSING', { path: 'finality', found: 'nothing' })
  if (finalized.slot < start.slot) {
    throw refusal('BEACON_OLDER_THAN_CHECKPOINT', `slot ${start.slot} or later`, `slot ${finalized.slot}`)
  }
  return { ...finalized, trustedSlotTimestamp: start.slotTimestamp }
}

/** Checks the order of the slots, and that this committee is the one to sign. */
function verifySlots({ signatureSlot, attested }: SignedHeader, signing: DecodedCommittee, finalized?: Header): void {
  const isOrdered = signatureSlot > attested.slot && (finalized === undefined || attested.slot >= finalized.slot)
  const expected = `signature slot > attested slot${finalized ? ' >= finalized slot' : ''}`
  const slots = [signatureSlot, attested.slot, ...(finalized ? [finalized.slot] : [])]
  if (!isOrdered) throw refusal('BEACON_SLOT_ORDER', expected, slots.join(', '))
  verifyPeriodOf('BEACON_SIGNATURE_PERIOD', 'signature_slot', signatureSlot, signing, ', that of the committee')
}

function verifyPeriodOf(code: ProofErrorCode, path: string, slot: bigint, signing: DecodedCommittee, which = ''): void {
  const { network, period } = signing
  const found = periodOf(network, slot)
  if (found === period) return
  throw new ProofError(code, { path, expected: `period ${period}${which}`, found: `period ${found}` })
}

/** Checks that the attested state names the finalized header, and that both headers contain the L1 blocks they claim. */
function verifyFinalized({ attested, finalized, finalityBranch }: SignedUpdate): void {
  atPath('attested_header', () => verifyExecution(attested))
  atPath('finalized_header', () => verifyExecution(finalized))
  const { layout, stateRoot } = attested
  verifyBranch('BEACON_FINALITY_MISMATCH', finalized.root, finalityBranch, layout.finalizedRoot, stateRoot)
}

const verifyExecution = ({ execution, executionBranch, layout, bodyRoot }: Header): void =>
  verifyBranch('BEACON_EXECUTION_MISMATCH', execution.root, executionBranch, layout.execution, bodyRoot)

/** Checks that `branch` leads from `leaf`, the node with this generalized index, to `root`. */
function verifyBranch(code: ProofErrorCode, leaf: Uint8Array, branch: Uint8Array[], index: number, root: Uint8Array) {
  const found = rootOfBranch(leaf, branch, index)
  if (!equalBytes(found, root)) throw mismatch(code, root, found)
}

/** Checks that enough of the committee signed the attested header. Comes last, because it takes the longest. @param proven what this proves */
function verifySigned(update: SignedHeader, proven: Header, signing: DecodedCommittee): VerifiedFinality {
  const { attested, bits, signature, signatureSlot } = update
  const { network, period, root, keys } = signing
  const signers = verifySigners(bits)
  // A validator signs with the fork of the slot before: that of the block that it has just seen.
  const { version } = atPath('signature_slot', () => forkAt(network, signatureSlot - 1n))
  const message = signingRoot(attested.root, version, network.genesisValidatorsRoot)
  verifySignature(signature, message, signersKey(keys, root, bits))
  return { ...toBlock(proven, network), signers, period }
}

function toBlock({ slot, root, execution }: Header, { source, preset }: DecodedNetwork): BeaconBlock {
  return {
    l1BlockHash: bytesToHex(execution.blockHash),
    l1BlockNumber: execution.blockNumber,
    l1Timestamp: execution.timestamp,
    blockRoot: bytesToHex(root),
    slot,
    slotTimestamp: BigInt(source.genesisTime) + slot * BigInt(preset.secondsPerSlot),
  }
}
