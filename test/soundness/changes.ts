/**
 * `npm run test:changes`: changes one line of a verifier at a time, and prints what notices it: the model, which is asked made
 * questions, and the vectors. No file is changed. Whatever the model does not notice is asked ten times as many questions.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { CHANGES, type Change, replaceLine } from './changed-lines.ts'

const [, , program = '', size = '2000'] = process.argv
const SIZE = Number(size)
const ENTRY = 'test/soundness/changed.ts'
/** None takes a tenth of it. A changed condition of a loop can take forever. */
const CHANGE_MS = 300_000

/** @param change null for none */
async function bundle(change: Change | null, outfile: string): Promise<void> {
  let isLoaded = change === null
  const changing: Plugin = {
    name: 'changing',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (change === null || path !== resolve('src/verify', change.file)) return undefined
        isLoaded = true
        return { contents: replaceLine(change), loader: 'ts' }
      })
    },
  }
  await build({
    ...{ entryPoints: [ENTRY], outfile, bundle: true, format: 'esm', platform: 'node', target: 'node20' },
    ...{ packages: 'external', logLevel: 'error', plugins: [changing] },
  })
  if (!isLoaded) throw new Error(`${change?.file} is not in ${ENTRY}`)
}

interface Noticed {
  readonly made: string | null
  readonly corpus: string | null
}

async function run(change: Change | null, part: Change['part'], name: string, size: number): Promise<Noticed> {
  const outfile = `node_modules/.cache/changes/${name}.mjs`
  await bundle(change, outfile)
  const child = fork(outfile, [program, `${size}`, part], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  const ending = once(child, 'close')
  const timer = setTimeout(() => child.kill('SIGKILL'), CHANGE_MS)
  let [noticed, errors]: [Noticed | null, string] = [null, '']
  child.on('message', message => {
    noticed = message as Noticed
  })
  child.stderr?.on('data', text => {
    errors += text
  })
  await ending
  clearTimeout(timer)
  if (noticed === null) throw new Error(`${name} does not end: ${errors}`)
  return noticed
}

/** Runs the work on each item, as many at a time as there are processors. @returns what it comes to, in order */
async function inParallel<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const waiting = [...items.entries()]
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) results[next[0]] = await work(next[1], next[0])
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
  return results
}

for (const change of CHANGES) replaceLine(change)
const parts = [...new Set(CHANGES.map(({ part }) => part))]
for (const [index, noticed] of (await inParallel(parts, part => run(null, part, part, SIZE))).entries()) {
  if (noticed.made ?? noticed.corpus) throw new Error(`${parts[index]}, unchanged: ${JSON.stringify(noticed)}`)
}
const all = await inParallel(CHANGES, async (change, index) => {
  const noticed = await run(change, change.part, `${index}`, SIZE)
  return noticed.made === null ? run(change, change.part, `${index}`, 10 * SIZE) : noticed
})

console.log('| change | file | the model notices | the corpus notices |\n|---|---|---|---|')
for (const [index, { file, what }] of CHANGES.entries()) {
  const { made, corpus } = all[index] ?? { made: null, corpus: null }
  const cells = [what, `\`${file}\``, made ?? 'no', corpus ?? 'no'].map(cell => cell.replaceAll('|', '\\|'))
  console.log(`| ${cells.join(' | ')} |`)
}
for (const part of parts) {
  const own = all.filter((_, index) => CHANGES[index]?.part === part)
  const count = (kind: keyof Noticed) => own.filter(noticed => noticed[kind] !== null).length
  const nobody = own.filter(({ made, corpus }) => made === null && corpus === null).length
  console.log(`${part}: ${own.length} changes; model ${count('made')}, corpus ${count('corpus')}, nobody ${nobody}`)
}
