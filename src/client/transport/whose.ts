/**
 * Whose work a request belongs to. Signals say it, because they are handed down to every request: all that descends from one
 * signal is one owner's work. Queues are fair between owners.
 */
const ORIGINS = new WeakMap<AbortSignal, { readonly owner: AbortSignal; readonly isBulk: boolean }>()

/** The first signal that this one descends from. Undefined for work that nobody can end. */
export const ownerOf = (signal: AbortSignal | undefined): AbortSignal | undefined =>
  signal && (ORIGINS.get(signal)?.owner ?? signal)

/** Whether it is one of many requests for the same result. Others go first. */
export const isBulk = (signal: AbortSignal | undefined): boolean =>
  signal !== undefined && (ORIGINS.get(signal)?.isBulk ?? false)

/** Notes that `signal` ends a part of the work that `whole` ends. @param bulk whether it is one of many parts */
export function inherit(signal: AbortSignal, whole: AbortSignal | undefined, bulk = isBulk(whole)): void {
  ORIGINS.set(signal, { owner: ownerOf(whole) ?? signal, isBulk: bulk })
}

const ENDS = new WeakMap<AbortSignal, Map<symbol, () => void>>()

/** However many wait for a signal, it has one listener: Node warns of more than ten. @returns prevents the call */
export function onAbort(signal: AbortSignal | undefined, end: () => void): () => void {
  if (signal === undefined) return () => {}
  const ends = ENDS.get(signal) ?? new Map<symbol, () => void>()
  ENDS.set(signal, ends)
  const own = Symbol()
  if (ends.set(own, end).size === 1) signal.addEventListener('abort', endAll, { once: true })
  return () => {
    // A signal of several others lives as long as it has a listener.
    if (ends.delete(own) && ends.size === 0) signal.removeEventListener('abort', endAll)
  }
}

function endAll({ target }: Event): void {
  for (const end of ENDS.get(target as AbortSignal)?.values() ?? []) end()
}

/** Aborted with the whole, or alone. `forget` is to be called when the part has ended, because the whole may live on for long. */
export function partOf(whole: AbortSignal | undefined, before?: () => void): AbortController & { forget(): void } {
  const controller = new AbortController()
  inherit(controller.signal, whole)
  const end = () => {
    before?.()
    controller.abort(whole?.reason)
  }
  if (whole?.aborted) end()
  return Object.assign(controller, { forget: onAbort(whole, end) })
}
