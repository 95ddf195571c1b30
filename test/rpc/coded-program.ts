import { createBeaconApi, createHttpProvider } from '../../src/rpc.ts'

/** Asks the server at URL, as a JSON-RPC endpoint or a beacon API: once with a short deadline, and again after it has passed. */
const [kind = '', url = ''] = process.argv.slice(2)
function ask(timeoutMs: number): Promise<unknown> {
  const options = { timeoutMs, maxRetries: 0 }
  if (kind === 'beacon') return createBeaconApi(url, options).get('/eth/v1/x')
  return createHttpProvider(url, options).request({ method: 'x' })
}
const first = await ask(2000).then(() => 'answered', Object)
// Meanwhile, the deadline fires, or the server ends the connection.
await new Promise(resolve => setTimeout(resolve, 500))
await ask(60_000)
console.log(Reflect.get(Object(first), 'code') ?? first)
