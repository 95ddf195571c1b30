import { deflateRawSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { readAddress, writeAddress } from '../../src/site/address.ts'
import { MAX_LINKED_BYTES } from '../../src/site/limits.ts'

/** The module needs the types of a page, which those of Node contradict. */
const MODULE: string = '../../src/site/linked.ts'

it('carries a small file in a link, byte by byte, and no large one', async () => {
  const { packFile, unpackFile } = await import(MODULE)
  const bytes = Uint8Array.from({ length: 5000 }, (_, index) => (index * 31) % 256)
  const source = await packFile(new Blob([bytes]))
  expect(source).toMatch(/^z\.[\w-]+$/)
  expect(new Uint8Array(await (await unpackFile(source)).arrayBuffer())).toEqual(bytes)
  const address = { source, tab: 'file', proof: 1 } as const
  expect(readAddress(writeAddress(address))).toEqual(address)
  expect(await packFile(new Blob([new Uint8Array(MAX_LINKED_BYTES + 1)]))).toBeNull()
  // What hardly shrinks is too long for a link.
  const noise = new Uint8Array(100_000)
  for (let index = 0, state = 1; index < noise.length; index++) {
    state = (state * 48271) % 0x7fffffff
    noise[index] = state
  }
  expect(await packFile(new Blob([noise]))).toBeNull()
})

it('unpacks no more than a file can have, and nothing that is no link', async () => {
  const { unpackFile } = await import(MODULE)
  const packed = (bytes: Uint8Array) => `z.${deflateRawSync(bytes).toString('base64url')}`
  expect((await unpackFile(packed(new Uint8Array(MAX_LINKED_BYTES)))).size).toBe(MAX_LINKED_BYTES)
  expect(await unpackFile(packed(new Uint8Array(MAX_LINKED_BYTES + 1)))).toBeNull()
  expect(await unpackFile(packed(new Uint8Array(2 ** 26)))).toBeNull()
  const whole = packed(new TextEncoder().encode('{"a":1}'))
  for (const source of ['z.', 'z.A', 'z.AAAA', 'z.%%%', whole.slice(0, -3), `z.${'A'.repeat(100_000)}`]) {
    expect(await unpackFile(source), source.slice(0, 20)).toBeNull()
  }
  expect(readAddress(`#z.${'A'.repeat(70_000)}`).source).toBe('')
})
