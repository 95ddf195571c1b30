import { decodeArgument, decodeKeys, invalid, readOptions } from '../arguments.ts'
import { bytesToHex, type Hex } from '../bytes.ts'
import { ArgumentError, atPath, excerpt, isProofError } from '../errors.ts'
import { encodeQuantity } from '../hex.ts'
import { type Claim, decodeClaim } from '../proof/claim.ts'
import type { VerifiedState } from '../proof/verify.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { verifyProof } from '../verifier/verify-proof.ts'
import { diagnoseWith, redactError } from './diagnose.ts'
import { verifyFunction, verifySignal, verifyWhole } from './options.ts'
import {
  admitAnswer,
  answerAdmission,
  type FetchProgress,
  readFetched,
  readPartialAnswer,
  verifyAgreement,
} from './partial-answers.ts'
import { callProvider, parseQuantity, type RequestProvider, type SendProvider, verifyProvider } from './provider.ts'
import { redactorFor } from './redact.ts'

/** The tags that the method defines. Endpoints accept some or none of them, so prefer a number. */
export type BlockTag = 'latest' | 'earliest' | 'pending' | 'finalized'

/** What to ask an endpoint for. */
export interface ProofRequest {
  /** 20 bytes, in upper or lower case. */
  address: Hex
  /** 32 bytes each. Default: none. */
  storageKeys?: readonly Hex[]
  /** A finalized L2 block. */
  l2BlockNumber: bigint | BlockTag
}

/** How to send requests. */
export interface RollupClientOptions {
  /** Default: `rollup_getProof`. On the Linea networks it is `linea_getProof`. */
  method?: string
  /** Storage keys per request. More are fetched in several requests, one after the other. Default: 100. */
  maxKeysPerRequest?: number
}

/** How to send requests, and what to do with the answers. */
export interface FetchOptions extends RollupClientOptions {
  /** With this, every answer is verified on arrival. Without it, nothing is verified. */
  trusted?:
    | {
        /** `mimc` or `poseidon2`. */
        scheme: Scheme
        /** The state root of the block, 32 bytes. */
        stateRoot: Hex
      }
    | undefined
  /**
   * The last checkpoint that `onProgress` received. Parts for another request, or that do not verify, are fetched again; the
   * last key is always fetched again.
   */
  resumeFrom?: unknown
  /**
   * Called after every request but the last, with the answers so far and the number of their keys. Not called for a block tag,
   * because its block changes.
   */
  onProgress?: ((checkpoint: FetchProgress, keyCount: number) => void) | undefined
  /** Aborts the fetch. */
  signal?: AbortSignal | undefined
}

/**
 * Fetches the answer to a proof request, in as many requests as its keys need. Keeps only the fields that the method defines.
 * With `trusted`, it returns exactly what was verified.
 *
 * @param provider provider of the rollup
 * @param request what to ask for
 * @param options how to send requests; with `trusted`, the answers are verified
 * @throws EndpointError if a request fails; `ARGUMENT_INVALID` if an option is wrong or unknown. ArgumentError if the
 * request itself is wrong and, with `trusted`, what `verifyProof` throws
 *
 * @example
 * ```ts
 * import { verifyProof } from 'rollup-state-proof'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { fetchAnswer } from 'rollup-state-proof/rpc'
 * import { demoWorld } from 'rollup-state-proof/service/demo'
 *
 * const world = demoWorld(poseidon2)
 * const address = `0x${'a1'.repeat(20)}` as const
 * const provider = { request: async () => world.getProof(address) } // in production: createHttpProvider(url)
 * const answer = await fetchAnswer(provider, { address, block: 0n })
 * const { account } = verifyProof(answer, { scheme: poseidon2, stateRoot: world.stateRoot(), address })
 * console.log(account?.nonce) // 7n
 * ```
 */
export async function fetchAnswer(
  provider: RequestProvider | SendProvider,
  request: ProofRequest,
  options: FetchOptions = {},
): Promise<unknown> {
  verifyProvider(provider)
  const { method, maxKeysPerRequest, trusted, resumeFrom, onProgress, signal } = verifyFetchOptions(options)
  const { address, storageKeys, block, isFixed } = decodeRequest(request)
  // Checked before any request, so that a wrong claim does not look like a fault of the answer.
  if (trusted) decodeClaim({ ...trusted, address, storageKeys })
  const redact = redactorFor(provider)
  const admission = () =>
    answerAdmission(storageKeys.length, Math.ceil(storageKeys.length / maxKeysPerRequest) + 1, redact)

  const verify = (answer: unknown, keys: readonly Hex[]) => {
    try {
      if (trusted) atPath('answer', () => verifyProof(answer, { ...trusted, address, storageKeys: keys }))
    } catch (error) {
      throw isProofError(error) ? redactError(error, redact) : error
    }
  }
  const all = admission()
  const ask = async (keys: readonly Hex[]) => {
    const answer = admitAnswer(await callProvider(provider, method, [address, keys, block], signal), all, redact)
    verify(answer, keys)
    return answer
  }

  const owner = { address, storageKeys, l2BlockNumber: block }
  const answers = isFixed ? readFetched(resumeFrom, owner, admission(), redact, verify) : []
  const readCount = answers.length
  let done = answers.reduce((sum, { keyCount }) => sum + keyCount, 0)
  if (readCount === 0 && storageKeys.length <= maxKeysPerRequest) return ask(storageKeys)
  while (done < storageKeys.length) {
    const keys = storageKeys.slice(done, done + maxKeysPerRequest)
    answers.push(readPartialAnswer(await ask(keys), keys.length))
    try {
      verifyAgreement(answers)
    } catch (error) {
      // The new answer counts, not the checkpoint: start over without it.
      if (readCount > 0) return fetchAnswer(provider, request, { ...options, resumeFrom: undefined })
      throw error
    }
    done += keys.length
    if (done < storageKeys.length && isFixed) {
      const partialAnswers = answers.map(({ keyCount, ...answer }) => ({ keyCount, answer }))
      onProgress?.({ ...owner, partialAnswers }, done)
    }
  }
  return { accountProof: answers[0]?.accountProof, storageProofs: answers.flatMap(answer => answer.storageProofs) }
}

/** A {@link ProofRequest} with the state root that you trust. The block is a number, because the root belongs to one block. */
export interface StateRequest extends Claim {
  /** The L2 block of `stateRoot`, which L1 has finalized. */
  l2BlockNumber: bigint
}

/** Sends requests to an endpoint. Every function throws an EndpointError if a request fails. */
export interface RollupClient {
  /** Returns the newest L2 block, from `eth_blockNumber`. L1 has not finalized it yet. */
  getBlockNumber(): Promise<bigint>
  /**
   * Returns the endpoint's answer, reduced to the fields that the method defines. It is not verified.
   *
   * @param request what to ask for
   * @throws ArgumentError if the request itself is wrong
   */
  getProof(request: ProofRequest): Promise<unknown>
  /**
   * {@link RollupClient.getProof}, then `verifyProof`.
   *
   * @param request what to ask for, and the root that you trust
   * @throws ProofError if the answer does not verify
   */
  getVerifiedState(request: StateRequest): Promise<VerifiedState>
}

/**
 * A client over any EIP-1193 provider, or one of ethers. It never sends a batch, because several providers refuse batches of
 * this method.
 *
 * @param provider an EIP-1193 provider, or a `JsonRpcProvider` of ethers
 * @param options the method's name, and the number of keys per request
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createRollupClient } from 'rollup-state-proof/rpc'
 * import { createWorld } from 'rollup-state-proof/world'
 *
 * const world = createWorld(poseidon2)
 * const address = '0x00000000000000000000000000000000000000aa'
 * world.setAccount(address, { balance: 5n })
 *
 * // In production: createHttpProvider(url), a viem client, or the wallet in the browser.
 * const provider = { request: async () => world.getProof(address) }
 * const client = createRollupClient(provider, { method: 'linea_getProof' })
 *
 * const stateRoot = world.stateRoot()
 * const { account } = await client.getVerifiedState({ scheme: poseidon2, stateRoot, address, block: 7n })
 * console.log(account?.balance) // 5n
 * ```
 */
export function createRollupClient(
  provider: RequestProvider | SendProvider,
  options: RollupClientOptions = {},
): RollupClient {
  verifyProvider(provider)
  const own = verifyClientOptions(options)
  const getProof = async (request: ProofRequest) => fetchAnswer(provider, request, { ...own })
  return {
    getBlockNumber: async () => parseQuantity(await callProvider(provider, 'eth_blockNumber', [])),
    getProof,
    async getVerifiedState(request) {
      const { l2BlockNumber, ...claim } = readOptions('', request, REQUEST_FIELDS)
      const { address, storageKeys = [] } = claim
      const answer = await getProof({ address, storageKeys, l2BlockNumber })
      try {
        return verifyProof(answer, claim)
      } catch (error) {
        throw diagnoseWith(redactorFor(provider), error)
      }
    },
  }
}

/** Adds the defaults. @param more the names of further options @throws ArgumentError */
export function verifyClientOptions<T extends RollupClientOptions>(
  options: T,
  more: readonly string[] = [],
): T & Required<RollupClientOptions> {
  const own = readOptions('', options, ['method', 'maxKeysPerRequest', ...more])
  const { method = 'rollup_getProof', maxKeysPerRequest = 100 } = own
  if (typeof method !== 'string' || method === '') throw invalid('method', 'the name of a method', method)
  verifyWhole('maxKeysPerRequest', maxKeysPerRequest, 1)
  // Not a new object, which would inherit from Object.prototype.
  return Object.assign(own, { method, maxKeysPerRequest })
}

function verifyFetchOptions(options: FetchOptions): FetchOptions & Required<RollupClientOptions> {
  const own = verifyClientOptions(options, ['trusted', 'resumeFrom', 'onProgress', 'signal'])
  if (own.trusted !== undefined) readOptions('trusted', own.trusted, ['scheme', 'stateRoot'])
  verifyFunction('onProgress', own.onProgress)
  verifySignal(own.signal)
  return own
}

/** Includes the fields of a StateRequest, which any function that requests a proof accepts. */
const REQUEST_FIELDS = ['address', 'storageKeys', 'l2BlockNumber', 'scheme', 'stateRoot']

function decodeRequest(request: ProofRequest) {
  const { address, storageKeys = [], l2BlockNumber } = readOptions('', request, REQUEST_FIELDS)
  return {
    address: bytesToHex(decodeArgument('address', address, 20)),
    storageKeys: decodeKeys(storageKeys).map(bytesToHex),
    block: encodeBlock(l2BlockNumber),
    isFixed: typeof l2BlockNumber === 'bigint',
  }
}

const TAGS: readonly unknown[] = ['latest', 'earliest', 'pending', 'finalized'] satisfies BlockTag[]

function encodeBlock(block: bigint | BlockTag): string {
  if (typeof block === 'bigint' && block >= 0n && block < 1n << 64n) return encodeQuantity(block)
  if (typeof block === 'string' && TAGS.includes(block)) return block
  const found =
    typeof block === 'string'
      ? excerpt(block)
      : typeof block === 'number' || typeof block === 'bigint'
        ? `the ${typeof block} ${block}`
        : `a value of type ${typeof block}`
  const expected = `a bigint from 0 to 2^64 - 1, such as 3n, or one of ${TAGS.join(', ')}`
  throw new ArgumentError({ path: 'l2BlockNumber', expected, found })
}
