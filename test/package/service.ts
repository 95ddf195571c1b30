// Compiled by .ci/package-check against the packed tarball, with Node's types.
import { type RecordClaim, readLines, type Verdict, verifyRecords } from 'rollup-state-proof/bulk'
import { poseidon2 } from 'rollup-state-proof/poseidon2'
import { createService, type Service } from 'rollup-state-proof/service'
import { addDemoBlocks, demoWorld } from 'rollup-state-proof/service/demo'

const rollup = { address: `0x${'11'.repeat(20)}` } as const
export const service: Service = createService({ genesis: demoWorld(poseidon2), rollup })
addDemoBlocks(service.chain, { counts: [1] })

export const closed: readonly Promise<void>[] = [service[Symbol.asyncDispose](), service.close({ graceMs: 0 })]
export const verdicts = (bytes: AsyncIterable<Uint8Array>, claim: RecordClaim): AsyncIterable<Verdict> =>
  verifyRecords(readLines(bytes), claim)
export const none = verifyRecords([], {
  ...{ scheme: 'mimc', stateRoot: 'fromRecord', address: 'fromRecord', storageKeys: 'fromRecord' },
})

// @ts-expect-error a part of the claim is missing
verifyRecords([], { scheme: 'mimc', stateRoot: 'fromRecord', address: 'fromRecord' })
// @ts-expect-error a genesis is required
createService({ rollup })
