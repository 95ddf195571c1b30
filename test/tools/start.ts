/**
 * The demonstration of `npm start`: runs the built program on true evidence, on the same evidence with one digit changed, and
 * on all test vectors.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const VECTOR = 'vectors/evidence/valid/poseidon2-timestamp.json'

const { claim, bundle } = JSON.parse(readFileSync(VECTOR, 'utf8'))
const { rollup, trusted, address, storageKeys } = claim
// The contract is none that the program knows, so that a file describes the network.
const network = join(mkdtempSync(join(tmpdir(), 'network-')), 'network.json')
writeFileSync(network, JSON.stringify({ rollup }))
const flags = [
  ...['--network', network, '--l1-block-hash', trusted.l1BlockHash],
  ...['--address', address, ...storageKeys.flatMap((key: string) => ['--storage-key', key])],
]

function verify(evidence: unknown): number | null {
  const { status } = spawnSync(process.execPath, ['src/cli/main.js', 'verify', '-', ...flags], {
    input: JSON.stringify(evidence),
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  return status
}

console.log(`An evidence bundle proves what a contract on a rollup holds, offline, from one L1 block hash that you trust:
the hash leads to the L1 state, to the rollup contract on L1, to the state root of the rollup, to the contract's slots.
Below, such a bundle is verified; then the same bundle is verified with one hexadecimal digit changed.
`)
const genuine = verify(bundle)
console.log('\nThe same bundle, with one digit of the account proof changed:\n')
const text = JSON.stringify(bundle.answer)
// In the middle of a tree node.
const at = text.search(/0x[0-9a-f]{128}/) + 66
const changed = text.slice(0, at) + (text[at] === '0' ? '1' : '0') + text.slice(at + 1)
const forged = verify({ ...bundle, answer: JSON.parse(changed) })
console.log('\nAll test vectors, true and forged:\n')
const corpus = spawnSync('npm', ['run', '--silent', 'vectors'], { stdio: 'inherit' })
console.log('\nThe command for files of your own: npx rollup-state-proof verify --help')
process.exitCode = genuine === 0 && forged === 1 && corpus.status === 0 ? 0 : 1
