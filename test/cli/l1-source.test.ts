import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { UsageError } from '../../src/cli/errors.ts'
import { l1SourceOptions, optionsOf } from '../../src/cli/options/declared.ts'
import { createConnections } from '../../src/cli/options/endpoint.ts'
import { openL1Source } from '../../src/cli/options/l1-source.ts'
import { networkOf as chosenNetwork } from '../../src/cli/options/network.ts'
import { parseOptions } from '../../src/cli/options/parse.ts'
import { addDemoBlocks } from '../../src/devnet/index.ts'
import { CONTRACT, ROLLUP, startServer, startService } from '../client/servers.ts'
import { PROGRAM } from '../package/build.ts'
import { folderOf, NOT_OWN, networkFile, networkOf, runHere, saveProgress } from './io.ts'
import { startProxyProcess } from './proxy-process.ts'

/** The demo's consensus layer has fixed times in the past. */
const ANY_AGE = ['--checkpoint-max-age', '4000000000']
const DOWN = 'http://127.0.0.1:1/SECRET'

/** Starts a service with a history, and a beacon API over it that records its requests. */
async function startDemo() {
  const started = await startService()
  const { service, url, l1Url } = started
  addDemoBlocks(service.chain)
  const { l1 } = service.chain
  const folder = folderOf({ 'network.json': { rollup: { address: ROLLUP.address }, beacon: service.beacon.network } })
  const path = (name: string) => join(folder, name)
  const root = async (block: bigint) => (await service.beacon.blockRoot(block)) ?? '0x'
  const head = () => Reflect.get(l1.getBlock(l1.blockNumber()) ?? {}, 'hash')
  const asked: string[] = []
  /** If set, the beacon API answers with this finality update. */
  const held: { finality?: string } = {}
  const api = await startServer((response, _, __, ___, target) => {
    const { pathname, searchParams } = new URL(target, 'http://beacon')
    asked.push(pathname.split('/').at(-1)?.slice(0, 15) ?? '')
    const isHeld = pathname.endsWith('finality_update') && held.finality !== undefined
    if (isHeld) return void response.end(held.finality)
    service.beacon
      .answer(pathname, searchParams)
      .then(({ status, body }) => response.writeHead(status).end(JSON.stringify(body)))
  })
  return { ...started, endpoints: ['--l1', l1Url, '--l2', url], path, root, head, asked, held, apiUrl: api.url }
}

/** Options by their names, as on the command line. */
type Given = Readonly<Record<string, string | readonly string[]>>

/** Opens the source for these options without running a command. */
async function open(given: Given, urls: readonly string[] = [DOWN]) {
  const args = Object.entries(given).flatMap(([name, value]) => [value].flat().map(text => `--${name}=${text}`))
  const { values } = parseOptions(args, { ...l1SourceOptions, ...optionsOf('network') })
  const controller = new AbortController()
  onTestFinished(() => controller.abort())
  const connections = createConnections(5, controller.signal, () => {})
  const odd: string[] = []
  const l1 = connections.open('l1', urls)
  const source = await openL1Source(values, chosenNetwork(values), l1, connections, text => odd.push(text))
  return { ...source, odd }
}

it('says when one endpoint alone could invent the hash, however it is named', async () => {
  const other = 'http://127.0.0.1:2'
  const agree = { 'l1-agree': [DOWN, other] }
  const warned: [Given, string[], string][] = [
    [{}, [DOWN], 'one endpoint only, which could invent the hash'],
    [{ 'l1-agree': [other] }, [DOWN], 'one endpoint only, which could invent the hash'],
    [{ ...agree, quorum: '1' }, [DOWN], 'any one of 2 endpoints, each of which could invent the hash'],
  ]
  for (const [flags, l1, expected] of warned) {
    const { trust, isAlone } = await open(flags, l1)
    expect([trust.slice(0, expected.length), isAlone]).toEqual([expected, true])
  }
  const quiet: [Given, string[]][] = [
    [agree, [DOWN]],
    [{}, [DOWN, other]],
  ]
  for (const [flags, l1] of quiet) {
    const { trust, isAlone } = await open(flags, l1)
    expect([trust, isAlone]).toEqual(['2 of 2 L1 endpoints that must agree', undefined])
  }
})

it('proves the hash from a checkpoint, saves its state, and resumes without going back', async () => {
  const { service, path, root, head, asked, held, beaconUrl, apiUrl } = await startDemo()
  const file = path('beacon.json')
  const ages = { 'checkpoint-max-age': '4000000000' }
  const flags = { ...ages, checkpoint: await root(60n), network: path('network.json'), 'beacon-state': file }
  const first = await open({ ...flags, beacon: [DOWN, apiUrl] })
  const old = head()
  expect([await first.l1BlockHash(), await first.l1BlockHash()]).toEqual([old, old])
  // Reported once, without the URL.
  expect(first.odd).toEqual(['--beacon number 1: UNREACHABLE'])
  expect(first.trust).toBe(`the beacon block ${flags.checkpoint}, from which what 2 beacon APIs send is verified`)
  expect(asked.filter(name => name === flags.checkpoint.slice(0, 15)).length).toBe(1)
  held.finality = JSON.stringify((await service.beacon.answer('/eth/v1/beacon/light_client/finality_update')).body)

  // Another beacon API has a newer block, which is saved.
  service.chain.l1.addBlock()
  expect(await first.l1BlockHash()).toBe(old)
  const second = await open({ ...flags, beacon: [apiUrl, beaconUrl] })
  expect(await second.l1BlockHash()).toBe(head())
  expect(second.odd).toEqual([])
  // A restart goes on from the saved block: it does not request the checkpoint, and does not go back to an older block.
  asked.length = 0
  const third = await open({ ...flags, beacon: [apiUrl] })
  expect(await third.l1BlockHash()).toBe(head())
  expect(third.odd).toEqual(['--beacon number 1: BEACON_OLDER_THAN_CHECKPOINT'])
  expect(asked).toEqual([(await root(service.chain.l1.blockNumber())).slice(0, 15), 'finality_update'])

  // Without the age options, the default limits apply.
  const { 'checkpoint-max-age': __, ...stricter } = flags
  const aged = await open({ ...stricter, beacon: [beaconUrl] })
  await expect(aged.l1BlockHash()).rejects.toMatchObject({ code: 'BEACON_CHECKPOINT_OLD' })

  // A state file that is damaged or of another checkpoint or network is refused before any request.
  const stored = JSON.parse(readFileSync(file, 'utf8'))
  const damages: [unknown, string][] = [
    ['{', `${NOT_OWN}: move it away to begin anew`],
    [{}, `${NOT_OWN}: move it away to begin anew`],
    [{ ...stored, askedFor: { ...stored.askedFor, checkpoint: '0x' } }, NOT_OWN],
    [{ ...stored, askedFor: { ...stored.askedFor, network: '0x' } }, NOT_OWN],
    [{ ...stored, progress: flags.checkpoint }, NOT_OWN],
  ]
  for (const [content, message] of damages) {
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
    const refused = await open({ ...flags, beacon: [beaconUrl] }).catch(error => error)
    expect(refused).toBeInstanceOf(UsageError)
    expect(refused.message).toContain(message)
  }
  expect(damages.length).toBe(5)
  writeFileSync(file, JSON.stringify(stored))
  saveProgress(file, 7)
  const message = `--beacon-state: ${file}: expected the root of a beacon block`
  await expect(open({ ...flags, beacon: [beaconUrl] })).rejects.toThrow(message)
})

it('provides the hash to follow and proxy, with the same options', async () => {
  const { service, endpoints, path, root, beaconUrl } = await startDemo()
  const file = path('beacon.json')
  const checkpoint = ['--checkpoint', await root(60n), ...ANY_AGE]
  const beacons = ['--beacon', DOWN, '--beacon', beaconUrl, '--beacon-state', file]
  const claim = networkOf(ROLLUP.address, { beacon: service.beacon.network })
  const asked = [...endpoints, ...claim, ...checkpoint, ...beacons]
  const follow = () => runHere(['follow', 'state', ...asked, '--address', CONTRACT, '-o', path('bundles'), '--once'])
  const first = await follow()
  expect(first).toMatchObject({ code: 0 })
  expect(first.stdout).toMatch(/L2 block 9 .*the account exists/)
  expect(first.stderr).toContain('L1 block hash: --beacon number 1: UNREACHABLE\n')
  expect(first.stdout + first.stderr).not.toContain('SECRET')
  expect(existsSync(file)).toBe(true)
  addDemoBlocks(service.chain, { counts: [2] })
  expect((await follow()).stdout).toMatch(/^Verified: L2 block 11 /)

  const proxy = await startProxyProcess([PROGRAM], [...asked, '--port', '0'], program =>
    onTestFinished(() => void program.kill('SIGKILL')),
  )
  expect(proxy.events[0]?.trust).toMatch(/^the beacon block 0x[0-9a-f]{64}, from which what 2 beacon APIs send/)
  expect(await proxy.until(({ event }) => event === 'view')).toMatchObject({ l2BlockNumber: '11' })
  await proxy.until(({ event }) => event === 'disagreement')
  expect(await proxy.end('SIGTERM')).toBe(0)
  expect(JSON.stringify(proxy.events)).not.toContain('SECRET')
})

it('refuses incompatible options before any request', async () => {
  const { path } = await startDemo()
  const [root, network] = [`0x${'11'.repeat(32)}`, path('network.json')]
  const cases: [Given, string][] = [
    [{ checkpoint: root }, '--beacon is needed'],
    [{ checkpoint: root, beacon: [DOWN], network: networkFile({ rollup: ROLLUP }) }, 'has no beacon chain'],
    [{ checkpoint: '0x1', beacon: [DOWN], network }, '--checkpoint: expected'],
    [{ checkpoint: root, beacon: ['ftp://x'], network }, '--beacon: '],
    [{ checkpoint: root, beacon: [DOWN], network, quorum: '1' }, 'exclude each other'],
    [{ checkpoint: root, beacon: [DOWN], network, 'l1-agree': [DOWN] }, 'exclude each other'],
    [{ checkpoint: root, beacon: [DOWN], network, 'checkpoint-max-age': '-1' }, '--checkpoint-max-age: expected'],
    [{ checkpoint: root, beacon: [DOWN], network, 'beacon-state': path('none/state.json') }, 'cannot write'],
    [{ checkpoint: root, beacon: [DOWN], network: path('none.json') }, 'no such network'],
    [{ beacon: [DOWN] }, '--beacon goes with --checkpoint'],
    [{ 'beacon-state': path('state.json') }, '--beacon-state goes with --checkpoint'],
    [{ 'checkpoint-max-age': '1' }, '--checkpoint-max-age goes with --checkpoint'],
    [{ quorum: '2' }, '--quorum: expected at most 1, the number of --l1 endpoints, found 2'],
    [
      { quorum: '3', 'l1-agree': [DOWN, 'http://127.0.0.1:2'] },
      '--quorum: expected at most 2, the number of --l1-agree endpoints, found 3',
    ],
    [{ 'l1-agree': [DOWN, DOWN] }, 'the same URL twice'],
  ]
  for (const [flags, message] of cases) {
    const refused = await open(flags).catch(error => error)
    expect(refused, JSON.stringify(flags)).toBeInstanceOf(UsageError)
    expect(refused.message).toContain(message)
    expect(refused.message).not.toContain('SECRET')
  }
  expect(cases.length).toBe(15)
})
