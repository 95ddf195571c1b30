/** A worker of workerd: loads the package at its start, as a deployed one does, and runs the corpus that a request brings. */
import { loadCheck } from './check.ts'
import type { Case } from './corpus.ts'

const check = await loadCheck()
const worker = { fetch: async (request: Request) => Response.json(check((await request.json()) as Case[])) }

// biome-ignore lint/style/noDefaultExport: by this workerd finds its handlers
export default worker
