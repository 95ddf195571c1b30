// Compiled by .ci/package-check against the packed tarball, with browser types and with Node's.
import { poseidon2 } from 'rollup-state-proof/poseidon2'
import { createClient, createHttpProvider, type Provider, RpcError, type RpcErrorCode } from 'rollup-state-proof/rpc'

const provider: Provider = createHttpProvider('http://127.0.0.1:8545', { signal: new AbortController().signal })
const client = createClient(provider, { method: 'linea_getProof' })

export async function nonce(): Promise<bigint | RpcErrorCode | null> {
  try {
    const claim = { scheme: poseidon2, stateRoot: '0x', address: '0x', block: 1n } as const
    const { account } = await client.getVerifiedState(claim)
    return account?.nonce ?? null
  } catch (error) {
    if (error instanceof RpcError) return error.code
    throw error
  }
}

// @ts-expect-error a block number is a bigint
client.getVerifiedState({ scheme: poseidon2, stateRoot: '0x', address: '0x', block: 1 })
