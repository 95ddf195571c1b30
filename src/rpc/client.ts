import type { Claim } from '../proof/claim.ts'
import type { VerifiedState } from '../proof/verify.ts'
import { verifyProof } from '../verifier/verify-proof.ts'
import { diagnoseWith } from './diagnose.ts'
import { type ClientOptions, fetchAnswer, type ProofRequest, REQUEST_FIELDS, verifyClientOptions } from './fetch.ts'
import { readOptions } from './options.ts'
import { callProvider, type Provider, parseQuantity, type SendProvider, verifyProvider } from './provider.ts'
import { redactorFor } from './redact.ts'

/** A {@link ProofRequest} with the state root that you trust. The block is a number, because the root belongs to one block. */
export interface StateRequest extends Claim {
  /** The L2 block of `stateRoot`, which L1 has finalized. */
  block: bigint
}

/** Sends requests to an endpoint. Every function throws an RpcError if a request fails. */
export interface Client {
  /** Returns the newest L2 block, from `eth_blockNumber`. L1 has not finalized it yet. */
  getBlockNumber(): Promise<bigint>
  /**
   * Returns the endpoint's answer, reduced to the fields that the method defines. It is not verified.
   *
   * @param request what to ask for
   * @throws ProofError `CLAIM_INVALID` if the request itself is wrong
   */
  getProof(request: ProofRequest): Promise<unknown>
  /**
   * {@link Client.getProof}, then `verifyProof`.
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
 * @throws RpcError `ARGUMENT_INVALID`
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
 * // In production: createHttpProvider(url), a viem client, or the wallet in the browser.
 * const provider = { request: async () => world.getProof(address) }
 * const client = createClient(provider, { method: 'linea_getProof' })
 *
 * const stateRoot = world.stateRoot()
 * const { account } = await client.getVerifiedState({ scheme: poseidon2, stateRoot, address, block: 7n })
 * console.log(account?.balance) // 5n
 * ```
 */
export function createClient(provider: Provider | SendProvider, options: ClientOptions = {}): Client {
  verifyProvider(provider)
  const own = verifyClientOptions(options)
  const getProof = async (request: ProofRequest) => fetchAnswer(provider, request, { ...own })
  return {
    getBlockNumber: async () => parseQuantity(await callProvider(provider, 'eth_blockNumber', [])),
    getProof,
    async getVerifiedState(request) {
      const { block, ...claim } = readOptions('request', request, REQUEST_FIELDS)
      const { address, storageKeys = [] } = claim
      const answer = await getProof({ address, storageKeys, block })
      try {
        return verifyProof(answer, claim)
      } catch (error) {
        throw diagnoseWith(redactorFor(provider), error)
      }
    },
  }
}
