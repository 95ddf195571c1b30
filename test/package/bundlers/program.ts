// Bundled by .ci/bundlers with every bundler, against the packed tarball, with the packages of the EVM and without them.
import { type Hex, verifyProof } from 'rollup-state-proof'
import { type EvidenceClaim, verifyEvidence } from 'rollup-state-proof/anchor'
import { poseidon2 } from 'rollup-state-proof/poseidon2'
import {
  type CallClaim,
  createVerifiedProvider,
  isProviderError,
  verifyCallEvidence,
} from 'rollup-state-proof/provider'
import { createRollupClient } from 'rollup-state-proof/rpc'
import called from '../../../vectors/calls/valid/balance-behind-proxy.json' with { type: 'json' }
import evidence from '../../../vectors/evidence/valid/poseidon2-block-hash.json' with { type: 'json' }
import state from '../../../vectors/poseidon2/valid/contract-slots-mixed.json' with { type: 'json' }

const { answer, address, stateRoot, storageKeys } = state

/** One line: what each entry point proved. It ends with the value that a call returned, or with the error of the call. */
export async function verifyAll(): Promise<string> {
  const claim = { scheme: poseidon2, stateRoot, address, storageKeys } as Parameters<typeof verifyProof>[1]
  const { account } = verifyProof(answer, claim)

  const { rollup, l2BlockNumber, trusted, ...asked } = evidence.claim
  const { l1Block } = verifyEvidence(evidence.bundle, {
    scheme: poseidon2,
    rollup: { address: rollup.address },
    trusted,
    l2BlockNumber: BigInt(l2BlockNumber),
    address: asked.address,
    storageKeys: asked.storageKeys,
  } as EvidenceClaim)

  const endpoint = { request: async ({ method }: { method: string }) => (method === 'eth_chainId' ? '0x539' : answer) }
  const client = createRollupClient(endpoint, { method: 'linea_getProof' })
  const { storage } = await client.getVerifiedState({ ...claim, l2BlockNumber: 1n })

  const provider = createVerifiedProvider({
    ...{
      l1: endpoint,
      l2: endpoint,
      l1BlockHash: async () => evidence.claim.trusted.l1BlockHash as Hex,
    },
    network: {
      scheme: poseidon2,
      rollup: { address: '0x00000000000000000000000000000000000011ff', chainId: 1337 },
    },
  })
  const chain = await provider.request({ method: 'eth_chainId' })
  return `nonce ${account?.nonce}, L1 block ${l1Block?.number}, ${storage.length} slots, chain ${chain}, call: ${await call()}`
}

async function call(): Promise<string> {
  const { chainId, l2BlockNumber, call, ...stated } = called.claim
  const claim = {
    ...{ ...stated, scheme: poseidon2, chainId: BigInt(chainId), l2BlockNumber: BigInt(l2BlockNumber) },
    call: { ...call, value: BigInt(call.value), gas: BigInt(call.gas) },
  } as unknown as CallClaim
  try {
    const proven = await verifyCallEvidence(called.bundle, claim)
    return proven.outcome === 'returned' ? proven.returnData : proven.outcome
  } catch (error) {
    return isProviderError(error) ? `${error.reason} ${error.message}` : String(error)
  }
}
