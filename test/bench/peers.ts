/**
 * `npm run bench:peers`: trees of messages, beside the network's SDK and merkletreejs, in turns in one process. Prints Markdown; with
 * `--write`, also writes it to docs/benchmarks.md. Which other programs do no such work, the page says.
 */
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { messageTrees } from '../../src/entry/messages.ts'
import { named } from '../../vectors/evidence/l1.ts'
import { measureProcessor, median } from './measure.ts'
import { header, publish, row } from './page.ts'

/** What is used of the packages in `peers/`, whose types are not installed. */
interface SparseMerkleTree {
  addLeaf(index: number, leaf: string): void
  getRoot(): string
  getProof(index: number): { proof: string[] }
}
interface MerkleTree {
  getHexRoot(): string
  getHexProof(leaf: Buffer, index: number): string[]
}
const load = createRequire(resolve('test/bench/peers/package.json'))
const sdk: { SparseMerkleTree: new (depth: number) => SparseMerkleTree } = load(
  '@consensys/linea-sdk/dist/lib/sdk/merkleTree/SparseMerkleTree.js',
)
const { MerkleTree }: { MerkleTree: new (leaves: Buffer[], hash: (data: Buffer) => Buffer) => MerkleTree } =
  load('merkletreejs')

const [MESSAGES, DEPTH] = [1024, 5]
const hashes = Array.from({ length: MESSAGES }, (_, index) => named(`message ${index}`))
const SIZE = 2 ** DEPTH
const groups = Array.from({ length: MESSAGES / SIZE }, (_, tree) => hashes.slice(tree * SIZE, (tree + 1) * SIZE))

interface Tree {
  readonly root: string
  readonly proofs: readonly { readonly proof: readonly string[] }[]
}
const works: Readonly<Record<string, () => readonly Tree[]>> = {
  'this library': () => messageTrees(hashes, DEPTH),
  merkletreejs: () =>
    groups.map(group => {
      const leaves = group.map(hash => Buffer.from(hash.slice(2), 'hex'))
      const tree = new MerkleTree(leaves, data => Buffer.from(keccak_256(data)))
      return { root: tree.getHexRoot(), proofs: leaves.map((leaf, at) => ({ proof: tree.getHexProof(leaf, at) })) }
    }),
  "the network's SDK": () =>
    groups.map(group => {
      const tree = new sdk.SparseMerkleTree(DEPTH)
      for (const [at, hash] of group.entries()) tree.addLeaf(at, hash)
      return { root: tree.getRoot(), proofs: group.map((_, at) => tree.getProof(at)) }
    }),
}

const spell = (trees: readonly Tree[]) =>
  JSON.stringify(trees.map(({ root, proofs }) => [root, proofs.map(p => p.proof)]))
const results = Object.entries(works).map(([name, work]) => [name, spell(work())] as const)
for (const [name, result] of results) if (result !== results[0]?.[1]) throw new Error(`${name}: other trees`)

const [own = Number.NaN, ...others] = (await measureProcessor(Object.values(works), 9)).map(median)
const cells = others.flatMap(time => [time.toFixed(0), `${(time / own).toFixed(1)}x`])
const [first = '', ...names] = Object.keys(works)
publish('peers', [
  ...header('µs', first, ...names.flatMap(name => [name, ''])),
  row(`trees of ${MESSAGES} messages, with a proof of each`, own.toFixed(0), ...cells),
])
