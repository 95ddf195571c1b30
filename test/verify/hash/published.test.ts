import { describe, expect, it } from 'vitest'
import { bytesToHex, hexToBytes } from '../../../src/base/bytes.ts'
import type { Hasher } from '../../../src/verify/hash/hasher.ts'
import { mimcKernel } from '../../../src/verify/hash/mimc/kernel.ts'
import { mimcPlain } from '../../../src/verify/hash/mimc/plain.ts'
import { poseidon2Kernel } from '../../../src/verify/hash/poseidon2/kernel.ts'
import { poseidon2Plain } from '../../../src/verify/hash/poseidon2/plain.ts'
import { schemes } from '../../model/hash.ts'
import { PUBLISHED } from './published.ts'

const hashWith =
  ({ hash }: Hasher) =>
  (message: string): string =>
    bytesToHex(hash(hexToBytes(message, message.length / 2 - 1)))

const HASHES = {
  mimc: { plain: hashWith(mimcPlain()), kernel: hashWith(mimcKernel()) },
  poseidon2: { plain: hashWith(poseidon2Plain()), kernel: hashWith(poseidon2Kernel()) },
} as const

describe.each(['mimc', 'poseidon2'] as const)('%s', scheme => {
  const model = (message: string) => `0x${schemes[scheme].H(message.slice(2))}`
  const counts = scheme === 'mimc' ? [3, 8, 10] : [3, 6, 7]

  it.each(Object.entries({ ...HASHES[scheme], model }))('has the digests that others have published: %s', (_, hash) => {
    const seen = new Map<string, number>()
    for (const { message, digest, source } of PUBLISHED[scheme]) {
      expect(hash(message), `${source}: ${message}`).toBe(digest)
      seen.set(source, (seen.get(source) ?? 0) + 1)
    }
    expect([...seen.values()]).toEqual(counts)
  })
})
