import { hasMethod } from '../../base/options.ts'

interface Handler {
  onHeaders?(status: unknown, headers: readonly Uint8Array[], ...rest: unknown[]): unknown
}
interface Dispatcher {
  dispatch(options: unknown, handler: Handler): boolean
}

/** Where Node's own `fetch` keeps what sends its requests. Other platforms have nothing there. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1')

/**
 * What to add to the options of `fetch`, so that no content coding of a response can end the process.
 *
 * Node's `fetch` fails for a response with more than five codings before anything listens to the errors of its body: when the
 * connection ends later, an unhandled error ends the process. Nobody can prevent that after `fetch` returned. So a response
 * with more than one coding, which no honest endpoint sends, loses the header that names them, and is read as it is.
 */
export function oneCoding(): object {
  // Node loads its `fetch` when one of its names is first used.
  void globalThis.Headers
  const dispatcher: unknown = Reflect.get(globalThis, DISPATCHER)
  if (!hasMethod(dispatcher, 'dispatch')) return {}
  const dispatch: Dispatcher['dispatch'] = (options, handler) => {
    const own: Handler = Object.create(handler)
    own.onHeaders = (status, headers, ...rest) =>
      handler.onHeaders?.call(own, status, withoutManyCodings(headers), ...rest)
    // It has the method.
    return (dispatcher as Dispatcher).dispatch(options, own)
  }
  return { dispatcher: { dispatch } }
}

/** @param headers names and values in turn */
function withoutManyCodings(headers: readonly Uint8Array[]): readonly Uint8Array[] {
  const text = (part: Uint8Array | undefined) => new TextDecoder('latin1').decode(part)
  const isCoding = (index: number) => text(headers[index - (index % 2)]).toLowerCase() === 'content-encoding'
  const codings = headers.filter((_, index) => index % 2 === 1 && isCoding(index)).map(text)
  return codings.join().includes(',') ? headers.filter((_, index) => !isCoding(index)) : headers
}
