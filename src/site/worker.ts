import { createExplorer, replyTo } from './explore.ts'
import { MAX_INPUT_MIB, MAX_INPUT_MIB_ON_PAGE } from './limits.ts'

// On a page that was opened from disk, and got no worker, this script runs on the page.
const { explorerPort } = globalThis
const explorer = createExplorer(explorerPort ? MAX_INPUT_MIB_ON_PAGE : MAX_INPUT_MIB)
const port = explorerPort ?? self
port.onmessage = async ({ data }) => port.postMessage(await replyTo(explorer, data))
