import { verifyAll } from '../check.js'
import { InBrowser } from './in-browser.js'

// biome-ignore lint/style/noDefaultExport: Next looks for it
export default async function Page() {
  return (
    <>
      <output>{await verifyAll()}</output>
      <InBrowser />
    </>
  )
}
