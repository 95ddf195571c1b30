/** A worker for workerd. It loads the package on start, as a deployed worker does, and runs the corpus in a request. */
import { loadCheck } from './check.ts'
import type { Case } from './corpus.ts'

const check = await loadCheck()
const worker = { fetch: async (request: Request) => Response.json(check((await request.json()) as Case[])) }

// biome-ignore lint/style/noDefaultExport: workerd finds the handlers in the default export
export default worker
