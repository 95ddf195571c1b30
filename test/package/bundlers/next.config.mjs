import { dirname } from 'node:path'

// Next is installed in the folder above.
const root = dirname(process.cwd())
export default { output: 'export', distDir: process.env.NEXT_FOLDER, turbopack: { root }, outputFileTracingRoot: root }
