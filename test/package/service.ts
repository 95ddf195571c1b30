// Compiled by .ci/package-check against the packed tarballs of the library and the devnet, with Node's types.
import { poseidon2 } from 'rollup-state-proof/poseidon2'
import { addDemoBlocks, createService, demoWorld, type Service } from 'rollup-state-proof-devnet'

const rollup = { address: `0x${'11'.repeat(20)}` } as const
export const service: Service = createService({ genesis: demoWorld(poseidon2), rollup })
addDemoBlocks(service.chain, { counts: [1] })

export const closed: readonly Promise<void>[] = [service[Symbol.asyncDispose](), service.close({ graceMs: 0 })]

// @ts-expect-error a genesis is required
createService({ rollup })
