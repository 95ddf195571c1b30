import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { addDemoBlocks, createService, demoWorld } from '../../src/devnet/index.ts'
import { DEMO_TOKEN, DEMO_USER } from '../../src/devnet/service/demo-chain.ts'
import { lineaMessageService } from '../../src/entry/messages.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { fileOf, folderOf, NOWHERE, networkOf, runHere } from './io.ts'

/**
 * What each command prints with --json, and its exit code, in `golden.txt`: a line per value. Programs read it, so a difference is a
 * change of the interface. `npx vitest run test/cli/golden.test.ts -u` writes the file.
 */

const ROLLUP = `0x${'ff'.repeat(20)}` as const

let urls: string[]
beforeAll(async () => {
  const service = createService({
    ...{ genesis: demoWorld(poseidon2), rollup: { address: ROLLUP }, messageService: lineaMessageService },
  })
  service.chain.messages.sendFromL2([{ from: DEMO_USER, to: DEMO_USER, value: 7n }])
  addDemoBlocks(service.chain)
  const { url, l1Url } = await service.listen()
  urls = ['--l1', l1Url, '--l2', url, ...networkOf(ROLLUP, { rollup: { chainId: 1337 } })]
  return () => service.close({ graceMs: 0 })
})

/** A value as it stays from run to run: of the words of the interface, the word; of anything else, what it is. */
function stable(value: unknown): string {
  if (typeof value === 'number') return 'a number'
  if (typeof value !== 'string') return `${value}`
  if (/^0x(?:[0-9a-f]{2})*$/i.test(value))
    return [42, 66].includes(value.length) ? `${value.length / 2 - 1} bytes` : 'bytes'
  if (/^\d+$/.test(value)) return 'a decimal number'
  if (/^[0-9a-f]{64}$/.test(value)) return 'a digest'
  if (value.startsWith(tmpdir())) return 'a path'
  return value.includes(' ') ? 'a text' : JSON.stringify(value)
}

/** The paths of all values, each with the value. Of a list, one item stands for all of one form. */
function leavesOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [`${path}: ${stable(value)}`]
  const names = Object.entries(value).flatMap(([name, item]) =>
    leavesOf(item, Array.isArray(value) ? `${path}[]` : path === '' ? name : `${path}.${name}`),
  )
  return names.length === 0 ? [`${path}: empty`] : [...new Set(names)]
}

async function told(argv: readonly string[]): Promise<string> {
  const { code, stdout } = await runHere([...argv, '--json'])
  const lines = stdout.trimEnd().split('\n')
  const leaves = lines.flatMap(line => leavesOf(JSON.parse(line)))
  const known = [...new Set(leaves)].map(line => `    ${line}`)
  return `${known.join('\n')}\n  exit code ${code}`
}

it('prints with --json what it has always printed', async () => {
  const folder = folderOf()
  const at = (name: string) => join(folder, name)
  const vectorOf = (path: string) => JSON.parse(readFileSync(`vectors/${path}.json`, 'utf8'))
  const verify = (path: string, ...more: string[]) => {
    const { bundle, input, claim } = vectorOf(path)
    const known = networkOf(claim.rollup.address, { rollup: { chainId: 1337 } })
    return ['verify', fileOf(bundle ?? input), '--l1-block-hash', claim.trusted.l1BlockHash, ...known, ...more]
  }
  const valid = vectorOf('poseidon2/valid/contract-slot-absent-after-head')
  const history = vectorOf('transitions/valid/poseidon2-history').input
  const { answer, stateRoot, address } = valid
  const state = ['--address', DEMO_TOKEN, '--mapping', '0', DEMO_USER]
  const cases: Record<string, readonly string[]> = {
    'verify an answer': ['verify', fileOf(answer), '--state-root', stateRoot, '--address', address],
    'verify a recording': ['verify', fileOf({ scheme: 'poseidon2', stateRoot, address, result: answer })],
    'verify, refused': ['verify', fileOf(answer), '--state-root', `0x${'01'.repeat(32)}`],
    'verify, unusable': ['verify', fileOf('{'), '--state-root', stateRoot],
    'verify state': verify('evidence/valid/poseidon2-block-hash'),
    'verify state of Ethereum': verify('evidence/valid/ethereum-block-hash'),
    'verify state, refused': verify('evidence/invalid/no-root'),
    'verify logs': verify('logs/valid/one-log'),
    'verify a message': verify('messages/valid/evidence-from-l2'),
    'verify a call': verify('calls/valid/revert'),
    inspect: ['inspect', fileOf(vectorOf('evidence/valid/poseidon2-block-hash').bundle)],
    audit: [
      'audit',
      fileOf(JSON.stringify({ scheme: 'poseidon2', stateRoot, address, result: answer })),
      '--jobs',
      '1',
    ],
    diff: [
      ...['diff', fileOf(JSON.stringify(history.answer)), '-o', at('changes')],
      ...['--parent-root', history.parentStateRoot, '--state-root', history.stateRoot],
    ],
    'record state': ['record', 'state', ...urls, ...state, '-o', at('state.json')],
    'record state, again': ['record', 'state', ...urls, ...state, '-o', at('state.json')],
    'record call': ['record', 'call', ...urls, '--call', DEMO_TOKEN, '0x18160ddd', '-o', at('call.json')],
    'record logs': ['record', 'logs', ...urls, '--from-block', '1', '-o', at('logs.json')],
    'record logs, rows': ['record', 'logs', ...urls, '--from-block', '1', '-o', at('logs.csv')],
    'record message': ['record', 'message', ...urls, '--sender', DEMO_USER, '-o', at('message.json')],
    'follow state': ['follow', 'state', ...urls, ...state, '--once', '-o', at('states')],
    'follow messages': ['follow', 'messages', ...urls, '--once', '--from-block', '0', '-o', at('messages')],
    snapshot: ['snapshot', fileOf(`${DEMO_USER}\n`), ...urls, '-o', at('rows.csv')],
    'record, no endpoint': ['record', 'state', ...NOWHERE, ...state, '-o', at('x')],
  }
  const all: string[] = []
  for (const [name, argv] of Object.entries(cases)) all.push(`${name}\n${await told(argv)}\n`)
  await expect(all.join('\n')).toMatchFileSnapshot('golden.txt')
})
