import { bytesToHex, type Hex } from '../bytes.ts'
import { atPath, ProofError } from '../errors.ts'
import { decodeArgument, decodeClaim, decodeKeys } from '../proof/claim.ts'
import { verifyProof } from '../proof/verify.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { RpcError } from './error.ts'
import { joinPieces, type Piece, readPiece, verifyAgreement } from './pieces.ts'
import { callProvider, type Provider, toQuantity } from './provider.ts'

/** The tags that the method defines; endpoints take some or none of them, so prefer a number. */
export type BlockTag = 'latest' | 'earliest' | 'pending' | 'finalized'

/** What to ask an endpoint for. */
export interface ProofRequest {
  /** 20 bytes, any case. */
  address: Hex
  /** 32 bytes each. None when left out. */
  storageKeys?: readonly Hex[]
  /** An L2 block that L1 has finalized. */
  block: bigint | BlockTag
}

/** How to ask. */
export interface ClientOptions {
  /** `rollup_getProof` when left out. On the Linea networks it is `linea_getProof`. */
  method?: string
  /** More keys than this are asked for in several requests, one after the other. 100 when left out. */
  maxKeysPerRequest?: number
}

/** The answers for the first of the keys, to go on from later. JSON. */
export interface KeptAnswer {
  /** A quantity. */
  block: string
  /** 20 bytes. */
  address: Hex
  /** All that are asked for, 32 bytes each. */
  storageKeys: readonly Hex[]
  /** One a request that was answered, in order. */
  pieces: readonly {
    /** Of how many of the keys. */
    keyCount: number
    /** What the endpoint said. */
    answer: unknown
  }[]
}

/** How to ask, and what to do with what comes. */
export interface FetchOptions extends ClientOptions {
  /** With this, every piece is verified when it comes. Without, nothing is. */
  trusted?:
    | {
        /** `mimc` or `poseidon2`. */
        scheme: Scheme
        /** Of the block, 32 bytes. */
        stateRoot: Hex
      }
    | undefined
  /** What an earlier call handed to `onKept`. What is not for this request, or does not verify, is asked for again. */
  kept?: unknown
  /** Told after every request but the last what there is, and of how many keys. Not for a tag: it moves on. */
  onKept?: ((kept: KeptAnswer, keyCount: number) => void) | undefined
  /** Ends the waiting. */
  signal?: AbortSignal | undefined
}

/**
 * What the endpoint answers for a request, in as many requests as the keys take.
 *
 * @param provider of the rollup's endpoint
 * @param request what to ask for
 * @param options how; with `trusted` what comes is verified
 * @throws RpcError when the conversation fails; ProofError `CLAIM_INVALID` when the request itself is wrong, and with
 * `trusted` what `verifyProof` throws
 *
 * @example
 * ```ts
 * import { verifyProof } from 'rollup-state-proof'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { fetchAnswer } from 'rollup-state-proof/rpc'
 * import { demoWorld } from 'rollup-state-proof/service'
 *
 * const world = demoWorld(poseidon2)
 * const address = `0x${'a1'.repeat(20)}` as const
 * const provider = { request: async () => world.getProof(address) } // in earnest: createHttpProvider(url)
 * const answer = await fetchAnswer(provider, { address, block: 0n })
 * const { account } = verifyProof(answer, { scheme: poseidon2, stateRoot: world.stateRoot(), address })
 * console.log(account?.nonce) // 7n
 * ```
 */
export async function fetchAnswer(
  provider: Provider,
  request: ProofRequest,
  options: FetchOptions = {},
): Promise<unknown> {
  const { method = 'rollup_getProof', trusted, kept, onKept, signal } = options
  const maxKeysPerRequest = verifyOptions(options)
  const address = bytesToHex(decodeArgument('address', request.address, 20))
  const storageKeys = decodeKeys(request.storageKeys ?? []).map(bytesToHex)
  const block = encodeBlock(request.block)
  // Before anybody is asked, and not as a mistake in the answer.
  if (trusted) decodeClaim({ ...trusted, address, storageKeys })
  const verify = (answer: unknown, keys: readonly Hex[]) => {
    if (trusted) atPath('answer', () => verifyProof(answer, { ...trusted, address, storageKeys: keys }))
  }
  const ask = async (keys: readonly Hex[]) => {
    const answer = await callProvider(provider, method, [address, keys, block], signal)
    verify(answer, keys)
    return answer
  }

  const isFixed = typeof request.block === 'bigint'
  const pieces = isFixed ? readKept(kept, { block, address, storageKeys }, verify) : []
  const keptCount = pieces.length
  let done = pieces.reduce((sum, { keyCount }) => sum + keyCount, 0)
  if (keptCount === 0 && storageKeys.length <= maxKeysPerRequest) return ask(storageKeys)
  while (done < storageKeys.length) {
    const keys = storageKeys.slice(done, done + maxKeysPerRequest)
    pieces.push(readPiece(await ask(keys), keys.length))
    try {
      verifyAgreement(pieces)
    } catch (error) {
      // What came just now counts, not what was kept.
      if (keptCount > 0) return fetchAnswer(provider, request, { ...options, kept: undefined })
      throw error
    }
    done += keys.length
    if (done < storageKeys.length && isFixed) {
      onKept?.({ block, address, storageKeys, pieces: pieces.map(keepPiece) }, done)
    }
  }
  return joinPieces(pieces)
}

const keepPiece = ({ keyCount, ...answer }: Piece) => ({ keyCount, answer })

/** The pieces that can be used again, from the first: none when it is for another request. They may be of anybody. */
function readKept(
  kept: unknown,
  request: Omit<KeptAnswer, 'pieces'>,
  verify: (answer: unknown, keys: readonly Hex[]) => void,
): Piece[] {
  const pieces: Piece[] = []
  try {
    // Whatever it is: what is not so throws, and ends the reading.
    const { block, address, storageKeys, pieces: parts } = kept as KeptAnswer
    if (JSON.stringify({ block, address, storageKeys }) !== JSON.stringify(request)) return []
    let done = 0
    for (const { keyCount, answer } of parts) {
      const keys = storageKeys.slice(done, done + keyCount)
      if (!(keyCount > 0) || keys.length !== keyCount) break
      verify(answer, keys)
      const next = [...pieces, readPiece(answer, keyCount)]
      verifyAgreement(next)
      pieces.push(...next.slice(-1))
      done += keyCount
    }
  } catch {
    // It is asked for again.
  }
  return pieces
}

/** @returns how many keys a request takes. @throws RpcError `ARGUMENT_INVALID` */
export function verifyOptions({ maxKeysPerRequest = 100 }: ClientOptions): number {
  if (Number.isSafeInteger(maxKeysPerRequest) && maxKeysPerRequest >= 1) return maxKeysPerRequest
  throw new RpcError('ARGUMENT_INVALID', { found: 'maxKeysPerRequest is not a whole number from 1' })
}

function encodeBlock(block: bigint | BlockTag): string {
  if (typeof block !== 'bigint') return block
  if (block < 0n || block >= 1n << 64n) {
    throw new ProofError('CLAIM_INVALID', { path: 'block', expected: 'a tag, or a bigint from 0 to 2^64 - 1' })
  }
  return toQuantity(block)
}
