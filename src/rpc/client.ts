import { bytesToHex, type Hex } from '../bytes.ts'
import { ProofError } from '../errors.ts'
import { type Claim, decodeArgument } from '../proof/claim.ts'
import { type VerifiedState, verifyProof } from '../proof/verify.ts'
import { diagnose } from './diagnose.ts'
import { RpcError } from './error.ts'
import { callProvider, type Provider, parseQuantity, toQuantity } from './provider.ts'

/** The tags that the method defines; endpoints take some or none of them, so prefer a number. */
export type BlockTag = 'latest' | 'earliest' | 'pending' | 'finalized'

export interface ProofRequest {
  /** 20 bytes, any case. */
  address: Hex
  /** 32 bytes each. None when left out. */
  storageKeys?: readonly Hex[]
  /** An L2 block that L1 has finalized. */
  block: bigint | BlockTag
}

/** A {@link ProofRequest} with the root that you trust: that of the block, so the block is a number. */
export interface StateRequest extends Claim {
  block: bigint
}

export interface ClientOptions {
  /** `rollup_getProof` when left out. On the Linea networks it is `linea_getProof`. */
  method?: string
  /** More keys than this are asked for in several requests, one after the other. 100 when left out. */
  maxKeysPerRequest?: number
}

/** Asks an endpoint. Every function throws an RpcError when the conversation fails. */
export interface Client {
  /** The newest L2 block, which L1 has not finalized yet: see `eth_blockNumber`. */
  getBlockNumber(): Promise<bigint>
  /** What the endpoint says: not verified. @throws ProofError `CLAIM_INVALID` when the request itself is wrong */
  getProof(request: ProofRequest): Promise<unknown>
  /** {@link Client.getProof}, then `verifyProof`. @throws ProofError when what the endpoint says is not so */
  getVerifiedState(request: StateRequest): Promise<VerifiedState>
}

/**
 * A client over any EIP-1193 provider. It never sends a batch, for several providers refuse batches of this method.
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createClient } from 'rollup-state-proof/rpc'
 * import { createWorld } from 'rollup-state-proof/world'
 *
 * const world = createWorld(poseidon2)
 * const address = '0x00000000000000000000000000000000000000aa'
 * world.setAccount(address, { balance: 5n })
 *
 * // In earnest: createHttpProvider(url), a viem client, or the wallet in the browser.
 * const provider = { request: async () => world.getProof(address) }
 * const client = createClient(provider, { method: 'linea_getProof' })
 *
 * const stateRoot = world.stateRoot()
 * const { account } = await client.getVerifiedState({ scheme: poseidon2, stateRoot, address, block: 7n })
 * console.log(account?.balance) // 5n
 * ```
 */
export function createClient(provider: Provider, options: ClientOptions = {}): Client {
  const { method = 'rollup_getProof', maxKeysPerRequest = 100 } = options
  if (!Number.isSafeInteger(maxKeysPerRequest) || maxKeysPerRequest < 1) {
    throw new RpcError('ARGUMENT_INVALID', { found: 'maxKeysPerRequest is not a whole number from 1' })
  }

  async function getProof({ address, storageKeys = [], block }: ProofRequest): Promise<unknown> {
    const addressHex = bytesToHex(decodeArgument('address', address, 20))
    const keys = storageKeys.map((key, index) => bytesToHex(decodeArgument(`storageKeys[${index}]`, key, 32)))
    const ask = (piece: readonly Hex[]) => callProvider(provider, method, [addressHex, piece, encodeBlock(block)])
    if (keys.length <= maxKeysPerRequest) return ask(keys)

    const pieces: Piece[] = []
    for (let start = 0; start < keys.length; start += maxKeysPerRequest) {
      const piece = keys.slice(start, start + maxKeysPerRequest)
      pieces.push(readPiece(await ask(piece), piece.length))
      verifyAgreement(pieces)
    }
    return {
      accountProof: pieces[0]?.accountProof,
      storageProofs: pieces.flatMap(({ storageProofs }) => storageProofs),
    }
  }

  return {
    getBlockNumber: async () => parseQuantity(await callProvider(provider, 'eth_blockNumber', [])),
    getProof,
    async getVerifiedState({ block, ...claim }) {
      const { address, storageKeys = [] } = claim
      const answer = await getProof({ address, storageKeys, block })
      try {
        return verifyProof(answer, claim)
      } catch (error) {
        throw diagnose(error)
      }
    },
  }
}

function encodeBlock(block: bigint | BlockTag): string {
  if (typeof block !== 'bigint') return block
  if (block < 0n || block >= 1n << 64n) {
    throw new ProofError('CLAIM_INVALID', { path: 'block', expected: 'a tag, or a bigint from 0 to 2^64 - 1' })
  }
  return toQuantity(block)
}

/** The answer for some of the keys. */
interface Piece {
  readonly accountProof: unknown
  readonly storageProofs: readonly unknown[]
}

/** Only what joining needs: verifyProof is the judge of the rest. */
function readPiece(answer: unknown, keyCount: number): Piece {
  const { accountProof, storageProofs, storageHash, storageProof } = fieldsOf(answer)
  if (Array.isArray(accountProof) && (storageHash ?? storageProof) != null) throw new RpcError('ETH_PROOF_ANSWER')
  if (!Array.isArray(storageProofs) || ![0, keyCount].includes(storageProofs.length)) {
    throw new RpcError('ANSWER_MALFORMED', { found: `the storageProofs are not one for each of ${keyCount} keys` })
  }
  return { accountProof, storageProofs }
}

const fieldsOf = (answer: unknown): Readonly<Record<string, unknown>> =>
  typeof answer === 'object' && answer !== null ? { ...answer } : {}

/** One account proof has one storage root, so pieces that share it are of one state. The newest is compared. */
function verifyAgreement(pieces: readonly Piece[]): void {
  const [first, last] = [pieces[0], pieces.at(-1)]
  const isOneAccount = isDeepEqual(first?.accountProof, last?.accountProof)
  const areAllEmpty = first?.storageProofs.length === 0 && last?.storageProofs.length === 0
  const isNoneEmpty = first?.storageProofs.length !== 0 && last?.storageProofs.length !== 0
  if (!isOneAccount || !(areAllEmpty || isNoneEmpty)) throw new RpcError('PIECES_DISAGREE')
}

/** Of JSON values: the order of fields does not matter. */
function isDeepEqual(a: unknown, b: unknown, depth = 0): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  // An account proof is four levels deep.
  if (depth > 8 || Array.isArray(a) !== Array.isArray(b)) return false
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every(name => Object.hasOwn(b, name) && isDeepEqual(Reflect.get(a, name), Reflect.get(b, name), depth + 1))
  )
}
