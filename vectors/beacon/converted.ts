import { createHash } from 'node:crypto'
import type { ssz } from '@lodestar/types'

interface Header {
  execution: object
  execution_branch: string[]
}

const ZEROS = `0x${'00'.repeat(32)}`

/**
 * A finalized header from before Gloas in the form of Gloas: the block hash in place of all fields. Computed with an SSZ library
 * that is not the one under test.
 */
export function convertHeader({ execution: given, execution_branch: last, ...rest }: Header, types: typeof ssz) {
  const type = types.deneb.ExecutionPayloadHeader
  const execution = type.fromJson(given)
  let level = Object.entries(type.fields).map(([name, field]) =>
    Buffer.from((field as { hashTreeRoot(value: unknown): Uint8Array }).hashTreeRoot(Reflect.get(execution, name))),
  )
  level = [...level, ...Array.from({ length: 32 - level.length }, () => Buffer.alloc(32))]
  const branch: string[] = []
  for (let index = 12; level.length > 1; index >>= 1) {
    branch.push(`0x${level[index ^ 1]?.toString('hex')}`)
    const pairs = level.filter((_, place) => place % 2 === 0).map((left, pair) => [left, level[2 * pair + 1]])
    level = pairs.map(([left, right]) =>
      createHash('sha256')
        .update(left ?? '')
        .update(right ?? '')
        .digest(),
    )
  }
  const hash = `0x${Buffer.from(execution.blockHash).toString('hex')}`
  return { ...rest, execution_block_hash: hash, execution_branch: [ZEROS, ZEROS, ...branch, ...last] }
}
