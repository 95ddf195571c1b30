import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createWorld } from '../../src/devnet/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { addressFor } from '../../vectors/vector.ts'
import { folderOf, runHere } from './io.ts'

/** A state manager with three blocks, which are numbered from 7. */
async function serveTraces() {
  const world = createWorld(poseidon2)
  const [address] = [addressFor('a')]
  const roots = [world.stateRoot()]
  const blocks = [1n, 2n, 3n].map(nonce => {
    const traces = world.applyBlock([{ address, account: { nonce } }])
    roots.push(world.stateRoot())
    return traces
  })
  const asked: object[] = []
  const server = createServer(async (request, response) => {
    const parts: Uint8Array[] = []
    for await (const part of request) parts.push(part)
    const { id, method, params } = JSON.parse(Buffer.concat(parts).toString())
    const [{ startBlockNumber, endBlockNumber, zkStateManagerVersion } = {} as Record<string, never>] = params ?? []
    // After a failure, the command also asks which chain this is.
    if (method.startsWith('rollup')) asked.push({ method, ...params[0] })
    const isKnown = zkStateManagerVersion === '2.3.0'
    const result = {
      zkParentStateRootHash: roots[startBlockNumber - 7],
      zkStateMerkleProof: blocks.slice(startBlockNumber - 7, endBlockNumber - 6),
      zkEndStateRootHash: roots[endBlockNumber - 6],
      // A terminal would obey them: JSON.stringify leaves them as they are.
      zkStateManagerVersion: '\u009b2J\u202e',
    }
    const error = { code: -32602, message: 'UNSUPPORTED_VERSION' }
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(isKnown ? { result } : { error }) }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, roots, asked }
}

it('fetches the traces of a range, which diff verifies', async () => {
  const { url, roots, asked } = await serveTraces()
  const file = join(folderOf(), 'traces.ndjson')
  const version = ['--state-manager-version', '2.3.0']
  const range = ['fetch', 'traces', '--l2', url, '--from-block', '7', '--to-block', '9', '--blocks-per-request', '2']
  const fetched = await runHere([...range, ...version, '-o', file])
  expect([fetched.code, fetched.stdout]).toEqual([
    0,
    expect.stringContaining('Fetched, not verified: pass the file to diff.'),
  ])
  const method = 'rollup_getZkEVMStateMerkleProofV0'
  expect(asked).toEqual([
    { method, startBlockNumber: 7, endBlockNumber: 8, zkStateManagerVersion: '2.3.0' },
    { method, startBlockNumber: 9, endBlockNumber: 9, zkStateManagerVersion: '2.3.0' },
  ])
  const written = readFileSync(file, 'utf8')
  expect(written.trimEnd().split('\n').length).toBe(2)
  expect(written).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)
  expect(written).toContain('"\\u009b2J\\u202e"')
  const [first = '', , , last = ''] = roots
  const claim = ['--parent-root', first, '--state-root', last]
  const verified = await runHere(['diff', file, ...claim, '--first-block', '7', '--format', 'csv'])
  expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining(`9,${addressFor('a')},nonce,,2,3\n`)])

  const again = await runHere([...range, ...version, '-o', file])
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('traces.ndjson exists')])
  const beyond = await runHere([
    'fetch',
    'traces',
    '--l2',
    url,
    '--from-block',
    '10',
    ...version,
    '-o',
    `${file}.2`,
    '--json',
  ])
  expect([beyond.code, beyond.stdout]).toEqual([3, expect.stringContaining('no traces of 1 blocks')])
  const refused = await runHere([...range, '--state-manager-version', '1', '-o', `${file}.2`])
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('UNSUPPORTED_VERSION')])
})

it('is refused where something is missing', async () => {
  const refusal = async (...args: string[]) => {
    const { code, stderr } = await runHere(['fetch', 'traces', ...args])
    expect(code).toBe(2)
    return stderr.split('\n')[0]
  }
  const range = ['--from-block', '7', '--state-manager-version', '2.3.0']
  expect(await refusal()).toContain('--from-block is needed')
  expect(await refusal('--from-block', '7')).toContain('--state-manager-version is needed')
  expect(await refusal(...range)).toContain('--output is needed')
  expect(await refusal(...range, '--to-block', '6', '-o', '-')).toContain('--to-block is before --from-block')
  expect(await refusal(...range, '-o', '-')).toContain('--l2 is needed')
  expect(await refusal(...range, '--address', '0x00')).toContain('no such option: --address')
})
