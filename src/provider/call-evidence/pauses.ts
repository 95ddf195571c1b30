import { abortedBy } from '../../rpc/error.ts'

/** Milliseconds of work between two pauses. */
const INTERVAL = 50

export type Pause = () => Promise<void>

/** Lets other tasks run from time to time, because otherwise nothing could abort the work. @throws EndpointError `ABORTED` */
export function createPauses(signal: AbortSignal | undefined): Pause {
  let last = Date.now()
  return async () => {
    if (signal === undefined) return
    if (Date.now() - last >= INTERVAL) {
      await new Promise(resolve => setTimeout(resolve))
      last = Date.now()
    }
    if (signal.aborted) throw abortedBy(signal)
  }
}
