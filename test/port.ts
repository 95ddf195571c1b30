import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A free port for a program that has to be told one. Nothing that asks for any port is given it meanwhile: systems hand out those from
 * 32,768 on.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
