import { decodeArgument, invalid, readKeys, type StorageKey } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { atPath, own } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import { readOptions, verifyUint, verifyWhole } from '../../base/options.ts'
import { type Rollup, readRollup } from '../../verify/anchor/rollup.ts'
import type { Claim } from '../../verify/proof/claim.ts'
import type { Scheme } from '../../verify/scheme/scheme.ts'
import {
  type AnyState,
  type StateClaim,
  type StateKind,
  type StateOfKind,
  type StateScheme,
  type StateVerifier,
  stateKind,
} from '../../verify/state/kind.ts'
import { admitAnswer, answerLimit } from '../transport/admission.ts'
import { KEYS_PER_REQUEST } from '../transport/limits.ts'
import { verifySignal } from '../transport/waiting.ts'
import { type Endpoint, type Endpoints, openEndpoints } from './endpoints.ts'

/** How to send requests. */
export interface RollupClientOptions {
  /** The JSON-RPC method that serves proofs. Default: that of `rollup` or, if it names none, `rollup_getProof`. */
  method?: string | undefined
  /** The rollup that the endpoint serves, such as `lineaRollup`. Only its `method` counts here. */
  rollup?: Rollup | undefined
  /** Storage keys per request. More are fetched in several requests, one after the other. Default: 100. */
  maxKeysPerRequest?: number | undefined
}

/** What to ask for at a block whose state root is trusted. */
export interface WantedState extends StateClaim {
  readonly l2BlockNumber: bigint
}

export interface FetchSettings {
  readonly method: string
  readonly maxKeysPerRequest: number
  readonly signal: AbortSignal | undefined
  /** Default: that of the kind, which remembers nothing. */
  readonly verify?: StateVerifier
}

export interface FetchedState {
  /** The fields of the method, as the endpoints sent them, and nothing that is not verified. */
  readonly answer: unknown
  readonly state: AnyState
}

/**
 * In as many requests as its keys need. Every answer is verified on arrival. If an endpoint fails, the next continues with the keys
 * that are left. That of Ethereum is asked for with `eth_getProof`, whatever the `method`.
 *
 * @throws ArgumentError for a wrong claim, before any request, so that it does not look like a fault of the answer
 */
export async function fetchState(l2: Endpoints, wanted: WantedState, settings: FetchSettings): Promise<FetchedState> {
  const kind = stateKind(wanted.scheme)
  const { method, maxKeysPerRequest: most, signal, verify = kind.verify } = own(settings)
  const { l2BlockNumber } = wanted
  const stateRoot = bytesToHex(decodeArgument('stateRoot', wanted.stateRoot, 32))
  const address = bytesToHex(decodeArgument('address', wanted.address, 20))
  const keys = readKeys(wanted.storageKeys ?? [])
  verifyUint('l2BlockNumber', l2BlockNumber, 64)

  const ask = (some: readonly StorageKey[]) =>
    l2.run(async (provider, attempt) => {
      const params = [address, some.map(({ bytes }) => bytesToHex(bytes)), encodeQuantity(l2BlockNumber)]
      const sent = await provider.call(kind.method ?? method, params, attempt.signal)
      const answer = admitAnswer(sent, answerLimit(some.length), provider.redact, kind.shape)
      const storageKeys = some.map(({ text }) => text)
      return { answer, state: atPath('answer', () => verify(answer, { stateRoot, address, storageKeys })) }
    }, signal)

  const parts = [await ask(keys.slice(0, most))]
  for (let done = most; done < keys.length; done += most) {
    parts.push(await ask(keys.slice(done, done + most)))
  }
  return joined(parts, kind)
}

/** What is verified under one root is of one state. */
function joined(parts: readonly FetchedState[], { slots }: StateKind): FetchedState {
  const [first] = parts.map(({ answer }) => Object(answer))
  const proofs = parts.flatMap(({ answer }) => readOwn(Object(answer), slots))
  // Beside the fields of the tree's method, those of `eth_getProof` are not verified.
  const fields = slots === 'storageProofs' ? { accountProof: first.accountProof } : first
  const storage = parts.flatMap(({ state }): object[] => state.storage)
  // All parts are of one kind.
  const state = { ...parts[0]?.state, storage } as AnyState
  return { answer: { ...fields, [slots]: proofs }, state }
}

/** A claim about a state, without the answer. The block is a number, because the root belongs to one block. */
export interface StateRequest<Keys extends readonly Hex[] = readonly Hex[], Kind extends StateScheme = Scheme>
  extends Omit<Claim<Keys>, 'scheme'> {
  /** The kind of the rollup's state at the block. */
  scheme: Kind
  /** The L2 block of `stateRoot`, which L1 has finalized. */
  l2BlockNumber: bigint
  /** Aborts the request. */
  signal?: AbortSignal | undefined
}

/** Sends requests to endpoints. */
export interface RollupClient {
  /**
   * Asks for the proof of an account and its slots, with the method of the rollup, and verifies the answer like `verifyProof`. For
   * an Ethereum state: with `eth_getProof`, and like `verifyEthProof`.
   *
   * @param request what to ask for, and the root that you trust
   * @throws EndpointError if the request fails, ProofError if the answer does not verify, ArgumentError
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
  return {
    async getVerifiedState<const Keys extends readonly Hex[] = [], Kind extends StateScheme = Scheme>(
      request: StateRequest<Keys, Kind>,
    ) {
      const { signal, ...wanted } = readOptions('', request, STATE_FIELDS)
      verifySignal(signal)
      const { state } = await fetchState(endpoints, wanted, { ...settings, signal })
      // The kind is that of the claim, and there is one slot per key.
      return state as StateOfKind<Keys, Kind>
    },
  }
}

const STATE_FIELDS = ['address', 'storageKeys', 'l2BlockNumber', 'scheme', 'stateRoot', 'signal']

/** Adds the defaults. @throws ArgumentError */
export function verifyClientOptions(options: RollupClientOptions): Omit<FetchSettings, 'signal' | 'verify'> {
  const own = readOptions('', options, ['method', 'rollup', 'maxKeysPerRequest'])
  const rollup = own.rollup === undefined ? undefined : readRollup(own.rollup)
  const { method = rollup?.method ?? 'rollup_getProof', maxKeysPerRequest = KEYS_PER_REQUEST } = own
  if (typeof method !== 'string' || method === '') throw invalid('method', 'the name of a method', method)
  verifyWhole('maxKeysPerRequest', maxKeysPerRequest, 1)
  return { method, maxKeysPerRequest }
}
