import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { addDemoBlocks } from '../../src/devnet/index.ts'
import { hoodiBeacon } from '../../src/entry/beacon.ts'
import { CONTRACT, ROLLUP, startService, word } from '../client/servers.ts'
import { folderOf, networkOf, runHere } from './io.ts'

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

/** Starts a service with a history, and provides its network as a file and a file to write. */
async function startDemo() {
  const { service, url, l1Url, beaconUrl } = await startService()
  addDemoBlocks(service.chain)
  const folder = folderOf()
  const file = join(folder, 'bundle.json')
  const beacon = service.beacon.network
  const network = networkOf(ROLLUP.address, { beacon })
  const claim = [...network, '--address', CONTRACT, '--storage-key', word(0)]
  const endpoints = ['--l1', l1Url, '--l2', url]
  const rootOf = async (block: bigint) => `${await service.beacon.blockRoot(block)}`
  const anyAge = (more: string[]) => (more.includes('--checkpoint') ? ['--checkpoint-max-age', '4000000000'] : [])
  const record = (...more: string[]) =>
    runHere(['record', 'state', ...endpoints, ...claim, '-o', file, ...anyAge(more), ...more])
  const verify = (...more: string[]) => runHere(['verify', file, ...claim, ...more])
  return { service, beaconUrl, folder, file, claim, endpoints, rootOf, record, verify }
}

it('records a bundle from a beacon checkpoint, and verifies it offline', async () => {
  const { service, beaconUrl, folder, file, rootOf, record, verify } = await startDemo()
  const checkpoint = ['--checkpoint', await rootOf(53n)]
  const recorded = await record('--beacon', 'http://127.0.0.1:1', '--beacon', beaconUrl, ...checkpoint)
  expect(recorded.code, recorded.stderr).toBe(0)
  expect(recorded.stderr).toContain('beacon endpoint 1 failed (UNREACHABLE); asking another\n')
  for (const done of [0, 1, 2]) {
    expect(recorded.stderr).toContain(`${done} of 2 committee updates since the trusted beacon block\n`)
  }
  expect(recorded.stdout).toContain('Everything rests on the beacon block that you stated')
  const bundle = read(file)
  expect(bundle.consensus.updates.length).toBe(2)

  await service.close({ graceMs: 0 })
  const verified = await verify(...checkpoint)
  expect(verified.code, verified.stderr).toBe(0)
  for (const text of [
    'trusted beacon block',
    'of 512',
    'proven final by these signatures',
    'proven by the finalized beacon block',
  ]) {
    expect(verified.stdout).toContain(text)
  }
  const { stdout } = await verify(...checkpoint, '--json')
  const { beaconBlock, trusted, trustedInput, l1Block } = JSON.parse(stdout)
  const started = BigInt(beaconBlock.trustedSlotTimestamp)
  const { genesisTime } = service.beacon.network
  expect(started).toBe(BigInt(genesisTime + 12 * 1024 * 54))
  for (const report of [recorded, verified]) expect(report.stdout).toMatch(/age of that block +\d+ days/)
  expect(trusted).toEqual({ beaconBlockRoot: checkpoint[1], network: expect.any(String) })
  expect(trustedInput).toBe('beaconBlockRoot')
  expect(beaconBlock.trustedBlockRoot).toBe(checkpoint[1])
  // The bundle also verifies from its L1 block hash alone.
  expect((await verify('--l1-block-hash', l1Block.hash)).code).toBe(0)

  const inspected = await runHere(['inspect', file])
  expect(inspected.code).toBe(0)
  expect(inspected.stdout).toContain(checkpoint[1])

  const other = await verify('--checkpoint', `0x${'11'.repeat(32)}`)
  expect([other.code, other.stdout.includes('BEACON_ROOT_MISMATCH')]).toEqual([1, true])
  const hoodi = networkOf(ROLLUP.address, { beacon: hoodiBeacon })
  const elsewhere = await runHere(['verify', file, '--address', CONTRACT, '--checkpoint', `${checkpoint[1]}`, ...hoodi])
  expect([elsewhere.code, elsewhere.stdout]).toEqual([
    1,
    expect.stringMatching(/EVIDENCE_NETWORK_MISMATCH[\s\S]*hoodi/),
  ])
  bundle.consensus.updates.pop()
  writeFileSync(join(folder, 'bundle.json'), JSON.stringify(bundle))
  const shorter = await verify(...checkpoint, '--json')
  expect(JSON.parse(shorter.stdout)).toMatchObject({
    error: { code: 'BEACON_SIGNATURE_PERIOD', path: 'consensus.finality.data.signature_slot' },
  })
})

it('refuses incompatible options before it fetches anything', async () => {
  const { beaconUrl, folder, rootOf, record, verify, endpoints, claim } = await startDemo()
  const root = await rootOf(60n)
  writeFileSync(join(folder, 'bundle.json'), '{"version":1,"rollup":{},"request":{},"answer":{}}')
  const other = (more: object) =>
    runHere(['verify', join(folder, 'bundle.json'), '--checkpoint', root, ...networkOf(ROLLUP.address, { ...more })])
  const cases: [string, () => ReturnType<typeof record>][] = [
    ['--beacon is needed', () => record('--checkpoint', root, '--force')],
    ['--beacon goes with --checkpoint', () => record('--beacon', beaconUrl)],
    ['--checkpoint-max-age goes with', () => record('--checkpoint-max-age', '7')],
    ['exclude each other', () => record('--beacon', beaconUrl, '--checkpoint', root, '--l1-block', '5')],
    ['--checkpoint: expected', () => record('--beacon', beaconUrl, '--checkpoint', '0x12')],
    ['neither http nor https', () => record('--beacon', 'ftp://x', '--checkpoint', root, '--force')],
    ['exclude each other', () => verify('--checkpoint', root, '--l1-block-hash', root)],
    ['has no beacon chain', () => other({})],
    ['--network: beacon.version: expected no field but name', () => other({ beacon: { version: 1 } })],
  ]
  for (const [text, run] of cases) {
    const { code, stderr } = await run()
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(text) })
  }
  expect(cases.length).toBe(9)
  const output = ['-o', join(folder, 'old.json')]
  const old = await runHere([
    'record',
    'state',
    ...endpoints,
    ...claim,
    ...output,
    '--beacon',
    beaconUrl,
    '--checkpoint',
    root,
  ])
  expect([old.code, old.stderr]).toEqual([3, expect.stringContaining('BEACON_CHECKPOINT_OLD')])
})
