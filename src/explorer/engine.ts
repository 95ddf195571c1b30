import type { Reply, Request } from './messages.ts'

/** A request that came to nothing: it took too long, was stopped, or the worker died. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
}

/** After this, a file is given up. */
const LIMIT_SECONDS = 15

type Explore = (request: Request) => Promise<Reply>
type Question = Request extends infer One ? (One extends Request ? Omit<One, 'id'> : never) : never

export interface Engine {
  ask<Kind extends Question['kind']>(
    question: Extract<Question, { kind: Kind }>,
  ): Promise<Extract<Reply, { kind: Kind }> | Extract<Reply, { kind: 'problem' }>>
  /** Makes what is under way moot: its reply is not waited for. The worker keeps the file. */
  forget(): void
  /** Ends what is under way, and with it the worker and the file. */
  stop(reason: string): void
}

/**
 * Runs the explorer in a worker, so that no file can freeze the page, and ends the worker when it takes too long. A page
 * that was opened from a file gets no worker: then it runs here, for small files.
 *
 * @param onBusy told whether something is under way
 * @param onNoWorker told when there is no worker to be had
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
    // Whoever asks for something is told.
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
    // Nobody is told.
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

  // A reply has the kind of its request, or tells of a problem.
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

/** The one address of a script that this page ever makes. */
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
