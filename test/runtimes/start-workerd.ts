import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Report } from './check.ts'
import type { Case } from './corpus.ts'

const TIMEOUT = 120_000

/**
 * Serves the bundled worker with workerd on a loopback port, and runs the corpus in it.
 *
 * @param bundled the subfolder with the worker
 */
export async function runInWorkerd(npm: string, folder: string, bundled: string): Promise<Report> {
  writeFileSync(join(folder, 'workerd.capnp'), configure(folder, bundled))
  // It prints its port on standard output. It has its own process group, so that npx and workerd end together.
  const serve = ['workerd', 'serve', 'workerd.capnp', '--socket-addr=http=127.0.0.1:0', '--control-fd=1']
  const server = spawn('npx', ['--yes', '--loglevel=error', '-p', npm, ...serve], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  server.stderr.on('data', chunk => {
    said += chunk
  })
  const ended = once(server, 'close')
  const failure = ended.then(([code]): never => {
    throw new Error(`workerd ended with ${code}: ${said.trim().split('\n').slice(-3).join('; ')}`)
  })
  try {
    const signal = AbortSignal.timeout(TIMEOUT)
    const [line] = await Promise.race([once(server.stdout, 'data', { signal }), failure])
    const { port } = JSON.parse(String(line))
    const body = readFileSync(join(folder, 'corpus.json'), 'utf8')
    const start = performance.now()
    const url = `http://127.0.0.1:${port}/`
    const response = await fetch(url, { method: 'POST', body, signal })
    const text = await response.text()
    if (!response.ok) throw new Error(`${text} ${said}`)
    // The clock inside a worker does not advance during computation.
    const report: Report = { ...JSON.parse(text), seconds: (performance.now() - start) / 1000 }
    const ofProgram = await runProgram(`${url}program`, JSON.parse(body))
    return { ...report, mismatches: [...report.mismatches, ...ofProgram] }
  } finally {
    if (server.pid !== undefined && server.exitCode === null) process.kill(-server.pid, 'SIGKILL')
    await ended
  }
}

/** Asks the worker of test/programs about a true answer and a forged one. @returns what it got wrong */
async function runProgram(url: string, cases: readonly Case[]): Promise<string[]> {
  const expected = { 'valid/contract-slots-mixed': 200, 'invalid/account-value-lifted-storage-root': 422 }
  const wrong: string[] = []
  for (const [name, status] of Object.entries(expected)) {
    const { vector } = cases.find(({ path }) => path === `poseidon2/${name}.json`) ?? {}
    const { stateRoot, address, storageKeys, answer } = Object(vector)
    const body = JSON.stringify({ stateRoot, address, storageKeys, answer })
    const response = await fetch(url, { method: 'POST', body })
    if (response.status !== status)
      wrong.push(`test/programs/worker.ts: ${name}: ${response.status} ${await response.text()}`)
  }
  return wrong
}

/** The workerd configuration. Its modules are the files that esbuild wrote, the worker first. */
function configure(folder: string, bundled: string): string {
  const files = readdirSync(join(folder, bundled)).filter(file => file !== 'workerd.js')
  const modules = ['workerd.js', ...files].map(file => {
    const kind = file.endsWith('.wasm') ? 'wasm' : 'esModule'
    return `(name = "${file}", ${kind} = embed "${bundled}/${file}")`
  })
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "corpus", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "corpus")],
);
const worker :Workerd.Worker = (
  compatibilityDate = "2026-01-01",
  modules = [
    ${modules.join(',\n    ')}
  ],
);
`
}
