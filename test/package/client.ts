// Compiled by .ci/package-check against the packed tarball, with browser types and with Node's.
import { poseidon2 } from 'rollup-state-proof/poseidon2'
import {
  createHttpProvider,
  createRollupClient,
  EndpointError,
  type EndpointErrorCode,
  type RequestProvider,
} from 'rollup-state-proof/rpc'

const provider: RequestProvider = createHttpProvider('http://127.0.0.1:8545', { signal: new AbortController().signal })
const client = createRollupClient(provider, { method: 'linea_getProof' })

export async function nonce(): Promise<bigint | EndpointErrorCode | null> {
  try {
    const claim = { scheme: poseidon2, stateRoot: '0x', address: '0x', l2BlockNumber: 1n } as const
    const { account } = await client.getVerifiedState(claim)
    return account?.nonce ?? null
  } catch (error) {
    if (error instanceof EndpointError) return error.code
    throw error
  }
}

// @ts-expect-error a block number is a bigint
client.getVerifiedState({ scheme: poseidon2, stateRoot: '0x', address: '0x', l2BlockNumber: 1 })
