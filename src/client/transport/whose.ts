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

/**
 * A controller for a part of the work that `whole` ends: aborted with it, or alone.
 *
 * @param onAbort called before it is aborted with the whole
 * @returns with `forget`, to call when the part has ended, because the whole may live on for long
 */
export function partOf(whole: AbortSignal | undefined, onAbort?: () => void): AbortController & { forget(): void } {
  const controller = new AbortController()
  inherit(controller.signal, whole)
  const end = () => {
    onAbort?.()
    controller.abort(whole?.reason)
  }
  if (whole?.aborted) end()
  else whole?.addEventListener('abort', end, { once: true })
  return Object.assign(controller, { forget: () => whole?.removeEventListener('abort', end) })
}
