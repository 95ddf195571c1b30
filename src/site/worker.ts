import { createExplorer } from './explore.ts'
import { MAX_INPUT_MIB, MAX_INPUT_MIB_ON_PAGE } from './limits.ts'
import type { Reply, Request } from './messages.ts'

if (typeof document === 'undefined') {
  const explore = createExplorer(MAX_INPUT_MIB)
  const ready: Reply = { id: 0, kind: 'ready' }
  self.postMessage(ready)
  self.addEventListener('message', async (event: MessageEvent<Request>) => {
    self.postMessage(await explore(event.data))
  })
} else {
  Object.assign(globalThis, { exploreOnPage: createExplorer(MAX_INPUT_MIB_ON_PAGE) })
}
