// Compiled by .ci/package-check against the packed tarball, with browser types and with Node's.

import type { Rollup } from 'rollup-state-proof/anchor'
import { poseidon2 } from 'rollup-state-proof/poseidon2'
import { createVerifiedProvider, isProviderError } from 'rollup-state-proof/provider'
import {
  createHttpProvider,
  createRollupClient,
  type EndpointErrorCode,
  finalizedBlockHash,
  isEndpointError,
  type RequestProvider,
} from 'rollup-state-proof/rpc'

const { signal } = new AbortController()
const l2: RequestProvider = createHttpProvider('http://127.0.0.1:8545', { signal })
const client = createRollupClient(l2, { method: 'linea_getProof' })

export async function nonce(): Promise<bigint | EndpointErrorCode | null> {
  try {
    const claim = { scheme: poseidon2, stateRoot: '0x', address: '0x', l2BlockNumber: 1n, signal } as const
    const { account } = await client.getVerifiedState(claim)
    return account?.nonce ?? null
  } catch (error) {
    if (isEndpointError(error)) return error.code
    throw error
  }
}

const l1 = ['http://127.0.0.1:1', new URL('http://127.0.0.1:2')]
const rollup: Rollup = { address: '0x', chainId: 1337 }
const provider = createVerifiedProvider({
  l1,
  l2,
  network: { rollup, scheme: poseidon2 },
  l1BlockHash: finalizedBlockHash(l1),
})

export const reason = (error: unknown): string => (isProviderError(error) ? error.reason : '')
export const age = async (): Promise<number> => (await provider.view()).ageSeconds

// @ts-expect-error a block number is a bigint
client.getVerifiedState({ scheme: poseidon2, stateRoot: '0x', address: '0x', l2BlockNumber: 1 })
