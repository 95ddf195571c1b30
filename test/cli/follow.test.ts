import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openGrowingFile } from '../../src/cli/files/growing-file.ts'
import { addDemoBlocks, type ServiceOptions } from '../../src/devnet/index.ts'
import { implementationOf } from '../../src/devnet/service/contract.ts'
import { CONTRACT, ROLLUP, startService, word } from '../client/servers.ts'
import { folderOf, NOT_OWN, networkOf, runHere, saveProgress } from './io.ts'

const KEYS = [0, 1, 2].map(word)

/** The option, unless it is given: then it is left out. */
const toggled = (option: string, more: readonly string[]) =>
  more.includes(option) ? more.filter(arg => arg !== option) : [option, ...more]

/** Starts a service whose finalizations end with L2 blocks 0, 1, 4, 5 and 9, and provides a folder to write to. */
async function startDemo(serviceOptions: Partial<ServiceOptions> = {}) {
  const started = await startService(serviceOptions)
  addDemoBlocks(started.service.chain)
  const parent = folderOf()
  const folder = join(parent, 'bundles')
  const { url, l1Url } = started
  const claim = [...networkOf(ROLLUP.address), '--address', CONTRACT]
  const asked = [...claim, ...KEYS.flatMap(key => ['--storage-key', key])]
  const follow = (...more: string[]) =>
    runHere(['follow', 'state', '--l1', l1Url, '--l2', url, ...asked, '-o', folder, ...toggled('--once', more)])
  const index = () =>
    readFileSync(join(folder, 'index.ndjson'), 'utf8')
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
  const blocks = () => index().map(({ l2BlockNumber }) => Number(l2BlockNumber))
  return { ...started, parent, folder, asked, follow, index, blocks }
}

it('writes a bundle per finalization, and resumes where it stopped', async () => {
  const { follow, folder, index, blocks, service, asked } = await startDemo()
  const first = await follow('--from-block', '3')
  expect(first).toMatchObject({ code: 0 })
  expect(readdirSync(folder).sort()).toEqual(['4.json', '5.json', '9.json', 'index.ndjson', 'state.json'])
  expect(first.stdout.trimEnd().split('\n').length).toBe(3)
  expect(first.stdout).toMatch(
    /L2 block 4 {2}time not proven {2}the account exists, 2 of 3 slots exist {2}\S+4\.json\n/,
  )
  expect(first.stdout).toMatch(/L2 block 9 {2}of 20\S+Z, \d+ days old {2}/)
  expect(index()[2]).toEqual({
    version: 1,
    l2BlockNumber: '9',
    stateRoot: service.chain.at(9n)?.stateRoot(),
    finalizedTimestamp: `${service.chain.timestamp(9n)}`,
    l1BlockNumber: '64',
    l1BlockHash: Reflect.get(Object(service.chain.l1.getBlock(64n)), 'hash'),
    file: '9.json',
  })
  const { l1BlockHash } = index()[2]
  const verified = await runHere(['verify', join(folder, '9.json'), ...asked, '--l1-block-hash', l1BlockHash])
  expect(verified).toMatchObject({ code: 0, stderr: '' })

  const nothing = await follow()
  expect(nothing).toMatchObject({ code: 0, stdout: '' })
  expect(nothing.stderr).toMatch(/^Continuing in .*\nNo new finalization with proofs\.\n$/m)
  // It stands in the command that is run again, and fetches nothing earlier.
  expect((await follow('--from-block', '1')).stderr).toMatch(/^Continuing in .*: --from-block is for a new folder\n/m)
  addDemoBlocks(service.chain, { counts: [2, 1] })
  const again = await follow('--json')
  const printed = again.stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(printed).toMatchObject([
    { l2BlockNumber: '11', account: { nonce: '1' } },
    { l2BlockNumber: '12', storage: [{ exists: true, leafIndex: expect.any(Number) }, {}, {}] },
  ])
  // What is not proven is left out.
  expect(printed.map(item => 'finalizedTimestamp' in item)).toEqual([false, true])
  expect(blocks()).toEqual([4, 5, 9, 11, 12])
})

it('says that L1 is behind what it has seen before', async () => {
  const { follow, folder } = await startDemo()
  expect(await follow()).toMatchObject({ code: 0 })
  const path = join(folder, 'state.json')
  const state = readFileSync(path, 'utf8')
  const later = state.replace('"l1Block":{"number":"0x40"', '"l1Block":{"number":"0xc8"')
  expect(later).not.toBe(state)
  saveProgress(path, JSON.parse(later).progress)
  expect(await follow()).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('L1 block 64 is older than L1 block 200, seen before'),
  })
})

it('goes on with the same options when the contract holds block hashes', async () => {
  const { follow, folder, index, blocks, service, asked } = await startDemo()
  await follow('--from-block', '5')
  service.chain.upgrade()
  addDemoBlocks(service.chain, { counts: [2, 1] })
  const crossed = await follow()
  expect(crossed).toMatchObject({ code: 0 })
  expect(crossed.stdout).toMatch(
    /^Consistent: L2 block 11 {2}Ethereum state {2}of 20\S+Z, \d+ days old {2}the account exists, /m,
  )
  const [old, now] = [8, 9].map(version => implementationOf(version as 8 | 9))
  expect(crossed.stderr).toContain(`the rollup contract has other code: ${now} in place of ${old}`)
  expect(blocks()).toEqual([5, 9, 11, 12])
  const { hash, stateRoot } = Object(service.chain.getBlock(12n))
  expect(index()[3]).toMatchObject({ l2BlockNumber: '12', stateRoot, blockHash: hash })

  const { l1BlockHash } = index()[3]
  const verified = await runHere(['verify', join(folder, '12.json'), ...asked, '--l1-block-hash', l1BlockHash])
  expect(verified).toMatchObject({ code: 0, stderr: '' })

  // Begun anew, it writes the same.
  rmSync(folder, { recursive: true })
  const again = await follow('--from-block', '5', '--json')
  const printed = again.stdout.trimEnd().split('\n')
  expect(printed.map(line => JSON.parse(line).blockHash === undefined)).toEqual([true, true, false, false])
  expect(again).toMatchObject({ code: 0 })
  service.chain.addBlock()
  service.chain.finalize()
  const stopped = await follow('--implementation', old ?? '')
  expect(stopped).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('ANCHOR_IMPLEMENTATION_MISMATCH'),
  })
  expect(await follow('--implementation', now ?? '')).toMatchObject({ code: 0 })
  expect(blocks()).toEqual([5, 9, 11, 12, 13])
  rmSync(folder, { recursive: true })
  expect(await follow('--from-block', '12', '--implementation', now ?? '')).toMatchObject({ code: 0 })
  expect(blocks()).toEqual([12, 13])
})

it('loses and repeats nothing, wherever a run was killed', async () => {
  const { follow, folder, blocks } = await startDemo()
  const [state, index] = [join(folder, 'state.json'), join(folder, 'index.ndjson')]
  await follow('--from-block', '3')
  const whole = readFileSync(index, 'utf8')
  const { progress } = JSON.parse(readFileSync(state, 'utf8'))
  const before = readFileSync(join(folder, '9.json'), 'utf8')
  // The first of three finalizations was being written: its bundle is there or not, whole; its line, in part or whole.
  const first = whole.slice(0, whole.indexOf('\n') + 1)
  let count = 0
  for (const torn of ['', first.slice(0, 1), first.slice(0, 40), first.slice(0, -1), first]) {
    for (const isWritten of [false, true]) {
      rmSync(join(folder, '5.json'))
      rmSync(join(folder, '9.json'))
      if (isWritten) writeFileSync(join(folder, '4.json'), 'an older bundle')
      else rmSync(join(folder, '4.json'))
      writeFileSync(index, torn)
      saveProgress(state, { length: 0, writing: ['4.json'] })
      expect(await follow('--from-block', '3')).toMatchObject({ code: 0 })
      expect(readFileSync(index, 'utf8')).toBe(whole)
      expect(blocks()).toEqual([4, 5, 9])
      expect(JSON.parse(readFileSync(state, 'utf8')).progress).toEqual(progress)
      expect(readFileSync(join(folder, '9.json'), 'utf8')).toBe(before)
      expect(readFileSync(join(folder, '4.json'), 'utf8')).toMatch(/^\{"format"/)
      count++
    }
  }
  expect(count).toBe(10)
})

it('lets one run at a time write to a folder', async () => {
  const { follow, folder, blocks } = await startDemo()
  expect(await follow('--from-block', '3')).toMatchObject({ code: 0 })
  const index = join(folder, 'index.ndjson')
  const other = await openGrowingFile(index)
  expect(await follow()).toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining(`${index}: another run is writing it`) },
  })
  // It is free again.
  other.close()
  expect(await follow()).toMatchObject({ code: 0 })
  expect(blocks()).toEqual([4, 5, 9])
})

it('does not change foreign files', async () => {
  const { follow, folder, parent } = await startDemo()
  await follow('--from-block', '9')
  const state = readFileSync(join(folder, 'state.json'), 'utf8')
  const other = await follow('--storage-key', word(9))
  expect([other.code, other.stderr]).toEqual([
    2,
    expect.stringContaining('is of another request (it differs in storage keys)'),
  ])
  const content = JSON.parse(state)
  const others: [object, string][] = [
    [{ ...content, signature: { toString: 1 } }, ` exists, and ${NOT_OWN}`],
    [{ ...content, askedFor: undefined }, ` exists, and ${NOT_OWN}`],
    [{}, ` exists, and ${NOT_OWN}`],
    [{ ...content, progress: 7 }, ` exists, and ${NOT_OWN}`],
  ]
  for (const [other, reason] of others) {
    writeFileSync(join(folder, 'state.json'), JSON.stringify(other))
    const { code, stderr } = await follow()
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${join(folder, 'state.json')}${reason}`)])
    expect(stderr).not.toContain('--force')
  }
  expect(others).toHaveLength(4)
  writeFileSync(join(folder, 'state.json'), state)
  const later = { ...content.progress.progress, version: 2 }
  saveProgress(join(folder, 'state.json'), { ...content.progress, progress: later })
  expect((await follow()).stderr).toContain(`${join(folder, 'state.json')}: it is of another version`)
  // An index of another length than that of this user's runs.
  writeFileSync(join(folder, 'state.json'), state)
  const path = join(folder, 'index.ndjson')
  const index = readFileSync(path, 'utf8')
  const changed = [index.slice(0, -1), `${index}something else\n`, `${index}${index.slice(0, 40)}`]
  for (const text of [...changed, index]) {
    // Without any progress, nothing says who wrote it.
    if (text === index) rmSync(join(folder, 'state.json'))
    writeFileSync(path, text)
    const { code, stderr } = await follow('--from-block', '9')
    const reason =
      text === index ? 'was not written by a run that follows' : 'holds something other than what was written'
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${path} exists, and ${reason}: move it away`)])
    expect(readFileSync(path, 'utf8')).toBe(text)
  }
  expect(changed).toHaveLength(3)
  rmSync(path)
  writeFileSync(join(folder, '9.json'), '{}')
  const foreign = await follow('--from-block', '9')
  expect([foreign.code, foreign.stderr]).toEqual([
    2,
    expect.stringContaining('9.json exists, and was not written by a run that follows: move it away'),
  ])
  writeFileSync(join(parent, 'file'), '')
  expect(await follow('-o', join(parent, 'file'))).toMatchObject({ code: 2 })
})

it('ends on Ctrl-C, and prints how to continue', async () => {
  const { url, l1Url, asked, folder } = await startDemo()
  const args = ['follow', 'state', '--l1', l1Url, '--l2', url, ...asked, '-o', folder, '--from-block', '5']
  const running = runHere(args)
  while (
    !existsSync(join(folder, 'state.json')) ||
    !readFileSync(join(folder, 'state.json'), 'utf8').includes('"0x9"')
  ) {
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  process.emit('SIGINT')
  const { code, stderr } = await running
  expect([code, stderr]).toEqual([0, expect.stringContaining('Stopped: run the same command again to continue.\n')])
})

it('switches between endpoints, and never shows a URL', async () => {
  const { url, l1Url, asked, folder } = await startDemo({ apiKeys: ['secret-key-0123456789'] })
  const down = 'http://127.0.0.1:1/v3/another-secret-9876'
  const [l1, l2] = [`${l1Url}/v3/secret-key-0123456789`, `${url}/v3/secret-key-0123456789`]
  const endpoints = ['--l1', down, '--l1', l1, '--l2', down, '--l2', l2, '--l1-agree', l1, '--l1-agree', l1Url]
  const { code, stdout, stderr } = await runHere(['follow', 'state', ...endpoints, ...asked, '-o', folder, '--once'])
  expect(code, stderr).toBe(0)
  expect(stderr).toContain('L1 endpoint 1: UNREACHABLE')
  expect(stderr).toContain('L2 endpoint 1: UNREACHABLE')
  expect(stdout + stderr).not.toMatch(/secret|127\.0\.0\.1/)
})

it('says why it waits while an endpoint fails; with --once, it ends as a recording does', async () => {
  const { url, asked, folder } = await startDemo()
  let requests = 0
  const broken = createServer(({ socket }) => {
    socket.destroy()
    // Each is sent once more, because its connection was closed.
    if (++requests === 4) process.emit('SIGINT')
  }).listen(0)
  onTestFinished(() => void broken.close())
  const { port } = Object(broken.address())
  const l1Url = `http://127.0.0.1:${port}`
  const args = ['follow', 'state', '--l1', l1Url, '--l2', url, ...asked, '-o', folder]
  const once = await runHere([...args, '--once'])
  expect([once.code, requests]).toEqual([3, 2])
  expect(once.stderr).toMatch(/^Not fetched: UNREACHABLE: the L1 endpoint, eth_getBlockByNumber\. .*Check the URL/m)
  expect(once.stderr).not.toContain('waiting')
  requests = 0
  const { code, stderr } = await runHere(args)
  expect([code, requests]).toEqual([0, 4])
  expect(stderr).toMatch(/^waiting \d s: UNREACHABLE: the L1 endpoint, eth_getBlockByNumber\. .*Check the URL/m)
})

it('stops if two sources disagree', async () => {
  const { follow, service, l1Url } = await startDemo()
  const forked = await startService({ contractVersion: 7 })
  addDemoBlocks(forked.service.chain)
  const split = await follow('--l1-agree', l1Url, '--l1-agree', forked.l1Url, '--quorum', '2')
  expect([split.code, split.stderr]).toEqual([3, expect.stringContaining('L1_DISAGREEMENT')])
  for (const { service: each } of [{ service }, forked]) {
    expect(split.stderr).toContain(Reflect.get(Object(each.chain.l1.getBlock(64n)), 'hash'))
  }
})

it('sends nothing if the options are wrong', async () => {
  const { follow } = await startDemo()
  const wrong = [
    ['--from-block', 'x'],
    ['--poll', '0'],
    ['--quorum', '9'],
    ['--keys-per-request', '0'],
    ['--unknown'],
    ['--l1', 'ftp://x'],
  ]
  for (const args of wrong) expect(await follow(...args), args.join(' ')).toMatchObject({ code: 2, stdout: '' })
  expect(wrong.length).toBe(6)
})
