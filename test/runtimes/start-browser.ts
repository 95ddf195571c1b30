import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Report } from './check.ts'

export interface Page {
  readonly thread: 'main thread' | 'worker'
  /** Whether the page's policy allows WebAssembly. */
  readonly permitted: boolean
}

/** How to start a browser for one page. */
export interface Start {
  readonly executable: string
  /** @param profile an empty folder */
  options(profile: string): readonly string[]
  readonly environment?: NodeJS.ProcessEnv
}

const TIMEOUT = 180_000

/** Serves a page that runs the corpus, opens it in a browser, and waits for the report that the page sends back. */
export async function runInBrowser(start: Start, folder: string, page: Page): Promise<Report> {
  const profile = mkdtempSync(join(tmpdir(), 'browser-'))
  const server = createServer()
  const report = new Promise<Report>((resolve, reject) => {
    server.on('request', (request, response) => {
      answer(request, response, folder, page)
        .then(body => body !== undefined && resolve(readReport(body, page)))
        .catch(reject)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined

  // A separate process group, so that all processes of the browser end together.
  const browser = spawn(start.executable, [...start.options(profile), `http://127.0.0.1:${port}/`], {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    // Files that the browser keeps outside its profile go there too.
    env: { ...process.env, HOME: profile, XDG_RUNTIME_DIR: profile, ...start.environment },
  })
  let said = ''
  browser.stderr.on('data', chunk => {
    said += chunk
  })
  const ended = new Promise<void>(resolve => browser.on('close', () => resolve()))
  let timer: NodeJS.Timeout | undefined
  const failure = new Promise<never>((_, reject) => {
    const fail = (why: string) => reject(new Error(`${why}: ${said.trim().split('\n').slice(-3).join('; ')}`))
    browser.on('error', error => fail(String(error)))
    browser.on('exit', code => fail(`the browser ended with ${code}`))
    timer = setTimeout(() => fail('no report from the page in time'), TIMEOUT)
  })
  try {
    return await Promise.race([report, failure])
  } finally {
    clearTimeout(timer)
    if (browser.pid !== undefined && browser.exitCode === null) process.kill(-browser.pid, 'SIGKILL')
    await ended
    server.close()
    server.closeAllConnections()
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Serves the page's files. @returns the body of the request if it was the page's report */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  folder: string,
  { thread, permitted }: Page,
): Promise<string | undefined> {
  // The policy of a worker is that of its script, so every response carries it.
  response.setHeader('content-security-policy', `script-src 'self'${permitted ? " 'wasm-unsafe-eval'" : ''}`)
  const send = (type: string, body: string | Buffer) => response.setHeader('content-type', type).end(body)
  const start = thread === 'worker' ? '/worker.js' : '/browser.js'
  const path = request.url ?? ''
  if (path === '/report') {
    const body = await text(request)
    response.end()
    return body
  }
  if (path === '/') send('text/html', `<!doctype html><script type="module" src="${start}"></script>`)
  else if (path === '/worker.js') send('text/javascript', "new Worker('/browser.js', { type: 'module' })")
  else if (path === '/corpus.json') send('application/json', readFileSync(join(folder, 'corpus.json')))
  else if (/^\/[\w-]+\.js$/.test(path)) send('text/javascript', readFileSync(join(folder, 'bundled', path)))
  else response.writeHead(404).end()
  return undefined
}

function readReport(body: string, { thread }: Page): Report {
  const { thread: found, failure, ...report } = JSON.parse(body)
  if (failure !== undefined) throw new Error(failure)
  if (found !== thread) throw new Error(`it ran in the ${found}`)
  return report
}
