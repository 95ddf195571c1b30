import type { Explorer, Reply, Request } from './explore.ts'
import { MAX_REQUEST_SECONDS } from './limits.ts'

interface Asked {
  readonly request: Request
  readonly resolve: (answer: never) => void
  readonly reject: (error: Error) => void
  /** Nobody waits for the answer any more. */
  isForgotten: boolean
}

/** Requests for parts of the file: none replaces another, or is given up for another. */
const isPart = ({ request: [kind] }: Asked) => kind === 'part'
const isPending = (asked: Asked) => !asked.isForgotten && !isPart(asked)

/** Runs the explorer in a worker, so that no file can freeze the page, and terminates the worker if it takes too long. */
export function createEngine() {
  /** The worker has the first. The others wait, so that whatever is forgotten meanwhile is never begun. */
  let queue: Asked[] = []
  let port: Worker | MessagePort | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  function start(): Worker | MessagePort {
    const started = location.protocol === 'file:' ? startOnPage() : new Worker(scriptUrl)
    started.addEventListener('message', event => {
      // Only the worker's script sends any.
      if (started === port) settle((event as MessageEvent<Reply>).data)
    })
    started.addEventListener('error', () => stop('The worker broke down: the file may be too large for this browser.'))
    return started
  }

  function send(): void {
    clearTimeout(timer)
    queue = queue.filter(({ isForgotten }) => !isForgotten)
    const [first] = queue
    if (first === undefined) return
    port ??= start()
    port.postMessage(first.request)
    const words = `Given up: it took longer than ${MAX_REQUEST_SECONDS} seconds. The command line has more time.`
    timer = setTimeout(() => queue[0] === first && stop(words), MAX_REQUEST_SECONDS * 1000)
  }

  function settle({ answer, problem }: Reply): void {
    const asked = queue.shift()
    if (asked?.isForgotten === false) {
      if (problem === undefined) asked.resolve(answer as never)
      else asked.reject(new Error(problem))
    }
    send()
  }

  /** Terminates the worker, which loses the file. */
  function stop(reason: string): void {
    const asked = queue.find(isPending)
    queue = []
    if (port instanceof Worker) port.terminate()
    port = null
    asked?.reject(new Error(reason))
  }

  /** Abandons the pending request: it is never answered. The worker keeps the file. */
  function forget(): void {
    for (const asked of queue.filter(isPending)) asked.isForgotten = true
  }

  /** Abandons the pending request, unless it asks for a part of the file. Whatever is done with another file is stopped. */
  function ask<Kind extends keyof Explorer>(
    ...request: readonly [kind: Kind, ...args: Parameters<Explorer[Kind]>]
  ): Promise<Awaited<ReturnType<Explorer[Kind]>>> {
    if (request[0] !== 'part') forget()
    if (request[0] === 'load' && queue.length > 0) stop('')
    return new Promise((resolve, reject) => {
      if (queue.push({ request, resolve, reject, isForgotten: false }) === 1) send()
    })
  }

  return { ask, forget }
}

declare global {
  /** Where the worker's script, if it runs on the page, gets its messages. */
  var explorerPort: MessagePort | undefined
  var trustedTypes: { createPolicy(name: string, rules: typeof urlRules): typeof urlRules } | undefined
}

/** The only script URL that this page ever creates. */
const urlRules = { createScriptURL: (_: string): string => 'worker.js' }
const scriptUrl = (globalThis.trustedTypes?.createPolicy('explorer', urlRules) ?? urlRules).createScriptURL('')

/** Browsers run no worker from disk: the explorer then runs on the page itself, for small files only. */
function startOnPage(): MessagePort {
  const { port1, port2 } = new MessageChannel()
  globalThis.explorerPort = port2
  const script = document.createElement('script')
  script.src = scriptUrl
  document.head.append(script)
  port1.start()
  return port1
}
