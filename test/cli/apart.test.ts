import { readFileSync } from 'node:fs'
import { encodeFunctionData, parseAbi } from 'viem'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { serveProxy } from '../../src/cli/commands/proxy-server.ts'
import { addDemoBlocks, createService, demoWorld } from '../../src/devnet/index.ts'
import { lineaMessageService } from '../../src/entry/messages.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { createVerifiedProvider } from '../../src/entry/provider.ts'
import { finalizedBlockHash, followFinalizations, recordEvidence, recordMessage } from '../../src/entry/rpc.ts'
import { createJsonRpcServer } from '../../src/provider/json-rpc.ts'
import { withNetwork } from '../network.ts'
import { type Front, startFront, startNode, startStateManager } from './apart.ts'
import { folderOf, networkOf, runHere } from './io.ts'

const rollup = { address: `0x${'ff'.repeat(20)}` } as const
const user = `0x${'a1'.repeat(20)}` as const
const TOKEN = `0x${'70'.repeat(20)}` as const
const EVENT = 'Transfer(address,address,uint256)'

let urls: { l1: string; l2: string }
beforeAll(async () => {
  const created = { genesis: demoWorld(poseidon2), rollup, messageService: lineaMessageService }
  const service = createService({ ...created, l1Unfinalized: 1 })
  const { messages } = service.chain
  messages.sendFromL2([{ from: user, to: user, value: 7n }])
  messages.sendToL2([{ from: user, to: user }])
  messages.receiveOnL2()
  addDemoBlocks(service.chain, { counts: [4], l1Blocks: 1 })
  service.chain.l1.addBlock()
  const { url: l2, l1Url: l1 } = await service.listen()
  urls = { l1, l2 }
  return () => service.close({ graceMs: 0 })
})

const common = () => ['--l1', urls.l1, ...networkOf(rollup.address)]
const data = encodeFunctionData({
  abi: parseAbi(['function balanceOf(address) view returns (uint256)']),
  functionName: 'balanceOf',
  args: [user],
})

const providerOf = (l2: readonly string[]) => {
  const l1BlockHash = finalizedBlockHash(urls.l1)
  return createVerifiedProvider(
    withNetwork({
      l1: urls.l1,
      l2,
      rollup,
      scheme: poseidon2,
      chainId: 1337,
      l1BlockHash,
      timeoutMs: 100_000,
    }),
  )
}

/** What is printed first, whoever vouches for the L1 block hash. */
const PROVEN = expect.stringMatching(/^(?:Verified|Consistent)/)
const FOLLOWED = expect.stringMatching(/L2 block 4 /)
const ALL_LOGS = expect.stringMatching(/ll logs of these blocks that the filter selects: 3\./)
const TOO_MANY = { code: -32005, message: 'too many requests' }

/** Runs a command, and gives the first line that it prints. */
async function command(l2: readonly string[], ...args: string[]): Promise<string> {
  const named = l2.flatMap(url => ['--l2', url])
  const { code, stdout, stderr } = await runHere([...args, ...common(), ...named])
  return code === 0 ? (stdout.split('\n')[0] ?? '') : `${code}: ${stderr}`
}
const fileIn = (name: string) => `${folderOf()}/${name}`

/** What each feature asks for, as the page on endpoints has it: of a node, of what proves the state, and of L1. */
const page = readFileSync('docs/endpoints.md', 'utf8')
const methodsIn = (text = ''): (string | undefined)[] => [...text.matchAll(/`(\w+)`/g)].map(([, name]) => name)
const [, forState, ofL1] = /Every feature asks for (.+), and a node of L1 for ([^.]+)\./s.exec(page) ?? []
const FEATURES = new Map<string, (string | undefined)[][]>()
let besides = ''
for (const [, feature = '', node, l1 = ''] of page.matchAll(/^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)) {
  if (l1 !== 'the same') besides = l1
  FEATURES.set(feature, [methodsIn(node), methodsIn(forState), methodsIn(`${ofL1}${besides}`)])
}
FEATURES.delete('feature')
const [STATE, CALL, LOGS, MESSAGES] = [
  '`record state`, `follow state`, `snapshot`',
  '`record call`',
  '`record logs`',
  'messages from L2',
]
const [BALANCES, CALLS, BLOCKS] = ['accounts and slots', 'calls and code', 'logs and blocks'].map(
  what => `provider, proxy: ${what}`,
)

/** What is done with an L2, what it prints, and what feature that is. */
const ACTIVITIES: [string, (l2: readonly string[]) => Promise<unknown>, unknown, string | undefined][] = [
  ['record', l2 => command(l2, 'record', 'state', '--address', TOKEN, '-o', fileIn('bundle.json')), PROVEN, STATE],
  [
    'record a call',
    l2 => command(l2, 'record', 'call', '--call', TOKEN, data, '-o', fileIn('call.json')),
    PROVEN,
    CALL,
  ],
  [
    'record a message from L2',
    l2 => command(l2, 'record', 'message', '--sender', user, '-o', fileIn('message.json')),
    expect.stringMatching(/this message from L2 can be claimed on L1/),
    MESSAGES,
  ],
  ['follow', l2 => command(l2, 'follow', 'state', '--address', TOKEN, '-o', folderOf(), '--once'), FOLLOWED, STATE],
  [
    'follow messages',
    l2 => command(l2, 'follow', 'messages', '-o', folderOf(), '--once', '--from-block', '0'),
    expect.stringMatching(/message/),
    MESSAGES,
  ],
  [
    'snapshot',
    l2 =>
      command(
        l2,
        'snapshot',
        `${folderOf({ 'list.txt': `${user}\n${TOKEN}\n` })}/list.txt`,
        '-o',
        fileIn('rows.ndjson'),
      ),
    expect.stringMatching(/2/),
    STATE,
  ],
  [
    'logs',
    l2 =>
      command(
        l2,
        'record',
        'logs',
        '--address',
        TOKEN,
        '--event',
        EVENT,
        '--from-block',
        '1',
        '-o',
        fileIn('logs.csv'),
      ),
    ALL_LOGS,
    LOGS,
  ],
  [
    'library: record',
    async l2 =>
      (await recordEvidence(withNetwork({ l1: urls.l1, l2, scheme: poseidon2, rollup, address: TOKEN }))).verified
        .l2BlockNumber,
    4n,
    STATE,
  ],
  [
    'library: follow',
    async l2 => {
      const how = { l1: urls.l1, l2, rollup, scheme: poseidon2, l1BlockHash: finalizedBlockHash(urls.l1) }
      for await (const { l2BlockNumber } of followFinalizations(
        withNetwork({ ...how, requests: [{ address: TOKEN }] }),
      ))
        return l2BlockNumber
      return null
    },
    4n,
    STATE,
  ],
  [
    'library: message',
    async l2 =>
      (
        await recordMessage(
          withNetwork({
            l1: urls.l1,
            l2,
            rollup,
            scheme: poseidon2,
            messageService: lineaMessageService,
            message: { from: user },
          }),
        )
      ).verified.status,
    'claimable',
    MESSAGES,
  ],
  [
    'provider: balance',
    l2 => providerOf(l2).request({ method: 'eth_getBalance', params: [user, 'latest'] }),
    expect.stringMatching(/^0x/),
    BALANCES,
  ],
  [
    'provider: call',
    l2 => providerOf(l2).request({ method: 'eth_call', params: [{ to: TOKEN, data }, 'latest'] }),
    expect.stringMatching(/^0x0{40}/),
    CALLS,
  ],
  [
    'provider: logs',
    async l2 =>
      Object(await providerOf(l2).request({ method: 'eth_getLogs', params: [{ address: TOKEN, fromBlock: '0x1' }] }))
        .length,
    3,
    BLOCKS,
  ],
  [
    'proxy: code',
    async l2 => {
      const rpc = createJsonRpcServer(providerOf(l2), {
        ...{ concurrency: 8, maxWaiting: 8, maxBatch: 8, maxResponseLength: 2 ** 20, timeout: 100_000 },
      })
      const server = await serveProxy(rpc, { origins: [], hosts: [] }, 0, '127.0.0.1')
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getCode', params: [TOKEN, 'latest'] })
      const headers = { 'Content-Type': 'application/json' }
      const answer = await (await fetch(server.url, { method: 'POST', headers, body })).json()
      await server.close(0)
      return answer
    },
    expect.objectContaining({ result: expect.stringMatching(/^0x[0-9a-f]{20}/) }),
    CALLS,
  ],
]

/** What was asked of the node, the state manager and L1, by feature. */
const asked = new Map<string, Set<string>[]>()

/** The endpoints of an operator's own stack, in both orders. */
const ORDERS = ['node first', 'state manager first'] as const
const inOrder = (order: (typeof ORDERS)[number], node: Front, manager: Front) =>
  order === 'node first' ? [node.url, manager.url] : [manager.url, node.url]

describe.each(ORDERS)('a node without proofs, and a state manager that serves nothing else, the %s', order => {
  it.each(ACTIVITIES)('%s', async (_, run, expected, feature = '') => {
    const [node, manager] = [await startNode(urls.l2), await startStateManager(urls.l2)]
    const l1 = await startFront(urls.l1, () => undefined)
    const { l1: behind } = urls
    urls.l1 = l1.url
    onTestFinished(() => void Object.assign(urls, { l1: behind }))
    expect(await run(inOrder(order, node, manager))).toEqual(expected)
    const own = asked.get(feature) ?? [new Set(), new Set(), new Set()]
    asked.set(feature, own)
    for (const [index, { served }] of [node, manager, l1].entries()) for (const one of served) own[index]?.add(one)
    expect([...manager.served].every(method => method === 'rollup_getProof')).toBe(true)
    // What an endpoint does not serve is not asked of it again, apart from what was on its way.
    for (const front of [node, manager]) {
      const inVain = front.asked.filter(method => !front.served.has(method))
      expect(inVain.length).toBeLessThanOrEqual(16 * new Set(inVain).size)
    }
  })
})

it('asks each endpoint for what the page on endpoints says, and for nothing else', () => {
  // Only for a hash that the endpoint of L1 has not named itself.
  const isAsked = (method: string | undefined) => method !== 'eth_getBlockByHash'
  const listed = (features: Iterable<[string, Iterable<string | undefined>[]]>) =>
    Object.fromEntries([...features].map(([name, all]) => [name, all.map(one => [...one].filter(isAsked).sort())]))
  expect(listed(asked)).toEqual(listed(FEATURES))
  expect(asked.size).toBe(7)
})

const balanceFrom = (l2: readonly string[]) =>
  providerOf(l2).request({ method: 'eth_getBalance', params: [user, 'latest'] })
const recordFrom = (...l2: readonly string[]) =>
  command(l2, 'record', 'state', '--address', TOKEN, '-o', fileIn('bundle.json'))

it('needs no node for accounts and slots', async () => {
  const manager = await startStateManager(urls.l2)
  expect(await balanceFrom([manager.url])).toMatch(/^0x/)
  expect(await providerOf([manager.url]).request({ method: 'eth_chainId' })).toBe('0x539')
  expect(await recordFrom(manager.url)).toEqual(PROVEN)
  expect(await command([manager.url], 'follow', 'state', '--address', TOKEN, '-o', folderOf(), '--once')).toEqual(
    FOLLOWED,
  )
  expect(manager.served).toEqual(new Set(['rollup_getProof']))
})

it('names the method that nobody serves, and says what to add', async () => {
  const [node, manager] = [await startNode(urls.l2), await startStateManager(urls.l2)]
  const other = await startNode(urls.l2)
  expect(await recordFrom(node.url, other.url)).toMatch(
    /^3: .*METHOD_UNKNOWN: the L2 endpoint, rollup_getProof\. None of 2 endpoints serves it: add a state manager/s,
  )
  const call = providerOf([manager.url]).request({ method: 'eth_call', params: [{ to: TOKEN, data }, 'latest'] })
  await expect(call).rejects.toThrow(
    /METHOD_UNKNOWN: the L2 endpoint, eth_getCode\. The only endpoint does not serve it: add a node/,
  )
})

it('believes no state manager, and blames the one that lies', async () => {
  const node = await startNode(urls.l2)
  const liar = await startStateManager(urls.l2, result => ({
    ...Object(result),
    accountProof: Object(result).storageProofs,
  }))
  const honest = await startStateManager(urls.l2)
  const truth = await balanceFrom([honest.url])
  for (const l2 of [
    [node, liar, honest],
    [liar, node, honest],
    [honest, liar, node],
  ]) {
    const places = l2.map(({ url }) => url)
    expect(await balanceFrom(places)).toBe(truth)
    expect(await recordFrom(...places)).toEqual(PROVEN)
  }
  await expect(balanceFrom([node.url, liar.url])).rejects.toMatchObject({ reason: 'PROOF_REFUSED' })
})

it('refuses an endpoint of another network that says so, and goes on with the others', async () => {
  const elsewhere = await startFront(
    urls.l2,
    () => undefined,
    (result, method) => (method === 'eth_chainId' ? '0x1' : result),
  )
  const manager = await startStateManager(urls.l2)
  await expect(balanceFrom([elsewhere.url])).rejects.toThrow(/CHAIN_MISMATCH: the L2 endpoint.*Chain 1 instead of 1337/)
  expect(await balanceFrom([elsewhere.url, manager.url])).toMatch(/^0x/)
  expect(new Set(elsewhere.asked)).toEqual(new Set(['eth_chainId']))
})

it('says what it waits for, and ends, at an endpoint that allows few requests per second', async () => {
  let turn = 0
  const busy = await startFront(urls.l2, () => (turn++ < 2 ? TOO_MANY : undefined))
  const { code, stdout, stderr } = await runHere([
    ...['record', 'logs', ...common(), '--l2', busy.url, '--address', TOKEN, '--event', EVENT],
    ...['--from-block', '1', '-o', fileIn('logs.csv')],
  ])
  expect([code, stdout.split('\n')[0]]).toEqual([0, ALL_LOGS])
  expect(stderr).toMatch(
    /--l2 number 1 (?:is busy|allows about [\d.]+ requests per second): \d+ requests? waits?, for \d seconds?/,
  )
  expect(stderr).not.toContain(busy.url)
})
