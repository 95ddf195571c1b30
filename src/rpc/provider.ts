import { diagnose } from './diagnose.ts'
import { RpcError } from './error.ts'

/** What EIP-1193 defines: viem's clients and transports, browser wallets and light clients are providers. */
export interface Provider {
  /**
   * Sends one request.
   *
   * @param args the method's name, and its parameters in order
   * @returns the result
   */
  request(args: { method: string; params?: readonly unknown[] | object | undefined }): Promise<unknown>
}

/** One request; whatever the provider throws becomes an RpcError. `signal` ends the waiting for it. */
export async function callProvider(
  provider: Provider,
  method: string,
  params: readonly unknown[],
  signal?: AbortSignal,
): Promise<unknown> {
  if (signal?.aborted) throw new RpcError('ABORTED')
  try {
    const answer = provider.request({ method, params })
    return await (signal ? orAbort(answer, signal) : answer)
  } catch (error) {
    throw diagnose(error, params)
  }
}

function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(new RpcError('ABORTED'))
    // The provider itself may have ended it.
    if (signal.aborted) end()
    signal.addEventListener('abort', end, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
}

/** A JSON-RPC quantity of at most `bits` bits. @throws RpcError `ANSWER_MALFORMED` */
export function parseQuantity(value: unknown, bits = 64): bigint {
  if (typeof value !== 'string' || value.length > 2 + bits / 4 || !/^0x(0|[1-9a-f][0-9a-f]*)$/i.test(value)) {
    throw new RpcError('ANSWER_MALFORMED', { found: 'something that is not a quantity' })
  }
  return BigInt(value)
}

export const toQuantity = (value: bigint): `0x${string}` => `0x${value.toString(16)}`
