/** A page or a worker: fetches the corpus, runs it, and sends the report back. */
import { loadCheck } from './check.ts'

const thread = 'document' in globalThis ? 'main thread' : 'worker'
const send = (body: object) => fetch('/report', { method: 'POST', body: JSON.stringify({ thread, ...body }) })
try {
  const check = await loadCheck()
  const corpus = await fetch('/corpus.json')
  await send(check(JSON.parse(await corpus.text())))
} catch (error) {
  await send({ failure: String(error) })
}
