import { compareBytes } from '../../base/bytes.ts'

/**
 * Key hashes in ascending order, each with the index of its leaf, as an immutable treap.
 *
 * A treap is a search tree by key and a heap by priority. With random priorities, it stays balanced for any insertion
 * order. A key hash serves as both: the whole hash is the key, and its last four bytes are the priority.
 */
export type Order = OrderNode | null

interface OrderNode {
  readonly hKey: Uint8Array
  readonly index: number
  readonly left: Order
  readonly right: Order
}

/** The leaf index of the largest key hash that is not above `hKey`; null if all are above. */
export function findFloor(order: Order, hKey: Uint8Array): number | null {
  let floor: number | null = null
  let node = order
  while (node !== null) {
    if (compareBytes(node.hKey, hKey) <= 0) {
      floor = node.index
      node = node.right
    } else {
      node = node.left
    }
  }
  return floor
}

/** `order` with `hKey` added. It must not contain `hKey` yet. */
export function insertKey(order: Order, hKey: Uint8Array, index: number): OrderNode {
  if (order === null || priority(hKey) > priority(order.hKey)) return { hKey, index, ...split(order, hKey) }
  return compareBytes(hKey, order.hKey) < 0
    ? { ...order, left: insertKey(order.left, hKey, index) }
    : { ...order, right: insertKey(order.right, hKey, index) }
}

/** `order` without `hKey`. */
export function removeKey(order: Order, hKey: Uint8Array): Order {
  if (order === null) return null
  const side = compareBytes(hKey, order.hKey)
  if (side < 0) return { ...order, left: removeKey(order.left, hKey) }
  if (side > 0) return { ...order, right: removeKey(order.right, hKey) }
  return join(order.left, order.right)
}

const priority = (hKey: Uint8Array): number => new DataView(hKey.buffer, hKey.byteOffset).getUint32(hKey.length - 4)

/** Splits `order` into what sorts before `hKey` and what sorts after it. */
function split(order: Order, hKey: Uint8Array): { left: Order; right: Order } {
  if (order === null) return { left: null, right: null }
  if (compareBytes(order.hKey, hKey) < 0) {
    const { left, right } = split(order.right, hKey)
    return { left: { ...order, right: left }, right }
  }
  const { left, right } = split(order.left, hKey)
  return { left, right: { ...order, left: right } }
}

/** The inverse of {@link split}: everything in `left` sorts before everything in `right`. */
function join(left: Order, right: Order): Order {
  if (left === null) return right
  if (right === null) return left
  return priority(left.hKey) > priority(right.hKey)
    ? { ...left, right: join(left.right, right) }
    : { ...right, left: join(left, right.left) }
}
