import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { slotKey } from 'rollup-state-proof'
import type { Network } from 'rollup-state-proof/networks'
import { finalizedBlockHash, followFinalizations } from 'rollup-state-proof/rpc'

/** Acts on `count` finalizations, each once, whatever happens in between: the progress is in a file. */
export async function relay(l1: string, l2: string[], network: Network, file: string, count: number) {
  const acted: [block: bigint, values: bigint[]][] = []
  const finalizations = followFinalizations({
    ...{ l1, l2, network, l1BlockHash: finalizedBlockHash(l1), fromL2BlockNumber: 1n },
    requests: [{ address: `0x${'c0'.repeat(20)}`, storageKeys: [slotKey(0n)] }],
    resumeFrom: existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null,
  })
  for await (const { l2BlockNumber, verified, progress } of finalizations) {
    acted.push([l2BlockNumber, verified.flatMap(({ storage }) => storage.map(({ value }) => BigInt(value)))])
    writeFileSync(file, JSON.stringify(progress))
    if (acted.length === count) break
  }
  return acted
}
