import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from '../../src/entry/index.ts'
import { lineaMessageService } from '../../src/entry/messages.ts'

/** Removed when the process ends: constants of tests name what is in it. */
const networks = mkdtempSync(join(tmpdir(), 'networks-'))
process.on('exit', () => rmSync(networks, { recursive: true, force: true }))

/** A file for `--network`. @param parts the rollup, and what differs from an unnamed network of poseidon2 */
export function networkFile(parts: { readonly rollup: object; readonly [name: string]: unknown }): string {
  const text = stringify({ name: 'devnet', ...parts })
  const path = join(networks, `${createHash('sha256').update(text).digest('hex').slice(0, 16)}.json`)
  writeFileSync(path, text)
  return path
}

/** The option for a network with this contract, and what a service has by default. */
export const networkOf = (
  address: string,
  { rollup = {}, ...more }: { readonly rollup?: object; readonly [name: string]: unknown } = {},
): string[] => {
  const parts = { messageService: lineaMessageService, ...more }
  return ['--network', networkFile({ rollup: { address, chainId: 1337, l1ChainId: 1338, ...rollup }, ...parts })]
}
