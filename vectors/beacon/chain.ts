/**
 * Makes the answers of a beacon API for every fork. `@lodestar/types` provides and hashes states and bodies, and committees
 * sign with known keys. Nothing here is random.
 */
import { normalizeZ } from '@noble/curves/abstract/curve.js'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bytesToHex, concatBytes, hexToBytes } from '../../src/base/bytes.ts'
import { encodeKey } from '../../src/devnet/service/beacon-chain.ts'
import type { BeaconNetwork } from '../../src/entry/beacon.ts'
import type { Hex } from '../../src/entry/index.ts'
import { bytesFor } from '../vector.ts'
import { ssz, type TreeNode } from './lodestar.ts'
import type { ApiCommittee } from './vector.ts'

const { G1, longSignatures } = bls12_381
const CIPHERSUITE = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_'
const ORDER = G1.Point.Fn.ORDER

export type ForkName = 'capella' | 'deneb' | 'electra' | 'fulu' | 'gloas'
export const FORKS = ['capella', 'deneb', 'electra', 'fulu', 'gloas'] as const

/** A fork every ten periods of 256 epochs. */
export const network: BeaconNetwork = {
  name: 'vectors',
  genesisValidatorsRoot: bytesFor('genesis validators', 32),
  genesisTime: 1_700_000_000,
  forks: FORKS.map((name, index) => ({ name, version: `0x0${index + 3}00abcd`, epoch: 2560 * (index + 1) })),
}

/** The first period of each fork. */
export const firstPeriodOf = (fork: ForkName): number => 10 * (FORKS.indexOf(fork) + 1)

export interface Signers {
  readonly secrets: readonly bigint[]
  readonly keys: ApiCommittee
}

/**
 * Creates the keys of a committee. Their secrets are consecutive, so that each public key takes one addition.
 *
 * @param validators how many it is drawn from, with replacement; left out: each member is another one
 */
export function createCommittee(name: string, size = 512, validators?: number): Signers {
  const first = BigInt(bytesFor(`committee ${name}`, 31))
  let point = G1.Point.BASE.multiply(first)
  const points = Array.from({ length: validators ?? size }, () => {
    const current = point
    point = point.add(G1.Point.BASE)
    return current
  })
  // Normalized together, because an inversion takes as long as a hundred multiplications.
  const keys = normalizeZ(G1.Point, points).map(point => bytesToHex(encodeKey(point)))
  const memberAt = (index: number) =>
    validators === undefined ? index : Number(BigInt(bytesFor(`member ${index} of ${name}`, 4)) % BigInt(validators))
  const members = Array.from({ length: size }, (_, index) => memberAt(index))
  const secrets = members.map(member => first + BigInt(member))
  const aggregate_pubkey = bytesToHex(G1.Point.BASE.multiply(sum(secrets)).toBytes())
  return { secrets, keys: { pubkeys: members.map(member => keys[member] ?? '0x'), aggregate_pubkey } }
}

const sum = (secrets: readonly bigint[]): bigint => secrets.reduce((total, secret) => (total + secret) % ORDER, 0n)

/** The siblings on the path from a node to the root. */
function branchOf(root: TreeNode, generalizedIndex: bigint): Uint8Array[] {
  const branch: Uint8Array[] = []
  let node = root
  for (const bit of generalizedIndex.toString(2).slice(1)) {
    branch.unshift(bit === '1' ? node.left.root : node.right.root)
    node = bit === '1' ? node.right : node.left
  }
  return branch
}

const toValue = ({ pubkeys, aggregate_pubkey }: ApiCommittee) => ({
  pubkeys: pubkeys.map(key => hexToBytes(key, 48)),
  aggregatePubkey: hexToBytes(aggregate_pubkey, 48),
})

/** Starts again from empty states, so that new headers do not depend on earlier ones. */
export const forgetStates = (): void => states.clear()

const views = new WeakMap<ApiCommittee, unknown>()

/** The committee as part of a state. The view is reused because it caches the hashes of its 512 keys. */
function viewOf(committee: ApiCommittee): unknown {
  const view = views.get(committee) ?? ssz.altair.SyncCommittee.toViewDU(toValue(committee))
  views.set(committee, view)
  return view
}

export interface State {
  readonly current?: ApiCommittee
  readonly next?: ApiCommittee
  readonly finalizedRoot?: Uint8Array
  /** The hash of the L1 block in it. Default: derived from the slot. */
  readonly l1BlockHash?: Uint8Array
}

/** A header, its JSON, and branches in its state. */
export interface Made {
  readonly slot: number
  readonly root: Uint8Array
  readonly json: Record<string, unknown>
  readonly branches: Record<'current' | 'next' | 'finality', Hex[]>
}

const states = new Map<ForkName, ReturnType<typeof ssz.gloas.BeaconState.defaultViewDU>>()

/** Creates a block of the fork with a state that holds `contents`. */
export function createHeader(fork: ForkName, slot: number, contents: State = {}): Made {
  const { current, next, finalizedRoot, l1BlockHash } = contents
  const types = ssz[fork]
  // Reused, because creating a state takes a second. Fields that are not set keep earlier values, which do not matter.
  const state = states.get(fork) ?? types.BeaconState.defaultViewDU()
  states.set(fork, state)
  Object.assign(state, { slot })
  if (current) state.currentSyncCommittee = viewOf(current)
  if (next) state.nextSyncCommittee = viewOf(next)
  const root = finalizedRoot ?? new Uint8Array(32)
  state.finalizedCheckpoint = ssz.phase0.Checkpoint.toViewDU({ epoch: slot >> 5, root })
  state.commit()
  const indexOf = (...path: string[]) => types.BeaconState.getPathInfo(path).gindex
  const branch = (...path: string[]) => branchOf(state.node, indexOf(...path)).map(bytesToHex)

  const { bodyRoot, ...execution } = createBody(fork, slot, l1BlockHash)
  const beacon = {
    slot,
    proposerIndex: slot % 1000,
    parentRoot: hexToBytes(bytesFor(`parent ${slot}`, 32), 32),
    stateRoot: state.hashTreeRoot(),
    bodyRoot,
  }
  const header = { beacon, ...execution }
  return {
    slot,
    root: ssz.phase0.BeaconBlockHeader.hashTreeRoot(beacon),
    json: types.LightClientHeader.toJson(header),
    branches: {
      current: branch('currentSyncCommittee'),
      next: branch('nextSyncCommittee'),
      finality: branch('finalizedCheckpoint', 'root'),
    },
  }
}

function createBody(fork: ForkName, slot: number, l1BlockHash?: Uint8Array) {
  const bytes = (name: string, length = 32) => hexToBytes(bytesFor(`${name} ${slot}`, length), length)
  const blockHash = l1BlockHash ?? bytes('block')
  const { BeaconBlockBody: type } = ssz[fork]
  const body = type.defaultValue()
  if (fork === 'gloas') {
    // Bodies of this type have these fields.
    const bid = body.signedExecutionPayloadBid as { message: { parentBlockHash: Uint8Array } }
    bid.message.parentBlockHash = blockHash
    const view = type.toViewDU(body)
    const { gindex } = type.getPathInfo(['signedExecutionPayloadBid', 'message', 'parentBlockHash'])
    const executionBranch = branchOf(view.node, gindex)
    return { bodyRoot: view.hashTreeRoot(), executionBlockHash: blockHash, executionBranch }
  }
  const payload = Object.assign(body.executionPayload as { transactions: unknown; withdrawals: unknown }, {
    parentHash: bytes('parent block'),
    feeRecipient: bytes('fee recipient', 20),
    stateRoot: bytes('state'),
    receiptsRoot: bytes('receipts'),
    logsBloom: concatBytes(...Array.from({ length: 8 }, (_, index) => bytes(`bloom ${index}`))),
    prevRandao: bytes('randao'),
    blockNumber: slot + 5,
    gasLimit: 30_000_000,
    gasUsed: slot,
    timestamp: network.genesisTime + 12 * slot,
    extraData: bytes('extra', slot % 33),
    baseFeePerGas: BigInt(bytesFor(`base fee ${slot}`, 32)),
    blockHash,
    ...(fork !== 'capella' && { blobGasUsed: 131_072n, excessBlobGas: 2n ** 63n }),
  })
  const view = type.toViewDU(body)
  const execution = {
    ...payload,
    transactionsRoot: ssz.bellatrix.Transactions.hashTreeRoot(payload.transactions),
    withdrawalsRoot: ssz.capella.Withdrawals.hashTreeRoot(payload.withdrawals),
  }
  const executionBranch = branchOf(view.node, type.getPathInfo(['executionPayload']).gindex)
  return { bodyRoot: view.hashTreeRoot(), execution, executionBranch }
}

export interface Signing {
  /** The fork whose version is signed. */
  readonly fork: ForkName
  readonly slot: number
  /** The committee members that do not sign. Default: none. */
  readonly absent?: readonly number[]
  readonly genesisValidatorsRoot?: Hex
}

/** The message that the committee signs, computed with lodestar's types. */
function signingRootOf(objectRoot: Uint8Array, { fork, genesisValidatorsRoot }: Signing): Uint8Array {
  const version = network.forks.find(({ name }) => name === fork)?.version ?? '0x'
  const forkData = ssz.phase0.ForkData.hashTreeRoot({
    currentVersion: hexToBytes(version, 4),
    genesisValidatorsRoot: hexToBytes(genesisValidatorsRoot ?? network.genesisValidatorsRoot, 32),
  })
  const domain = concatBytes(Uint8Array.of(7, 0, 0, 0), forkData.subarray(0, 28))
  return ssz.phase0.SigningData.hashTreeRoot({ objectRoot, domain })
}

/** A cache, because most forgeries do not change the signature of the update. */
const signatures = new Map<string, Hex>()

function signatureOf(root: Uint8Array, scalar: bigint): Hex {
  const key = `${bytesToHex(root)} ${scalar}`
  const known = signatures.get(key)
  if (known !== undefined) return known
  const point = longSignatures.hash(root, new TextEncoder().encode(CIPHERSUITE)).multiply(scalar)
  const signature = bytesToHex(longSignatures.Signature.toBytes(point))
  signatures.set(key, signature)
  return signature
}

export function sign(header: Made, { secrets }: Pick<Signers, 'secrets'>, signing: Signing) {
  const absent = new Set(signing.absent)
  const bits = new Uint8Array(secrets.length / 8)
  for (const index of secrets.keys())
    if (!absent.has(index)) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7))
  const scalar = sum(secrets.filter((_, index) => !absent.has(index)))
  return {
    sync_aggregate: {
      sync_committee_bits: bytesToHex(bits),
      sync_committee_signature: signatureOf(signingRootOf(header.root, signing), scalar),
    },
    signature_slot: `${signing.slot}`,
  }
}
