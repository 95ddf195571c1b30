import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { createService, demoWorld, type Service, type ServiceOptions } from '../../src/devnet/index.ts'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'

export const ROLLUP = { name: 'devnet', address: `0x${'ff'.repeat(20)}` } as const
export const CONTRACT: Hex = `0x${'c0'.repeat(20)}`
export const USER: Hex = `0x${'a1'.repeat(20)}`
export const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`

/** Starts a service over the demo state, with one finalized block after genesis. It closes when the test ends. */
export async function startService(options: Partial<ServiceOptions> = {}): Promise<{
  service: Service
  url: string
  l1Url: string
  beaconUrl: string
}> {
  const service = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP, ...options })
  service.chain.pending.setStorage(CONTRACT, { key: word(0), value: word(43) })
  service.chain.addBlock()
  service.chain.finalize()
  const urls = await service.listen()
  onTestFinished(() => service.close({ graceMs: 0 }))
  return { service, ...urls }
}

/** Starts a server that answers as `answer` says. It closes when the test ends. `turn` counts requests from 0. */
export async function startServer(
  answer: (response: ServerResponse, id: unknown, turn: number, body: string, target: string) => void,
): Promise<{ url: string; turns: () => number }> {
  let turns = 0
  const server = createServer((request: IncomingMessage, response) => {
    const chunks: Uint8Array[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      answer(response, body === '' ? null : JSON.parse(body).id, turns++, body, request.url ?? '/')
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  return { url: `http://127.0.0.1:${address.port}`, turns: () => turns }
}
