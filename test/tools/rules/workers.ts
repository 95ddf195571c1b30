import { type ChildProcess, fork } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { layerOfFile, markSites, PRELUDE, refusingFunctions, type Site } from './sites.ts'
import type { Job, Run } from './worker.ts'

const BUNDLE = 'node_modules/.cache/rules/worker.mjs'
/** No vector takes a tenth of it, on a machine with other work. A switched-off loop condition takes forever. */
const JOB_MS = 600_000

/** Compiles the verifier once, with every place marked. */
async function bundle(): Promise<Site[]> {
  const sites: Site[] = []
  const refusing = refusingFunctions()
  const marking: Plugin = {
    name: 'marking',
    setup({ onLoad }) {
      onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
        const file = relative('.', path)
        if (!layerOfFile.has(file)) return undefined
        const { text, sites: found } = markSites(file, refusing)
        sites.push(...found)
        return { contents: text, loader: 'ts' }
      })
    },
  }
  await build({
    ...{ entryPoints: ['test/tools/rules/worker.ts'], outfile: BUNDLE, bundle: true, format: 'esm', platform: 'node' },
    ...{ packages: 'external', logLevel: 'error', banner: { js: PRELUDE }, plugins: [marking] },
  })
  return sites.sort((a, b) => a.id - b.id)
}

/** All vectors: paths from the root of the project. */
const vectorFiles = (): string[] =>
  readdirSync('vectors', { recursive: true, encoding: 'utf8' })
    .filter(path => /(^|\/)(in)?valid\/[\w-]+\.json$/.test(path))
    .map(path => `vectors/${path}`)
    .sort()

export interface Workers {
  readonly sites: readonly Site[]
  /** null if it did not end: a place that is off can make a loop endless. */
  run(job: Job): Promise<Run[] | null>
  stop(): void
}

/** A process per processor, each of which takes one job at a time. */
export async function startWorkers(): Promise<Workers> {
  const sites = await bundle()
  const start = () => fork(BUNDLE, { serialization: 'advanced' })
  const idle: ChildProcess[] = Array.from({ length: availableParallelism() }, start)
  const waiting: ((worker: ChildProcess) => void)[] = []
  const release = (worker: ChildProcess) => {
    const next = waiting.shift()
    if (next) next(worker)
    else idle.push(worker)
  }
  // The beacon layer remembers committees by their roots. Without one of its rules, it may remember what is false.
  const layers = ['beacon', 'reading and decoding']
  const isSpoiling = ({ file }: Site) => layers.includes(layerOfFile.get(file) ?? '')
  const spoilt = new Set(sites.filter(isSpoiling).map(({ id }) => id))
  if (spoilt.size === 0) throw new Error(`no rule is in ${layers.join(' or ')}`)
  const spoils = (off: number) => spoilt.has(off)
  return {
    sites,
    async run(job) {
      const worker = idle.pop() ?? (await new Promise<ChildProcess>(resolve => waiting.push(resolve)))
      return new Promise(resolve => {
        const end = (runs: Run[] | null) => {
          clearTimeout(timer)
          worker.removeAllListeners()
          const isSpent = runs === null || spoils(job.off)
          if (isSpent) worker.kill('SIGKILL')
          release(isSpent ? start() : worker)
          resolve(runs)
        }
        const timer = setTimeout(() => end(null), JOB_MS)
        worker.on('message', message => end(message as Run[]))
        worker.on('exit', () => end(null))
        worker.send(job)
      })
    },
    stop: () => {
      for (const worker of idle) worker.kill()
    },
  }
}

/** Runs all vectors, with nothing switched off. */
export async function runAll(workers: Workers): Promise<Run[]> {
  const files = vectorFiles()
  const size = 20
  const portions = Array.from({ length: Math.ceil(files.length / size) }, (_, index) =>
    files.slice(size * index, size * (index + 1)),
  )
  const runs = await Promise.all(portions.map(portion => workers.run({ off: -1, files: portion })))
  if (runs.includes(null)) throw new Error('the vectors take too long')
  return runs.flatMap(part => part ?? [])
}
