import { ETH_PROOF_SHAPE } from '../anchor/eth-proof.ts'
import { type FinalizedState, verifyFinalizedState } from '../anchor/finalized-state.ts'
import { encodeHeader, type L1Block, verifyHeader } from '../anchor/header.ts'
import { type Rollup, type VerifiedAnchor, verifyAnchor, verifyBlockNumber } from '../anchor/rollup.ts'
import { bytesToHex, equalBytes, type Hex } from '../bytes.ts'
import { atPath, excerpt, ProofError } from '../errors.ts'
import { type Admission, pickKnown, type Shape } from '../json/known-fields.ts'
import { readerOf } from '../json/reader.ts'
import { decodeArgument, decodeKeys, invalid, verifyScheme } from '../proof/claim.ts'
import { ANSWER_SHAPE, unwrapResponse } from '../proof/known-answer.ts'
import { type VerifiedState, verifyProof } from '../proof/verify.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { mismatch } from '../tree/path.ts'
import { CONSENSUS_SHAPE, type Consensus, decodeConsensus } from './consensus.ts'

const VERSION = 1
/** Far more than an endpoint answers per request. */
const MAX_STORAGE_KEYS = 65_536

/**
 * An evidence bundle: one JSON document with every proof from an L1 block hash to an account and its slots on L2.
 * Its JSON Schema is `docs/evidence.schema.json`.
 */
export interface Evidence {
  /** The version of this format. */
  version: 1
  /** The hash scheme of the rollup at the L2 block. */
  scheme: Scheme['name']
  /** Whose state it is. */
  rollup: {
    /** A label for people. It proves nothing. */
    name?: string
    /** The contract on L1, 20 bytes. */
    address: Hex
  }
  /** A quantity, such as `0x1b4`. */
  l2BlockNumber: Hex
  /** Proves the L1 block hash from a beacon block root. Omitted if the verifier gets that hash elsewhere. */
  consensus?: Consensus
  /** Proves the L2 state root. Omitted if the verifier gets that root elsewhere. */
  l1?: {
    /** RLP of the L1 block header. Omitted if the verifier gets the L1 state root elsewhere. */
    header?: Hex
    /** The `eth_getProof` result of the rollup contract for `anchorStorageKeys`, at that L1 block. */
    proof: unknown
    /** Quantities that prove the timestamp. Omitted if it is not proven. */
    finalizedState?: {
      /** Number of the last message that L2 received. */
      messageNumber: Hex
      /** Number of the last forced transaction. Omitted for contracts before version 8. */
      forcedTransactionNumber?: Hex
      /** Time of the last finalized L2 block, in seconds since 1970. */
      timestamp: Hex
    }
  }
  /** The request to the L2 endpoint. */
  request: {
    /** 20 bytes. */
    address: Hex
    /** 32 bytes each. */
    storageKeys: Hex[]
  }
  /** Its answer: the result of `rollup_getProof`. */
  answer: unknown
}

/**
 * A beacon block that you trust, together with the function that proves an L1 block from it. Create it with `checkpoint` of
 * `rollup-state-proof/beacon`: only programs that do so carry the cryptography of the consensus layer.
 */
export interface TrustedBeaconBlock {
  /** Root of a finalized beacon block, 32 bytes. */
  beaconBlockRoot: Hex
  /** Name of its network, such as `mainnet`. A bundle that names another network is refused. */
  network: string
  /**
   * Proves an L1 block from the consensus part of a bundle, or throws a ProofError. It is part of what you trust.
   *
   * @param consensus an untrusted {@link Consensus}, parsed from JSON
   */
  verifyConsensus: (consensus: { bootstrap: unknown; updates: unknown; finality: unknown }) => ProvenConsensus
}

/** What the consensus part of a bundle proves. */
export interface ProvenConsensus {
  /** Hash of the L1 block in the finalized beacon block, 32 bytes. */
  l1BlockHash: Hex
  /** Root of the finalized beacon block, 32 bytes. */
  blockRoot: Hex
  /** Slot of the finalized beacon block. */
  slot: bigint
  /** When that slot began, in seconds since 1970. */
  slotTimestamp: bigint
  /** How many of the 512 members of the sync committee signed. */
  signers: number
  /** The period of that committee. */
  period: number
}

/** The beacon block that a bundle proves final, and the beacon block that you trust. */
export interface ProvenBeaconBlock extends Omit<ProvenConsensus, 'l1BlockHash'> {
  /** Root of the beacon block that you trust, 32 bytes. */
  checkpoint: Hex
}

/** The one thing that you trust. The higher in this list, the more is proven and the less you have to believe. */
export type Trusted =
  | TrustedBeaconBlock
  | {
      /** keccak256 of an L1 block header, 32 bytes. */
      l1BlockHash: Hex
    }
  | {
      /** Root of the L1 state, 32 bytes. */
      l1StateRoot: Hex
    }
  | {
      /** Root of the L2 state, 32 bytes. Nothing about L1 is read or proven then. */
      l2StateRoot: Hex
    }

/** Which kind of trusted input a verdict rests on. */
export type Reach = 'beaconBlockRoot' | 'l1BlockHash' | 'l1StateRoot' | 'l2StateRoot'

/** What you know yourself. A bundle for anything else is refused. */
export interface EvidenceClaim {
  /** `mimc` or `poseidon2`: the one that the rollup used at the L2 block. */
  scheme: Scheme
  /** The contract whose roots you trust. */
  rollup: Rollup
  /** The value that everything is proven from. */
  trusted: Trusted
  /** Default: any finalized block. An old state passes then too, so check the returned number. */
  l2BlockNumber?: bigint
  /** 20 bytes. Default: the address of the bundle. Check the returned address then. */
  address?: Hex
  /** 32 bytes each. Default: the keys of the bundle. Check the returned keys then. */
  storageKeys?: readonly Hex[]
}

/** What a bundle proves, whichever input you trust. */
export interface EvidenceState extends VerifiedState {
  /** The address of the account, 20 bytes, lower case. */
  address: Hex
  /** The root of the L2 state, 32 bytes. */
  stateRoot: Hex
}

/** What a bundle proves about the rollup contract on L1. */
export interface AnchoredState extends EvidenceState {
  /** The L2 block of the root. */
  l2BlockNumber: bigint
  /** The last finalized L2 block in that L1 state; null if the bundle does not prove it. */
  currentL2BlockNumber: bigint | null
  /** Time of the L2 block, in seconds since 1970; null if the bundle does not prove it. */
  finalizedTimestamp: bigint | null
}

/** What a bundle proves, and from which trusted input: `reach` tells the four cases apart. */
export type VerifiedEvidence =
  | (AnchoredState & {
      /** All of this rests on a beacon block root. */
      reach: 'beaconBlockRoot'
      /** The finalized beacon block that holds the L1 block. */
      beaconBlock: ProvenBeaconBlock
      /** The L1 block in it; since Gloas, the parent of that L1 block. */
      l1Block: L1Block
    })
  | (AnchoredState & {
      /** All of this rests on an L1 block hash. */
      reach: 'l1BlockHash'
      /** The L1 block with that hash. */
      l1Block: L1Block
    })
  | (AnchoredState & {
      /** All of this rests on an L1 state root. */
      reach: 'l1StateRoot'
      /** Nothing proves which L1 block this state belongs to. */
      l1Block: null
    })
  | (EvidenceState & {
      /** All of this rests on an L2 state root: nothing of L1 is proven. */
      reach: 'l2StateRoot'
      /** The block that you stated; null if you stated none. Not proven. */
      l2BlockNumber: bigint | null
      /** Not proven. */
      currentL2BlockNumber: null
      /** Not proven. */
      finalizedTimestamp: null
      /** Not proven. */
      l1Block: null
    })

/** What {@link safeVerifyEvidence} returns: what the bundle proves, or the error that `verifyEvidence` would have thrown. */
export type SafeVerifiedEvidence =
  | ({
      /** Verified. */
      ok: true
    } & VerifiedEvidence)
  | {
      /** Refused. */
      ok: false
      /** Which check failed, and where. */
      error: ProofError
    }

interface DecodedEvidence {
  readonly scheme: string
  readonly rollupName: string | undefined
  readonly rollupAddress: Uint8Array
  readonly l2BlockNumber: bigint
  readonly consensus: unknown
  readonly header: unknown
  readonly l1Proof: unknown
  readonly finalizedState: unknown
  readonly address: Uint8Array
  readonly storageKeys: readonly Uint8Array[]
  readonly answer: unknown
}

const reader = readerOf('EVIDENCE_MALFORMED')

/**
 * Verifies an evidence bundle against what you know and the one thing that you trust.
 *
 * The bundle must agree with everything that the claim states. If the claim omits the block, address or keys, they are taken
 * from the bundle: whoever made the bundle chose them. This is sound only if you use the returned `address`, `storage[].key`
 * and `l2BlockNumber`, not the ones that you expected.
 * If you trust an `l2StateRoot`, the rollup and the block are compared, but not proven.
 * Parts of the bundle that the trusted input makes unnecessary are not read.
 *
 * @param bundle an untrusted {@link Evidence}, parsed from JSON
 * @param claim what you know, and the one thing that you trust
 * @throws ProofError `EVIDENCE_*`; `BEACON_*` for the path from a beacon block; `HEADER_*`, `MPT_*`, `L1_*`, `ANCHOR_*`,
 * `RLP_NON_CANONICAL` for the path from L1; what `verifyProof` throws for the answer; `CLAIM_INVALID` for the claim
 *
 * @example
 * ```ts
 * import { createEvidence, verifyEvidence } from 'rollup-state-proof/anchor'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createWorld } from 'rollup-state-proof/world'
 *
 * const world = createWorld(poseidon2)
 * const address = '0x00000000000000000000000000000000000000aa'
 * world.setAccount(address, { balance: 5n })
 *
 * const rollup = { name: 'devnet', address: '0x00000000000000000000000000000000000000ff' } as const
 * const answer = world.getProof(address, [])
 * const bundle = createEvidence({ scheme: poseidon2, rollup, l2BlockNumber: 7n, address, answer })
 *
 * const trusted = { l2StateRoot: world.stateRoot() }
 * const { account, reach } = verifyEvidence(bundle, { scheme: poseidon2, rollup, trusted, address, storageKeys: [] })
 * console.log(account?.balance, reach) // 5n l2StateRoot
 * ```
 */
export function verifyEvidence(bundle: unknown, claim: EvidenceClaim): VerifiedEvidence {
  const scheme = verifyScheme(claim?.scheme)
  const trusted = decodeTrusted(claim.trusted)
  const { reach, root } = trusted
  const evidence = decodeEvidence(bundle)
  verifyExpected(evidence, claim)

  const { header, l2BlockNumber } = evidence
  if (reach === 'l2StateRoot') {
    const state = verifyState(evidence, scheme, root)
    // Without an anchor, the bundle's number is only a claim.
    const unproven = { currentL2BlockNumber: null, finalizedTimestamp: null, l1Block: null }
    return { ...state, l2BlockNumber: claim.l2BlockNumber ?? null, ...unproven, reach }
  }
  const proven = trusted.beaconBlock && verifyConsensus(evidence.consensus, trusted.beaconBlock)
  const l1Block = proven
    ? verifyFinalizedL1Header(header, proven.l1BlockHash)
    : reach === 'l1BlockHash'
      ? verifyL1Header(header, root)
      : null
  const { stateRoot, ...anchor } = verifyL1Proof(evidence, l1Block?.stateRoot ?? root, claim.rollup)
  const state = { ...verifyState(evidence, scheme, stateRoot), l2BlockNumber, ...anchor }
  if (l1Block === null) return { ...state, l1Block, reach: 'l1StateRoot' }
  return proven
    ? { ...state, l1Block, beaconBlock: toBeaconBlock(proven, root), reach: 'beaconBlockRoot' }
    : { ...state, l1Block, reach: 'l1BlockHash' }
}

function verifyState(evidence: DecodedEvidence, scheme: Scheme, stateRoot: Hex): EvidenceState {
  const address = bytesToHex(evidence.address)
  const storageKeys = evidence.storageKeys.map(bytesToHex)
  const state = atPath('answer', () => verifyProof(evidence.answer, { scheme, stateRoot, address, storageKeys }))
  return { ...state, address, stateRoot }
}

/**
 * Like {@link verifyEvidence}, but returns a result object. Throws nothing.
 *
 * @param bundle an untrusted {@link Evidence}, parsed from JSON
 * @param claim what you know, and the one thing that you trust
 *
 * @example
 * ```ts
 * import { lineaMainnet, safeVerifyEvidence } from 'rollup-state-proof/anchor'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 *
 * const trusted = { l1BlockHash: `0x${'11'.repeat(32)}` } as const
 * const outcome = safeVerifyEvidence({}, { scheme: poseidon2, rollup: lineaMainnet, trusted })
 * console.log(outcome.ok ? outcome.account : outcome.error.code) // EVIDENCE_MALFORMED
 * ```
 */
export function safeVerifyEvidence(bundle: unknown, claim: EvidenceClaim): SafeVerifiedEvidence {
  try {
    return { ok: true, ...verifyEvidence(bundle, claim) }
  } catch (error) {
    if (error instanceof ProofError) return { ok: false, error }
    throw error
  }
}

function verifyConsensus(consensus: unknown, { network, verifyConsensus }: TrustedBeaconBlock): ProvenConsensus {
  if (consensus === undefined)
    throw new ProofError('EVIDENCE_CONSENSUS_MISSING', { path: 'consensus', found: 'nothing' })
  return atPath('consensus', () => {
    const { network: label, ...answers } = decodeConsensus(consensus)
    if (label !== undefined && label !== network) {
      const found = excerpt(label)
      throw new ProofError('EVIDENCE_NETWORK_MISMATCH', { path: 'network', expected: excerpt(network), found })
    }
    const proven = verifyConsensus(answers)
    // Without this check, a function that returns nothing would let the beacon block root pass for an L1 state root.
    decodeArgument('trusted.verifyConsensus().l1BlockHash', proven?.l1BlockHash, 32)
    return proven
  })
}

/** Copied field by field, because the function may return further fields. */
const toBeaconBlock = (proven: ProvenConsensus, checkpoint: Hex): ProvenBeaconBlock => {
  const { blockRoot, slot, slotTimestamp, signers, period } = proven
  return { checkpoint, blockRoot, slot, slotTimestamp, signers, period }
}

/** {@link verifyL1Header} for a proven hash. If the hash differs, the bundle has the header of another block. */
function verifyFinalizedL1Header(header: unknown, l1BlockHash: Hex): L1Block {
  try {
    return verifyL1Header(header, l1BlockHash)
  } catch (error) {
    if (!(error instanceof ProofError) || error.code !== 'HEADER_HASH_MISMATCH') throw error
    const { path, expected, found } = error
    throw new ProofError('EVIDENCE_L1_BLOCK_MISMATCH', { path, expected, found })
  }
}

function verifyL1Header(header: unknown, l1BlockHash: Hex): L1Block {
  if (header === undefined) throw new ProofError('EVIDENCE_L1_MISSING', { path: 'l1.header', found: 'nothing' })
  return atPath('l1.header', () => verifyHeader(header, l1BlockHash))
}

function verifyL1Proof(evidence: DecodedEvidence, l1StateRoot: Hex, rollup: Rollup): VerifiedAnchor {
  const { l1Proof, l2BlockNumber } = evidence
  if (l1Proof === undefined) throw new ProofError('EVIDENCE_L1_MISSING', { path: 'l1.proof', found: 'nothing' })
  const finalizedState = atPath('l1.finalizedState', () => decodeFinalizedState(evidence.finalizedState))
  return atPath('l1.proof', () => verifyAnchor(l1Proof, { l1StateRoot, rollup, l2BlockNumber, finalizedState }))
}

const REACHES: readonly Reach[] = ['beaconBlockRoot', 'l1BlockHash', 'l1StateRoot', 'l2StateRoot']

interface DecodedTrusted {
  readonly reach: Reach
  readonly root: Hex
  /** Only for a beacon block root. */
  readonly beaconBlock: TrustedBeaconBlock | null
}

/** Requires exactly one. Given two, a caller could think that both were checked. */
function decodeTrusted(trusted: Trusted): DecodedTrusted {
  const read = (name: string): unknown =>
    trusted !== null && typeof trusted === 'object' && Object.hasOwn(trusted, name)
      ? Reflect.get(trusted, name)
      : undefined
  const given = REACHES.flatMap(reach => {
    const value = read(reach)
    return value === undefined ? [] : [{ reach, value }]
  })
  const [first] = given
  if (first === undefined || given.length > 1) {
    throw new ProofError('CLAIM_INVALID', { path: 'trusted', expected: `exactly one of ${REACHES.join(', ')}` })
  }
  const { reach } = first
  const root = bytesToHex(decodeArgument(`trusted.${reach}`, first.value, 32))
  if (reach !== 'beaconBlockRoot') return { reach, root, beaconBlock: null }
  const [network, verifyConsensus] = [read('network'), read('verifyConsensus')]
  if (typeof verifyConsensus !== 'function' || typeof network !== 'string') {
    const expected = 'what checkpoint(blockRoot, network) of rollup-state-proof/beacon returns'
    throw new ProofError('CLAIM_INVALID', { path: 'trusted', expected })
  }
  // The function is the caller's own, and so is the type of what it returns.
  const beaconBlock = { beaconBlockRoot: root, network, verifyConsensus } as TrustedBeaconBlock
  return { reach, root, beaconBlock }
}

/** Refuses a bundle for anything other than what the caller states. */
function verifyExpected(evidence: DecodedEvidence, claim: EvidenceClaim): void {
  const { scheme, rollup, l2BlockNumber, address, storageKeys } = claim
  const rollupAddress = decodeArgument('rollup.address', rollup?.address, 20)
  const { name } = rollup
  if (name !== undefined && typeof name !== 'string') throw invalid('rollup.name', 'a string', name)
  if (evidence.scheme !== scheme.name) {
    throw new ProofError('EVIDENCE_SCHEME_MISMATCH', { path: 'scheme', expected: scheme.name, found: evidence.scheme })
  }
  atPath('rollup', () => {
    if (!equalBytes(evidence.rollupAddress, rollupAddress)) {
      throw mismatch('EVIDENCE_ROLLUP_MISMATCH', rollupAddress, evidence.rollupAddress)
    }
    if (name !== undefined && evidence.rollupName !== undefined && evidence.rollupName !== name) {
      const details = { expected: excerpt(name), found: excerpt(evidence.rollupName) }
      throw new ProofError('EVIDENCE_ROLLUP_MISMATCH', details)
    }
  })
  if (l2BlockNumber !== undefined && evidence.l2BlockNumber !== verifyBlockNumber(l2BlockNumber)) {
    const details = { path: 'l2BlockNumber', expected: `${l2BlockNumber}`, found: `${evidence.l2BlockNumber}` }
    throw new ProofError('EVIDENCE_BLOCK_MISMATCH', details)
  }
  if (address !== undefined) {
    const expected = decodeArgument('address', address, 20)
    atPath('request.address', () => verifyAddress(expected, evidence.address))
  }
  if (storageKeys !== undefined) {
    const expected = decodeKeys(storageKeys)
    atPath('request.storageKeys', () => verifyKeys(expected, evidence.storageKeys))
  }
}

function verifyAddress(expected: Uint8Array, found: Uint8Array): void {
  if (!equalBytes(expected, found)) throw mismatch('EVIDENCE_ADDRESS_MISMATCH', expected, found)
}

/** All keys, in the same order: a caller who states keys reads the slots by position. */
function verifyKeys(expected: readonly Uint8Array[], found: readonly Uint8Array[]): void {
  if (expected.length !== found.length) {
    throw new ProofError('EVIDENCE_KEYS_MISMATCH', { expected: `${expected.length} keys`, found: `${found.length}` })
  }
  for (const [index, key] of found.entries()) {
    const wanted = expected[index]
    if (!wanted || !equalBytes(wanted, key)) throw mismatch('EVIDENCE_KEYS_MISMATCH', wanted ?? key, key)
  }
}

const FIELDS = ['version', 'scheme', 'rollup', 'l2BlockNumber', 'consensus', 'l1', 'request', 'answer'] as const

function decodeEvidence(bundle: unknown): DecodedEvidence {
  const fields = reader.fields(bundle, FIELDS)
  const { version, l1, answer } = fields
  if (version === undefined) throw new ProofError('EVIDENCE_MALFORMED', { expected: 'a version', found: 'none' })
  if (version !== VERSION) throw new ProofError('EVIDENCE_VERSION', { path: 'version', expected: `${VERSION}` })
  const scheme = atPath('scheme', () => reader.string(fields.scheme))
  if (scheme !== 'mimc' && scheme !== 'poseidon2') {
    const details = { path: 'scheme', expected: 'mimc or poseidon2', found: excerpt(scheme) }
    throw new ProofError('EVIDENCE_MALFORMED', details)
  }
  const { header, proof, finalizedState } = atPath('l1', () =>
    l1 === undefined ? {} : reader.fields(l1, ['header', 'proof', 'finalizedState']),
  )
  return {
    scheme,
    ...atPath('rollup', () => decodeRollup(fields.rollup)),
    l2BlockNumber: atPath('l2BlockNumber', () => decodeQuantity(fields.l2BlockNumber, 8)),
    consensus: fields.consensus,
    header,
    l1Proof: proof,
    finalizedState,
    ...atPath('request', () => decodeRequest(fields.request)),
    answer,
  }
}

function decodeRollup(rollup: unknown): Pick<DecodedEvidence, 'rollupName' | 'rollupAddress'> {
  const { name, address } = reader.fields(rollup, ['name', 'address'])
  return {
    rollupName: name === undefined ? undefined : atPath('name', () => reader.string(name)),
    rollupAddress: atPath('address', () => reader.bytes(address, 20)),
  }
}

function decodeFinalizedState(value: unknown): FinalizedState | undefined {
  if (value === undefined) return undefined
  const fields = reader.fields(value, ['messageNumber', 'forcedTransactionNumber', 'timestamp'])
  const { forcedTransactionNumber } = fields
  return {
    messageNumber: atPath('messageNumber', () => decodeQuantity(fields.messageNumber, 32)),
    forcedTransactionNumber:
      forcedTransactionNumber === undefined
        ? undefined
        : atPath('forcedTransactionNumber', () => decodeQuantity(forcedTransactionNumber, 32)),
    timestamp: atPath('timestamp', () => decodeQuantity(fields.timestamp, 8)),
  }
}

function decodeQuantity(value: unknown, maxLength: number): bigint {
  const quantity = reader.string(value)
  if (quantity.length > 2 + 2 * maxLength || !/^0x(0|[1-9a-f][0-9a-f]*)$/.test(quantity)) {
    const expected = `a quantity of at most ${maxLength} bytes without leading zeros`
    throw new ProofError('EVIDENCE_MALFORMED', { expected, found: excerpt(quantity) })
  }
  return BigInt(quantity)
}

function decodeRequest(request: unknown): Pick<DecodedEvidence, 'address' | 'storageKeys'> {
  const { address, storageKeys } = reader.fields(request, ['address', 'storageKeys'])
  return {
    address: atPath('address', () => reader.bytes(address, 20)),
    storageKeys: atPath('storageKeys', () => reader.items(storageKeys, verifyKeyCount, key => reader.bytes(key, 32))),
  }
}

/** Bounds the work: whoever made the object may choose any length. */
function verifyKeyCount(count: number): void {
  if (count > MAX_STORAGE_KEYS) {
    throw new ProofError('EVIDENCE_MALFORMED', { expected: `at most ${MAX_STORAGE_KEYS} keys`, found: `${count}` })
  }
}

/** The parts of a bundle for {@link createEvidence}. */
export interface EvidenceParts {
  /** `mimc` or `poseidon2`: the one that the rollup used at the L2 block. */
  scheme: Scheme
  /** Whose state it is. */
  rollup: Rollup
  /** The L2 block: the last block of a finalization, if the bundle is to lead to L1. */
  l2BlockNumber: bigint
  /** The requested address, 20 bytes. */
  address: Hex
  /** The requested storage keys, 32 bytes each. Default: none. */
  storageKeys?: readonly Hex[]
  /** What `rollup_getProof` answered for the address and keys, at the L2 block. */
  answer: unknown
  /** The answers of a beacon API, for a verifier that trusts a beacon checkpoint. Only known fields are kept. */
  consensus?:
    | {
        /** A label for people. It proves nothing. */
        network?: string | undefined
        /** The bootstrap of the checkpoint. */
        bootstrap: unknown
        /** The committee updates, an array. */
        updates: unknown
        /** The finality update. */
        finality?: unknown
      }
    | undefined
  /** The answers of L1, for a verifier that trusts something other than an L2 state root. */
  l1?: {
    /** What `eth_getBlockByNumber` answered, for a verifier that does not trust an L1 state root. */
    block?: unknown
    /** What `eth_getProof` answered for the rollup contract and `anchorStorageKeys`, at the L1 block. */
    proof: unknown
    /** The finalized state with which the storage keys were computed, if any. */
    finalizedState?: FinalizedState | undefined
  }
}

/**
 * Puts a bundle together. This verifies nothing, so verify the bundle before you keep it.
 *
 * The bundle holds only known fields: the header of the L1 block, and the fields that `eth_getProof` and `rollup_getProof`
 * define. Hexadecimal fields hold nothing but hexadecimal. Anything else that an endpoint sent, such as the URL of the request,
 * is left out. If the answer is a whole JSON-RPC response, only its result is kept.
 *
 * @param parts what was requested, and the answers
 * @throws ProofError `CLAIM_INVALID`; what `encodeHeader` throws; `EVIDENCE_MALFORMED` if an answer is larger than any for that
 * many storage keys can be
 *
 * @example
 * ```ts
 * import { createEvidence, lineaMainnet } from 'rollup-state-proof/anchor'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createWorld } from 'rollup-state-proof/world'
 *
 * const address = '0x00000000000000000000000000000000000000aa'
 * const answer = createWorld(poseidon2).getProof(address)
 * const bundle = createEvidence({ scheme: poseidon2, rollup: lineaMainnet, l2BlockNumber: 436n, address, answer })
 * console.log(bundle.version, bundle.rollup.name, bundle.l2BlockNumber) // 1 linea-mainnet 0x1b4
 * ```
 */
export function createEvidence(parts: EvidenceParts): Evidence {
  const { scheme, rollup, l2BlockNumber, address, storageKeys = [], answer, consensus, l1 } = parts
  return {
    version: VERSION,
    scheme: verifyScheme(scheme).name,
    rollup: {
      ...(rollup.name !== undefined && { name: rollup.name }),
      address: bytesToHex(decodeArgument('rollup.address', rollup.address, 20)),
    },
    l2BlockNumber: quantity(verifyBlockNumber(l2BlockNumber)),
    ...(consensus && { consensus: spellConsensus(consensus) }),
    ...(l1 && {
      l1: {
        ...(l1.block !== undefined && { header: encodeHeader(l1.block) }),
        proof: understood('l1.proof', l1.proof, ETH_PROOF_SHAPE, 4),
        ...(l1.finalizedState !== undefined && { finalizedState: spellFinalizedState(l1.finalizedState) }),
      },
    }),
    request: {
      address: bytesToHex(decodeArgument('address', address, 20)),
      storageKeys: decodeKeys(storageKeys).map(bytesToHex),
    },
    answer: understood('answer', unwrapResponse(answer).result, ANSWER_SHAPE, storageKeys.length + 1),
  }
}

function spellFinalizedState(state: FinalizedState): NonNullable<NonNullable<Evidence['l1']>['finalizedState']> {
  const { messageNumber, forcedTransactionNumber, timestamp } = verifyFinalizedState(state)
  const forced = forcedTransactionNumber !== undefined && {
    forcedTransactionNumber: quantity(forcedTransactionNumber),
  }
  return { messageNumber: quantity(messageNumber), ...forced, timestamp: quantity(timestamp) }
}

const quantity = (value: bigint): Hex => `0x${value.toString(16)}`

function spellConsensus(source: unknown): Consensus {
  const { network, ...answers } = atPath('consensus', () => decodeConsensus(source))
  const { updates } = answers
  const count = reader.isArray(updates) ? Math.min(updates.length, MAX_UPDATES) : 0
  // Here numbers are decimal, and forks have names. The shape determines the fields.
  const known = understood('consensus', answers, CONSENSUS_SHAPE, count + 2, /^(0x[0-9a-f]*|\d{1,78}|[a-z]{1,32})$/i)
  return { ...(network !== undefined && { network }), ...(known as Omit<Consensus, 'network'>) }
}

const HEXADECIMAL = /^0x[0-9a-f]*$/i

/** In characters: more than the proof of one key on either layer takes, or a committee. */
const MAX_PROOF_LENGTH = 2 ** 17
/** The most that are verified. */
const MAX_UPDATES = 512

/** The known fields of a document with `proofCount` proofs. */
function understood(
  path: string,
  source: unknown,
  shape: Shape,
  proofCount: number,
  texts: RegExp = HEXADECIMAL,
): unknown {
  const limit = proofCount * MAX_PROOF_LENGTH
  let left = limit
  const admission: Admission = {
    charge(length) {
      left -= length
      if (left >= 0) return
      throw new ProofError('EVIDENCE_MALFORMED', { path, expected: `at most ${limit} characters`, found: 'more' })
    },
    admitText: text => (texts.test(text) ? text : null),
  }
  return pickKnown(source, shape, admission)
}
