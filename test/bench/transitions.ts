/**
 * `npm run bench:transitions -- [BLOCKS]`: verifies random histories of so many blocks in each scheme against the roots of the world,
 * and compares the time per trace with that of hashing alone, in the same run.
 */

import type { Trace } from '../../src/devnet/index.ts'
import { mimc } from '../../src/entry/mimc.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { verifyTransition } from '../../src/entry/transition.ts'
import { hashSchemeOf } from '../../src/verify/scheme/scheme.ts'
import { randomOf } from '../random.ts'
import { live } from '../verify/transition/histories.ts'

const BLOCKS = Number(process.argv[2] ?? 1000)
/** A world starts anew after so many, because traces of later blocks are no different. */
const BLOCKS_PER_WORLD = 50
/** How many paths a trace of each type opens, and how many it closes with another leaf. */
const FOLDS = [1, 2, 6, 2, 6]

/** Milliseconds of the processor, which other programs do not lengthen as much as those of a clock. */
function time(work: () => void): number {
  const begun = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1000
}

for (const scheme of [poseidon2, mimc]) {
  const { hasher } = hashSchemeOf(scheme)
  const siblings = Array.from({ length: 40 }, () => hasher.hash(new Uint8Array(64)))
  const [leaf = new Uint8Array(32)] = siblings
  const counts = { blocks: 0, traces: 0, folds: 0, verified: 0, hashed: 0 }
  for (let seed = 1; counts.blocks < BLOCKS; seed++) {
    const { parentStateRoot, blocks } = live(scheme, randomOf(seed), BLOCKS_PER_WORLD)
    const answer: unknown = JSON.parse(JSON.stringify({ zkStateMerkleProof: blocks.map(({ traces }) => traces) }))
    const stateRoot = blocks.at(-1)?.stateRoot ?? '0x'
    let roots: readonly string[] = []
    counts.verified += time(() => {
      roots = verifyTransition(answer, { scheme, parentStateRoot, stateRoot }).blocks.map(({ stateRoot }) => stateRoot)
    })
    const wrong = blocks.findIndex(({ stateRoot }, index) => stateRoot !== roots[index])
    if (wrong !== -1) throw new Error(`${scheme.name}, seed ${seed}: block ${wrong} has another root than the world`)
    const traces: readonly Trace[] = blocks.flatMap(({ traces }) => traces)
    const folds = traces.reduce((sum, { type }) => sum + (FOLDS[type] ?? 0), 0)
    counts.hashed += time(() => {
      for (let index = 0; index < folds; index++) hasher.foldPath(leaf, siblings, index)
    })
    counts.blocks += blocks.length
    counts.traces += traces.length
    counts.folds += folds
  }
  const { blocks, traces, folds, verified, hashed } = counts
  const each = (total: number) => `${((1000 * total) / traces).toFixed(0)} us`
  console.log(`${scheme.name}: ${blocks} blocks, ${traces} traces: all roots are those of the world`)
  console.log(
    `  a trace is verified in ${each(verified)}; its ${(folds / traces).toFixed(1)} paths are hashed in ${each(hashed)}`,
  )
  console.log(`  verifying takes ${(verified / hashed).toFixed(2)} times as long as hashing all paths alone`)
}
