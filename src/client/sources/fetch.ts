import { decodeArgument, invalid, readKeys } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { atPath, isProofError } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import { decodeKeys, readOptions, verifyUint, verifyWhole } from '../../base/options.ts'
import { type Rollup, readRollup } from '../../verify/anchor/rollup.ts'
import { type Claim, decodeClaim } from '../../verify/proof/claim.ts'
import type { Scheme } from '../../verify/scheme/scheme.ts'
import { type StateClaim, stateKind, verifyState } from '../../verify/state/kind.ts'
import type { StateOfKind, StateScheme } from '../../verify/state/types.ts'
import { diagnoseWith } from '../transport/diagnose.ts'
import { KEYS_PER_REQUEST } from '../transport/limits.ts'
import { verifySignal } from '../transport/options.ts'
import {
  admitAnswer,
  answerAdmission,
  joinAnswers,
  type PartialAnswer,
  readPartialAnswer,
  TREE_FORM,
  verifyAgreement,
} from '../transport/partial-answers.ts'
import { type AnyProvider, callProvider, parseQuantity } from '../transport/provider.ts'
import { redactorFor } from '../transport/redact.ts'
import { type Endpoint, type Endpoints, openEndpoints } from './endpoints.ts'
import type { Work } from './pool.ts'

/** The tags that the method defines. Endpoints accept some or none of them, so prefer a number. */
export type BlockTag = 'latest' | 'earliest' | 'pending' | 'finalized'

/** What to ask an endpoint for. */
export interface ProofRequest {
  /** 20 bytes, in upper or lower case. */
  address: Hex
  /** 32 bytes each. Default: none. */
  storageKeys?: readonly Hex[] | undefined
  /** A finalized L2 block. */
  l2BlockNumber: bigint | BlockTag
  /** Aborts the request. */
  signal?: AbortSignal | undefined
}

/** How to send requests. */
export interface RollupClientOptions {
  /** The JSON-RPC method that serves proofs. Default: that of `rollup` or, if it names none, `rollup_getProof`. */
  method?: string | undefined
  /** The rollup that the endpoint serves, such as `lineaRollup`. Only its `method` counts here. */
  rollup?: Rollup | undefined
  /** Storage keys per request. More are fetched in several requests, one after the other. Default: 100. */
  maxKeysPerRequest?: number | undefined
}

export interface ClientSettings {
  readonly method: string
  readonly maxKeysPerRequest: number
}

interface RequestOptions {
  /** Aborts the request. */
  signal?: AbortSignal | undefined
}

/** How to send requests, and what to do with the answers. */
export interface FetchOptions extends ClientSettings {
  /** With this, every answer is verified on arrival. Without it, nothing is verified. */
  trusted?:
    | {
        /** The kind of the state. */
        scheme: StateScheme
        /** The state root of the block, 32 bytes. */
        stateRoot: Hex
      }
    | undefined
  /** The kind of the state, without `trusted`. That of Ethereum is asked for with `eth_getProof`, whatever the `method`. */
  scheme?: StateScheme | undefined
  /** With `trusted`, called after every request but the last, with the number of keys whose answers are verified. */
  onKeys?: ((keyCount: number) => void) | undefined
  /** Aborts the fetch. */
  signal?: AbortSignal | undefined
}

/**
 * In as many requests as its keys need. Keeps only the fields that the method defines. With `trusted`, it returns exactly what was
 * verified. If an endpoint fails, the next continues with the keys that are left.
 */
export async function fetchAnswer(l2: Endpoints, request: ProofRequest, options: FetchOptions): Promise<unknown> {
  const wanted = decodeRequest(request)
  const { trusted, signal } = bare(options)
  // What nobody verifies has to be from one endpoint.
  if (!trusted) return l2.run((...at) => fetchParts(work => work(...at), wanted, options), signal)
  // Checked before any request, so that a wrong claim does not look like a fault of the answer.
  readStateClaim({ ...trusted, address: wanted.address, storageKeys: wanted.storageKeys })
  return fetchParts(work => l2.run(work, signal), wanted, options)
}

/** The answer, and what `verify` makes of it, from the first endpoint whose answer it accepts. */
export async function fetchVerified<T>(
  l2: Endpoints,
  request: ProofRequest,
  options: FetchOptions,
  verify: (answer: unknown) => T,
): Promise<{ answer: unknown; verified: T }> {
  const wanted = decodeRequest(request)
  return l2.run(async (provider, ...at) => {
    const answer = await fetchParts(work => work(provider, ...at), wanted, options)
    try {
      return { answer, verified: verify(answer) }
    } catch (error) {
      throw isProofError(error) ? diagnoseWith(redactorFor(provider), error) : error
    }
  }, bare(options).signal)
}

/** @throws ArgumentError */
function readStateClaim({ scheme, ...asked }: StateClaim): void {
  stateKind(scheme)
  decodeClaim(asked)
}

/** Without a prototype, so that nothing comes from a polluted Object.prototype. */
const bare = <T extends object>(options: T): T => Object.assign(Object.create(null), options)

type DecodedRequest = ReturnType<typeof decodeRequest>

/** Asks for some of the keys after the other. @param run does the work of each request with an endpoint */
async function fetchParts(
  run: (work: Work<AnyProvider, unknown>) => Promise<unknown>,
  { address, storageKeys, block }: DecodedRequest,
  options: FetchOptions,
): Promise<unknown> {
  const { method, maxKeysPerRequest: most, trusted, scheme = trusted?.scheme, onKeys } = bare(options)
  // A caller who asks for a method need not know the kind.
  const form = scheme === undefined ? TREE_FORM : stateKind(scheme)
  const ask = (keys: readonly Hex[]) =>
    run(async (provider, attempt) => {
      const redact = redactorFor(provider)
      const said = await callProvider(provider, form.method ?? method, [address, keys, block], attempt.signal)
      const answer = admitAnswer(said, answerAdmission(keys.length, redact), redact, form.shape)
      if (trusted) atPath('answer', () => verifyState(answer, { ...trusted, address, storageKeys: keys }))
      attempt.heard()
      return answer
    })

  if (storageKeys.length <= most) return ownFields(await ask(storageKeys))
  const parts: PartialAnswer[] = []
  for (let done = 0; done < storageKeys.length; done += most) {
    const keys = storageKeys.slice(done, done + most)
    parts.push(readPartialAnswer(await ask(keys), keys.length, form))
    // What is verified is of one state.
    if (!trusted) verifyAgreement(parts)
    else if (done + most < storageKeys.length) onKeys?.(done + most)
  }
  return joinAnswers(parts, form)
}

/**
 * Without the fields of `eth_getProof`, which nobody verifies beside those of the method. An answer in that format is passed on
 * as it is: it was asked for, or is refused as such.
 */
function ownFields(answer: unknown): unknown {
  const [accountProof, storageProofs] = ['accountProof', 'storageProofs'].map(name => readOwn(Object(answer), name))
  const isOwn = typeof accountProof === 'object' && accountProof !== null && !Array.isArray(accountProof)
  return isOwn ? { accountProof, storageProofs } : answer
}

/** A {@link ProofRequest} with the state root that you trust. The block is a number, because the root belongs to one block. */
export interface StateRequest<Keys extends readonly Hex[] = readonly Hex[], Kind extends StateScheme = Scheme>
  extends Omit<Claim<Keys>, 'scheme'> {
  /** The kind of the rollup's state at the block. */
  scheme: Kind
  /** The L2 block of `stateRoot`, which L1 has finalized. */
  l2BlockNumber: bigint
  /** Aborts the request. */
  signal?: AbortSignal | undefined
}

/** Sends requests to endpoints. Every function throws an EndpointError if a request fails. */
export interface RollupClient {
  /**
   * Returns the newest L2 block, from `eth_blockNumber`. L1 has not finalized it yet.
   *
   * @param options the `signal` aborts the request
   */
  getBlockNumber(options?: {
    /** Aborts the request. */
    signal?: AbortSignal | undefined
  }): Promise<bigint>
  /**
   * Returns the endpoint's answer, reduced to the fields that the method defines. It is not verified.
   *
   * @param request what to ask for
   * @throws ArgumentError if the request itself is wrong
   */
  getProof(request: ProofRequest): Promise<unknown>
  /**
   * {@link RollupClient.getProof}, then `verifyProof`. For an Ethereum state, `eth_getProof`, then `verifyEthProof`.
   *
   * @param request what to ask for, and the root that you trust
   * @throws ProofError if the answer does not verify
   */
  getVerifiedState<const Keys extends readonly Hex[] = [], Kind extends StateScheme = Scheme>(
    request: StateRequest<Keys, Kind>,
  ): Promise<StateOfKind<Keys, Kind>>
}

/**
 * A client over URLs, any EIP-1193 providers, or those of ethers. It never sends a batch, because several providers refuse
 * batches of this method. Of several endpoints, the next is asked if one fails or its answer does not verify.
 *
 * @param l2 one or more endpoints of the rollup
 * @param options the rollup or the method's name, and the number of keys per request
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createRollupClient } from 'rollup-state-proof/rpc'
 * import { createWorld } from 'rollup-state-proof-devnet'
 *
 * const world = createWorld(poseidon2)
 * const address = '0x00000000000000000000000000000000000000aa'
 * world.setAccount(address, { balance: 5n })
 *
 * // In production: a URL, a viem client, or the wallet in the browser.
 * const provider = { request: async () => world.getProof(address) }
 * const client = createRollupClient(provider, { method: 'linea_getProof' })
 *
 * const stateRoot = world.stateRoot()
 * const { account } = await client.getVerifiedState({ scheme: poseidon2, stateRoot, address, l2BlockNumber: 7n })
 * console.log(account?.balance) // 5n
 * ```
 */
export function createRollupClient(
  l2: Endpoint | readonly Endpoint[],
  options: RollupClientOptions = {},
): RollupClient {
  const endpoints = openEndpoints('l2', l2)
  const settings = verifyClientOptions(options)
  const how = ({ signal }: RequestOptions) => {
    verifySignal(signal)
    return { ...settings, signal }
  }
  return {
    async getBlockNumber(request = {}) {
      const { signal } = how(readOptions('', request, ['signal']))
      return endpoints.run(
        async (provider, attempt) => parseQuantity(await callProvider(provider, 'eth_blockNumber', [], attempt.signal)),
        signal,
      )
    },
    async getProof(request) {
      const { signal, ...wanted } = readOptions('', request, [...REQUEST_FIELDS, 'signal'])
      return fetchAnswer(endpoints, wanted, how({ signal }))
    },
    async getVerifiedState<const Keys extends readonly Hex[] = [], Kind extends StateScheme = Scheme>(
      request: StateRequest<Keys, Kind>,
    ) {
      const { l2BlockNumber, signal, ...asked } = readOptions('', request, STATE_FIELDS)
      const { address } = asked
      // A copy, because the caller may change the array before the answer is here.
      const storageKeys =
        asked.storageKeys && (readKeys(asked.storageKeys).map(({ text }) => text) as readonly Hex[] as Keys)
      const claim: StateClaim = { ...asked, storageKeys }
      verifyUint('l2BlockNumber', l2BlockNumber, 64)
      // Before any request, so that a wrong claim does not look like a fault of the answer.
      readStateClaim(claim)
      const wanted = { address, storageKeys, l2BlockNumber }
      const verify = (answer: unknown) => verifyState(answer, claim)
      const { verified } = await fetchVerified(endpoints, wanted, { ...how({ signal }), scheme: claim.scheme }, verify)
      // The kind is that of the claim, and there is one slot per key.
      return verified as StateOfKind<Keys, Kind>
    },
  }
}

/** Adds the defaults. @throws ArgumentError */
export function verifyClientOptions(options: RollupClientOptions): ClientSettings {
  const own = readOptions('', options, ['method', 'rollup', 'maxKeysPerRequest'])
  const rollup = own.rollup === undefined ? undefined : readRollup(own.rollup)
  const { method = rollup?.method ?? 'rollup_getProof', maxKeysPerRequest = KEYS_PER_REQUEST } = own
  if (typeof method !== 'string' || method === '') throw invalid('method', 'the name of a method', method)
  verifyWhole('maxKeysPerRequest', maxKeysPerRequest, 1)
  return { method, maxKeysPerRequest }
}

const REQUEST_FIELDS = ['address', 'storageKeys', 'l2BlockNumber']
const STATE_FIELDS = [...REQUEST_FIELDS, 'scheme', 'stateRoot', 'signal']

function decodeRequest(request: ProofRequest) {
  const { address, storageKeys = [], l2BlockNumber } = readOptions('', request, REQUEST_FIELDS)
  return {
    address: bytesToHex(decodeArgument('address', address, 20)),
    storageKeys: decodeKeys(storageKeys).map(bytesToHex),
    block: encodeBlock(l2BlockNumber),
  }
}

const TAGS: readonly unknown[] = ['latest', 'earliest', 'pending', 'finalized'] satisfies BlockTag[]

function encodeBlock(block: bigint | BlockTag): string {
  if (typeof block === 'bigint' && block >= 0n && block < 1n << 64n) return encodeQuantity(block)
  if (typeof block === 'string' && TAGS.includes(block)) return block
  throw invalid('l2BlockNumber', `a bigint from 0 to 2^64 - 1, such as 3n, or one of ${TAGS.join(', ')}`, block)
}
