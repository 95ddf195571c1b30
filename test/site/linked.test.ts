import { deflateRawSync } from 'node:zlib'
import { expect, it, onTestFinished, vi } from 'vitest'
import { readAddress, writeAddress } from '../../src/site/address.ts'
import { MAX_KEPT_BYTES, MAX_LINKED_BYTES } from '../../src/site/limits.ts'

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

it('keeps one file over a reload, and does without where it cannot', async () => {
  const { forgetKept, keepForReload, keepWords, keptForReload, keptWords } = await import(MODULE)
  const kept = new Map<string, string>()
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  }
  vi.stubGlobal('sessionStorage', storage)
  onTestFinished(() => {
    vi.unstubAllGlobals()
  })
  const file = { name: 'a.json', blob: new Blob(['{"ü":1}']) }
  await keepForReload('sha256-1', file)
  expect(await keptForReload('sha256-1').blob.text()).toBe('{"ü":1}')
  expect(keptForReload('sha256-1').name).toBe('a.json')
  expect(keptForReload('sha256-2')).toBeNull()
  await keepForReload('sha256-3', { name: 'large', blob: new Blob([new Uint8Array(MAX_KEPT_BYTES + 1)]) })
  expect(kept.size).toBe(0)
  await keepForReload('sha256-1', file)
  // A file that is read later than the next one does not take its place, nor does one that cannot be read any more.
  let read = (_: string) => {}
  const slow = { size: 1, text: () => new Promise<string>(resolve => (read = resolve)) }
  const late = keepForReload('sha256-4', { name: 'slow', blob: slow })
  await keepForReload('sha256-1', file)
  read('{}')
  await late
  expect([keptForReload('sha256-4'), keptForReload('sha256-1')?.name]).toEqual([null, 'a.json'])
  const cleared = keepForReload('sha256-4', { name: 'slow', blob: slow })
  forgetKept()
  read('{}')
  await cleared
  expect(kept.size).toBe(0)
  await keepForReload('sha256-5', { name: 'gone', blob: { size: 1, text: () => Promise.reject(new Error()) } })
  expect(keptForReload('sha256-5')).toBeNull()
  await keepForReload('sha256-1', file)
  const words = { trusted: { value: '0x12', source: 'confirmed' } }
  keepWords('1', words)
  expect(keptWords('1')).toEqual(words)
  // They are about that file alone, and about none that has no digest.
  expect([keptWords('2'), keptWords('')]).toEqual([{}, {}])
  keepWords('', words)
  expect(keptWords('')).toEqual({})
  forgetKept()
  expect([keptForReload('sha256-1'), keptWords('1')]).toEqual([null, {}])
  kept.set('file', 'not JSON')
  expect(keptForReload('sha256-1')).toBeNull()
  const refusing = () => {
    throw new DOMException('no storage', 'SecurityError')
  }
  vi.stubGlobal('sessionStorage', { getItem: refusing, setItem: refusing, removeItem: refusing })
  await keepForReload('sha256-1', file)
  forgetKept()
  expect(keptForReload('sha256-1')).toBeNull()
})
