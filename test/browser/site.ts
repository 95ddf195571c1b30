import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { extname, join } from 'node:path'

/** The strictest policy a host may set: exactly what the page's own policy allows. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; worker-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types explorer"

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The source that allows WebAssembly. Without it, the fallback replaces the hash kernels. */
const WITH_WASM = "script-src 'self' 'wasm-unsafe-eval'"

/** Serves the files of one folder without subfolders, with the strict policy or with WebAssembly allowed. */
export async function serve(folder: string, wasm = false): Promise<{ server: Server; origin: string }> {
  const loosened = (text: string) => (wasm ? text.replace("script-src 'self'", WITH_WASM) : text)
  const server = createServer(async (request, response) => {
    const name = request.url === '/' ? 'index.html' : (request.url ?? '').slice(1)
    const type = TYPES[extname(name)]
    try {
      if (type === undefined || name.includes('/')) throw new Error('not served')
      const text = await readFile(join(folder, name), 'utf8')
      const body = name === 'index.html' ? loosened(text) : text
      response.writeHead(200, { 'content-type': type, 'content-security-policy': loosened(POLICY) }).end(body)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { server, origin: `http://127.0.0.1:${address.port}/` }
}
