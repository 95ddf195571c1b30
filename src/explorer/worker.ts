import { createExplorer, MAX_INPUT_MIB } from './explore.ts'
import type { Reply, Request } from './messages.ts'

/** Limit if the page runs this itself, because it was opened from disk and gets no worker. */
const MAX_MIB_ON_PAGE = 2

if (typeof document === 'undefined') {
  const explore = createExplorer(MAX_INPUT_MIB)
  const ready: Reply = { id: 0, kind: 'ready' }
  self.postMessage(ready)
  self.addEventListener('message', async (event: MessageEvent<Request>) => {
    self.postMessage(await explore(event.data))
  })
} else {
  Object.assign(globalThis, { exploreOnPage: createExplorer(MAX_MIB_ON_PAGE) })
}
