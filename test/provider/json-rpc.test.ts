import { expect, it } from 'vitest'
import { createJsonRpcServer } from '../../src/provider/json-rpc.ts'
import type { Asking } from '../../src/provider/provider.ts'

it('lets clients take turns: who sends thousands of slow requests neither delays nor refuses those of another', async () => {
  const asked: string[] = []
  const provider = {
    async request({ method }: { method: string }, { admit }: Asking) {
      await admit?.()
      asked.push(method)
      await Promise.resolve()
      return '0x1'
    },
  }
  const limits = { concurrency: 2, maxWaiting: 50, maxBatch: 1000, maxResponseLength: 2 ** 20, timeout: 60_000 }
  const rpc = createJsonRpcServer(provider, limits)
  const batchOf = (count: number, method: string) =>
    JSON.stringify(Array.from({ length: count }, (_, id) => ({ jsonrpc: '2.0', id, method })))
  const many = rpc.answer(batchOf(100, 'many'), { name: 'a' })
  const few = rpc.answer(batchOf(3, 'few'), { name: 'b' })
  expect(await few).not.toContain('error')
  // At most two of the many are under way at a time.
  expect(asked.lastIndexOf('few')).toBeLessThan(12)
  expect((await many)?.match(/Too many requests at once/g)).toHaveLength(48)
  expect(asked).toHaveLength(55)
  // All clients together have a bound, too.
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const all = await Promise.all(names.map(name => rpc.answer(batchOf(52, 'many'), { name })))
  const refused = all.map(text => text?.match(/Too many requests at once/g)?.length ?? 0)
  expect(refused.reduce((sum, count) => sum + count)).toBe(6 * 52 - 2 - 4 * 50)
})
