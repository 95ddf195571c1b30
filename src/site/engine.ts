import { MAX_REQUEST_SECONDS } from './limits.ts'
import type { Reply, Request } from './messages.ts'

/** A request failed: it timed out, was stopped, or the worker crashed. */
class EngineError extends Error {
  override readonly name = 'EngineError'
}

type Explore = (request: Request) => Promise<Reply>
type Question = Request extends infer One ? (One extends Request ? Omit<One, 'id'> : never) : never
interface Asked {
  readonly request: Request
  resolve(reply: Reply): void
  reject(error: EngineError): void
}

export interface Engine {
  /**
   * Abandons the pending request. Only a request for a part of the file abandons none, and is not abandoned.
   *
   * @throws EngineError also if the reply is a problem
   */
  ask<Kind extends Question['kind']>(
    question: Extract<Question, { kind: Kind }>,
  ): Promise<Extract<Reply, { kind: Kind }>>
  /** Abandons the pending request: it fails without a message, and its reply is ignored. The worker keeps the file. */
  forget(): void
  /** Stops the pending request by terminating the worker, which loses the file. */
  stop(reason: string): void
}

/**
 * Runs the explorer in a worker, so that no file can freeze the page, and terminates the worker if it takes too long. A page
 * opened from disk gets no worker. The explorer then runs on the page itself, for small files only.
 *
 * One long function, because all of its parts share the worker and the pending request.
 *
 * @param onBusy called when a request starts or ends
 * @param onNoWorker called if no worker is available
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: every part changes the one pending request.
export function createEngine(onBusy: (isBusy: boolean) => void, onNoWorker: () => void): Engine {
  let onPage: Promise<Explore> | null = null
  let lastId = 0
  let pending: Asked | null = null
  /** Requests for parts of the file: none replaces another. */
  const parts = new Map<number, Asked>()
  let worker: Worker | null = null
  worker = start()

  function start(): Worker | null {
    let isReady = false
    try {
      const started = new Worker(scriptUrl)
      started.addEventListener('message', ({ data }: MessageEvent<Reply>) => {
        if (data.kind === 'ready') isReady = true
        else settle(data)
      })
      started.addEventListener('error', () => {
        if (isReady) stop('The worker broke down: the file may be too large for this browser.')
        else goOnWithoutWorker()
      })
      return started
    } catch {
      goOnWithoutWorker()
      return null
    }
  }

  function goOnWithoutWorker(): void {
    worker = null
    onPage = loadOnPage()
    // Each request reports this failure itself.
    onPage.catch(() => {})
    onNoWorker()
    if (pending !== null) post(pending.request)
  }

  function post(request: Request): void {
    if (worker !== null) worker.postMessage(request)
    else onPage?.then(explore => explore(request)).then(settle, () => stop('The explorer could not be loaded.'))
  }

  /** Ends the pending request, and returns it for a reply or an error. */
  function end() {
    const ended = pending
    pending = null
    if (ended !== null) onBusy(false)
    return ended
  }

  function settle(reply: Reply): void {
    const asked = reply.id === pending?.request.id ? end() : parts.get(reply.id)
    parts.delete(reply.id)
    if (reply.kind === 'problem') asked?.reject(new EngineError(reply.message))
    else asked?.resolve(reply)
  }

  function stop(reason: string): void {
    const ended = end()
    if (ended === null) return
    parts.clear()
    if (worker !== null) {
      worker.terminate()
      worker = start()
    }
    ended.reject(new EngineError(reason))
  }

  // An empty message is not shown.
  const forget = () => end()?.reject(new EngineError(''))

  function ask(question: Question): Promise<Reply> {
    const id = ++lastId
    const request: Request = { ...question, id }
    return new Promise((resolve, reject) => {
      const asked = { request, resolve, reject }
      if (question.kind === 'part') parts.set(id, asked)
      else {
        forget()
        pending = asked
        onBusy(true)
        setTimeout(() => {
          if (pending === asked)
            stop(`Given up: it took longer than ${MAX_REQUEST_SECONDS} seconds. The command line has more time.`)
        }, MAX_REQUEST_SECONDS * 1000)
      }
      post(request)
    })
  }

  // A reply has the kind of its request.
  return { ask: question => ask(question) as Promise<never>, forget, stop }
}

const SCRIPT = 'worker.js'

declare global {
  /** Defined by the worker's script when it is loaded into a page. */
  var exploreOnPage: Explore | undefined
}

interface UrlRules {
  createScriptURL(url: string): string
}
declare const trustedTypes: { createPolicy(name: string, rules: UrlRules): UrlRules } | undefined

/** The only script URL that this page ever creates. */
const rules: UrlRules = { createScriptURL: url => (url === SCRIPT ? url : '') }
const policy = typeof trustedTypes === 'undefined' ? rules : trustedTypes.createPolicy('explorer', rules)
const scriptUrl = policy.createScriptURL(SCRIPT)

function loadOnPage(): Promise<Explore> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = scriptUrl
    script.addEventListener('load', () => {
      if (globalThis.exploreOnPage) resolve(globalThis.exploreOnPage)
    })
    script.addEventListener('error', () => reject(new EngineError('The explorer could not be loaded.')))
    document.head.append(script)
  })
}
