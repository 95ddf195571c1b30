// Compiled by .ci/package-check against the packed tarball, with Node's types.
import { poseidon2 } from 'rollup-state-proof/poseidon2'
import { createService, type Service } from 'rollup-state-proof/service'
import { addDemoBlocks, demoWorld } from 'rollup-state-proof/service/demo'

const rollup = { address: `0x${'11'.repeat(20)}` } as const
export const service: Service = createService({ genesis: demoWorld(poseidon2), rollup })
addDemoBlocks(service.chain, { counts: [1] })

// @ts-expect-error a genesis is required
createService({ rollup })
