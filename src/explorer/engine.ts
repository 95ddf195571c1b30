import type { Reply, Request } from './messages.ts'

/** A request failed: it timed out, was stopped, or the worker crashed. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
}

/** Time limit per request. */
const LIMIT_SECONDS = 15

type Explore = (request: Request) => Promise<Reply>
type Question = Request extends infer One ? (One extends Request ? Omit<One, 'id'> : never) : never

export interface Engine {
  ask<Kind extends Question['kind']>(
    question: Extract<Question, { kind: Kind }>,
  ): Promise<Extract<Reply, { kind: Kind }> | Extract<Reply, { kind: 'problem' }>>
  /** Abandons the pending request and ignores its reply. The worker keeps the file. */
  forget(): void
  /** Stops the pending request by terminating the worker, which loses the file. */
  stop(reason: string): void
}

/**
 * Runs the explorer in a worker, so that no file can freeze the page, and terminates the worker if it takes too long. A page
 * opened from disk gets no worker. The explorer then runs on the page itself, for small files only.
 *
 * @param onBusy called when a request starts or ends
 * @param onNoWorker called if no worker is available
 */
export function createEngine(onBusy: (isBusy: boolean) => void, onNoWorker: () => void): Engine {
  let onPage: Promise<Explore> | null = null
  let lastId = 0
  let pending: { request: Request; resolve: (reply: Reply) => void; reject: (error: EngineError) => void } | null = null
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

  function settle(reply: Reply): void {
    if (reply.id !== pending?.request.id) return
    const { resolve } = pending
    pending = null
    onBusy(false)
    resolve(reply)
  }

  function stop(reason: string): void {
    if (pending === null) return
    const { reject } = pending
    pending = null
    if (worker !== null) {
      worker.terminate()
      worker = start()
    }
    onBusy(false)
    reject(new EngineError(reason))
  }

  function forget(): void {
    if (pending === null) return
    const { reject } = pending
    pending = null
    onBusy(false)
    // An empty message is not shown.
    reject(new EngineError(''))
  }

  function send(question: Question): Promise<Reply> {
    forget()
    const id = ++lastId
    const request: Request = { ...question, id }
    return new Promise((resolve, reject) => {
      pending = { request, resolve, reject }
      onBusy(true)
      setTimeout(() => {
        if (pending?.request.id === id) stop(`Given up: it took longer than ${LIMIT_SECONDS} seconds.`)
      }, LIMIT_SECONDS * 1000)
      post(request)
    })
  }

  // A reply has the kind of its request, or is a problem.
  return { ask: question => send(question) as Promise<never>, forget, stop }
}

const SCRIPT = 'worker.js'

declare global {
  /** Defined by the worker's script when it is loaded into a page. */
  var exploreOnPage: Explore | undefined
}

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string }
}
declare const trustedTypes: TrustedTypes | undefined

/** The only script URL that this page ever creates. */
const scriptUrl = ((): string => {
  const createScriptURL = (url: string): string => (url === SCRIPT ? url : '')
  const policy =
    typeof trustedTypes === 'undefined'
      ? { createScriptURL }
      : trustedTypes.createPolicy('explorer', { createScriptURL })
  return policy.createScriptURL(SCRIPT)
})()

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
