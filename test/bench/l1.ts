/**
 * `npm run bench:l1`: what is verified with Keccak, with the kernel and without it, and beside @ethereumjs/mpt where that does the
 * same work. All take turns in one process. Prints Markdown; with `--write`, also writes it to docs/benchmarks.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { verifyMerkleProof } from '@ethereumjs/mpt'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { build } from 'esbuild'
import { bytesToHex } from '../../src/base/bytes.ts'
import { encodeHeader } from '../../src/verify/anchor/header.ts'
import { slotKey } from '../../src/verify/anchor/slots.ts'
import { orderedTrieRoot } from '../../src/verify/blocks/ordered-trie.ts'
import { bloomOf, decodeLog, decodeReceipt, encodeReceipt } from '../../src/verify/blocks/receipts.ts'
import { createL1, named } from '../../vectors/evidence/l1.ts'
import { median } from './measure.ts'
import { header, publish, row } from './page.ts'

type Library = typeof import('../../src/entry/anchor.ts') &
  Pick<typeof import('../../src/entry/blocks.ts'), 'verifyReceipts'> &
  Pick<typeof import('../../src/entry/messages.ts'), 'messageTrees'>

const CONTRACT = named('contract', 20)
const STORED = 5000
const RECEIPTS = 200
const MESSAGES = 1024

/** Two copies of the library. The first call decides whether a copy has the kernel. */
async function load(): Promise<Record<'kernel' | 'plain', Library>> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const copyOf = async (name: string): Promise<Library> => {
    const outfile = join(folder, `${name}.mjs`)
    const contents = ['anchor', 'blocks', 'messages'].map(entry => `export * from './src/${entry}.ts'`).join('\n')
    await build({
      stdin: { contents, resolveDir: process.cwd(), loader: 'ts' },
      ...{ bundle: true, format: 'esm', platform: 'node', outfile, logLevel: 'error' },
    })
    const library: Library = await import(pathToFileURL(outfile).href)
    library.messageTrees([named('message')])
    return library
  }
  const { WebAssembly: engine } = globalThis as { WebAssembly?: unknown }
  try {
    Reflect.deleteProperty(globalThis, 'WebAssembly')
    const plain = await copyOf('plain')
    Object.assign(globalThis, { WebAssembly: engine })
    return { plain, kernel: await copyOf('kernel') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Receipts of a block, three logs each, as a server sends them. */
function makeReceipts() {
  const receipts = Array.from({ length: RECEIPTS }, (_, index) => {
    const logs = [0, 1, 2].map(log => ({
      address: named(`token ${log}`, 20),
      topics: [named('event'), named(`from ${index}`), named(`to ${log}`)],
      data: named(`data ${index}`),
    }))
    const logsBloom = bytesToHex(bloomOf(logs.map(decodeLog)))
    return {
      type: '0x2',
      status: '0x1',
      cumulativeGasUsed: `0x${(21_000 * (index + 1)).toString(16)}`,
      logsBloom,
      logs,
    }
  })
  const encoded = receipts.map(receipt => encodeReceipt(decodeReceipt(receipt)))
  return { text: JSON.stringify(receipts), receiptsRoot: bytesToHex(orderedTrieRoot(encoded)) }
}

const fromHex = (hex: string) => Buffer.from(hex.slice(2), 'hex')

const { plain, kernel } = await load()
const slots = new Map(Array.from({ length: STORED }, (_, slot) => [BigInt(slot), BigInt(named(`${slot}`))]))
const l1 = await createL1(CONTRACT, slots)
const rlp = encodeHeader(l1.block)
const hash = bytesToHex(keccak_256(fromHex(rlp)))
const hashes = Array.from({ length: MESSAGES }, (_, index) => named(`message ${index}`))

interface Work {
  readonly name: string
  readonly run: (library: Library) => unknown
  readonly peer?: () => Promise<unknown>
}

async function proofOf(count: number): Promise<Work> {
  const keys = Array.from({ length: count }, (_, index) => BigInt(7 * index))
  const proof = await l1.getProof(CONTRACT, keys)
  const text = JSON.stringify(proof)
  const claim = { l1StateRoot: l1.stateRoot, address: CONTRACT, storageKeys: keys.map(slotKey) }
  return {
    name: `eth_getProof, ${count} slot${count === 1 ? '' : 's'}`,
    run: library => library.verifyEthProof(JSON.parse(text), claim),
    peer: async () => {
      const sent: typeof proof = JSON.parse(text)
      const options = { useKeyHashing: true } as const
      await verifyMerkleProof(fromHex(CONTRACT), sent.accountProof.map(fromHex), options)
      for (const { key, proof } of sent.storageProof) await verifyMerkleProof(fromHex(key), proof.map(fromHex), options)
    },
  }
}

const { text, receiptsRoot } = makeReceipts()
const works: readonly Work[] = [
  { name: 'block header', run: library => library.verifyHeader(rlp, hash) },
  ...(await Promise.all([0, 1, 10, 100].map(proofOf))),
  {
    name: `receipts of a block, ${RECEIPTS}`,
    run: library => library.verifyReceipts(JSON.parse(text), { receiptsRoot }),
  },
  { name: `trees of ${MESSAGES} messages`, run: library => library.messageTrees(hashes) },
]

const TURNS = 15
const TURN_MS = 30

/** The medians in microseconds of processor time. What is asynchronous is awaited. */
async function measure(contestants: readonly (() => unknown)[]): Promise<number[]> {
  const time = async (work: () => unknown, runs: number) => {
    const before = process.cpuUsage()
    for (let run = 0; run < runs; run++) {
      const outcome = work()
      if (outcome instanceof Promise) await outcome
    }
    const { user, system } = process.cpuUsage(before)
    return (user + system) / runs
  }
  const runs: number[] = []
  const times: number[][] = contestants.map(() => [])
  for (const [index, work] of contestants.entries()) {
    await time(work, 20)
    runs[index] = Math.max(1, Math.ceil((TURN_MS * 1000) / (await time(work, 20))))
  }
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [index, work] of contestants.entries()) times[index]?.push(await time(work, runs[index] ?? 1))
  }
  return times.map(median)
}

const digits = (value: number | undefined) => (value === undefined ? '' : value.toFixed(value < 100 ? 1 : 0))
const rows: string[] = []
for (const { name, run, peer } of works) {
  const [slow = 0, fast = 0, other] = await measure([() => run(plain), () => run(kernel), ...(peer ? [peer] : [])])
  rows.push(row(name, digits(slow), digits(fast), `${(slow / fast).toFixed(1)}x`, digits(other)))
}
publish('l1', [...header('µs', 'plain Keccak', 'kernel', '', '@ethereumjs/mpt'), ...rows])
