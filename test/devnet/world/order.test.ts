import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bytesToBigint, bytesToHex } from '../../../src/base/bytes.ts'
import { findFloor, insertKey, type Order, removeKey } from '../../../src/devnet/world/tree.ts'

// Few different first bytes and priorities, so that lookups hit and miss, and priorities tie.
const key = fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 5 })).map(([first, last]) => {
  const bytes = new Uint8Array(32)
  bytes.set([first], 0)
  bytes.set([last], 31)
  return bytes
})

/** Whether no node has a child of higher priority. The priority is the last four bytes of the key hash. */
function isHeap(order: Order): boolean {
  const priorityOf = (hKey: Uint8Array) => bytesToBigint(hKey.subarray(28))
  return (
    order === null ||
    [order.left, order.right].every(
      below => below === null || (priorityOf(below.hKey) <= priorityOf(order.hKey) && isHeap(below)),
    )
  )
}

it('finds the floor of any key after any insertions and removals', () => {
  let compared = 0
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('insert', 'insert', 'remove'), key)),
      fc.array(key),
      (steps, asked) => {
        let order: Order = null
        const model = new Map<string, number>()
        for (const [index, [action, hKey]] of steps.entries()) {
          const hex = bytesToHex(hKey)
          if (action === 'remove') {
            order = removeKey(order, hKey)
            model.delete(hex)
          } else if (!model.has(hex)) {
            order = insertKey(order, hKey, index)
            model.set(hex, index)
          }
          expect(isHeap(order)).toBe(true)
        }
        for (const hKey of asked) {
          const floor = [...model.keys()]
            .filter(hex => hex <= bytesToHex(hKey))
            .sort()
            .at(-1)
          expect(findFloor(order, hKey)).toBe(floor === undefined ? null : model.get(floor))
          compared++
        }
      },
    ),
    { seed: 7, numRuns: 500 },
  )
  expect(compared).toBeGreaterThan(1000)
})

it('never changes an existing order', () => {
  const keys = Array.from({ length: 50 }, (_, x) => new Uint8Array(32).map((_, place) => (x * 37 + place * 11) % 256))
  const orders: Order[] = [null]
  for (const [index, hKey] of keys.entries()) orders.push(insertKey(orders[index] ?? null, hKey, index))
  for (const [count, order] of orders.entries()) {
    const held = keys.filter((hKey, index) => findFloor(order, hKey) === index)
    expect(held.length).toBe(count)
  }
})

it('stays shallow when keys are inserted in ascending order', () => {
  const COUNT = 5000
  let order: Order = null
  for (let x = 0; x < COUNT; x++) {
    const hKey = new Uint8Array(32)
    const view = new DataView(hKey.buffer)
    view.setUint32(0, x)
    view.setUint32(28, Math.imul(x + 1, 0x9e3779b1) ^ (x << 7))
    order = insertKey(order, hKey, x)
  }
  const depth = (node: Order): number => (node === null ? 0 : 1 + Math.max(depth(node.left), depth(node.right)))
  expect(depth(order)).toBeLessThan(5 * Math.log2(COUNT))
})
