/**
 * A worker for workerd. It loads the package on start, as a deployed worker does, and runs the corpus in a
 * request. Under `/program` it is the worker of test/programs.
 */
import { loadCheck } from './check.ts'
import type { Case } from './corpus.ts'

const check = await loadCheck()
const { default: program } = await import('../programs/worker.ts')
const worker = {
  fetch: async (request: Request): Promise<Response> =>
    request.url.endsWith('/program') ? program.fetch(request) : Response.json(check((await request.json()) as Case[])),
}

// biome-ignore lint/style/noDefaultExport: workerd finds the handlers in the default export
export default worker
