import { createBeaconApi, createHttpProvider } from '../../src/entry/rpc.ts'

/** Asks each URL as a JSON-RPC endpoint and as a beacon API: once with a short deadline, and again after it has passed. */
async function outcomeOf(kind: string, url: string): Promise<unknown> {
  const ask = (what: string, timeoutMs: number): Promise<unknown> => {
    const options = { timeoutMs, maxRetries: 0 }
    if (kind === 'beacon') return createBeaconApi(url, options).get(`/eth/v1/${what}`)
    return createHttpProvider(url, options).request({ method: what })
  }
  const first = await ask('x', 1000).then(() => 'answered', Object)
  // Meanwhile, the deadline fires, or the server ends the connection.
  await new Promise(resolve => setTimeout(resolve, 500))
  await ask('again', 600_000)
  return Reflect.get(Object(first), 'code') ?? first
}

const asked = process.argv.slice(2).flatMap(url => ['rpc', 'beacon'].map(kind => outcomeOf(kind, `${url}/${kind}`)))
console.log((await Promise.all(asked)).join('\n'))
