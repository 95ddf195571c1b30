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
  /** Ends what is under way. */
  stop(reason: string): void
  readonly isOnPage: boolean
}

/**
 * Runs the explorer in a worker, so that no file can freeze the page, and ends the worker when it takes too long. A page
 * that was opened from a file gets no worker: then it runs here, for small files.
 *
 * @param onBusy told whether something is under way
 */
export function createEngine(onBusy: (isBusy: boolean) => void): Engine {
  let worker = startWorker()
  const onPage = worker === null ? loadOnPage() : null
  let lastId = 0
  let pending: { id: number; resolve: (reply: Reply) => void; reject: (error: EngineError) => void } | null = null

  function settle(): typeof pending {
    const settled = pending
    pending = null
    onBusy(false)
    return settled
  }

  function stop(reason: string): void {
    if (pending === null) return
    worker?.terminate()
    worker = worker && listen(startWorker())
    settle()?.reject(new EngineError(reason))
  }

  function listen(started: Worker | null): Worker | null {
    started?.addEventListener('message', ({ data }: MessageEvent<Reply>) => {
      if (data.id === pending?.id) settle()?.resolve(data)
    })
    started?.addEventListener('error', () => stop('The worker broke down: the file may be too large for this browser.'))
    return started
  }
  listen(worker)

  function send(question: Question): Promise<Reply> {
    // What is asked later makes what was asked before moot; the worker keeps the file.
    pending?.reject(new EngineError(''))
    const id = ++lastId
    const request: Request = { ...question, id }
    return new Promise((resolve, reject) => {
      pending = { id, resolve, reject }
      onBusy(true)
      setTimeout(() => {
        if (pending?.id === id) stop(`Given up: it took longer than ${LIMIT_SECONDS} seconds.`)
      }, LIMIT_SECONDS * 1000)
      if (worker !== null) worker.postMessage(request)
      else onPage?.then(explore => explore(request)).then(reply => pending?.id === id && settle()?.resolve(reply))
    })
  }

  return {
    // A reply has the kind of its request, or tells of a problem.
    ask: question => send(question) as Promise<never>,
    stop,
    isOnPage: onPage !== null,
  }
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

function startWorker(): Worker | null {
  try {
    return new Worker(scriptUrl)
  } catch {
    return null
  }
}

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
