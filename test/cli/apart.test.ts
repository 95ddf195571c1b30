import { readFileSync } from 'node:fs'
import { encodeFunctionData, parseAbi } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { serveProxy } from '../../src/cli/commands/proxy-server.ts'
import { lineaMessageService } from '../../src/messages.ts'
import { poseidon2 } from '../../src/poseidon2.ts'
import { createJsonRpcServer } from '../../src/provider/json-rpc.ts'
import { createVerifiedProvider } from '../../src/provider.ts'
import { finalizedBlockHash, followFinalizations, recordEvidence, recordMessage } from '../../src/rpc.ts'
import { addDemoBlocks, demoWorld } from '../../src/service/demo.ts'
import { createService } from '../../src/service.ts'
import { type Front, startFront, startNode, startStateManager } from './apart.ts'
import { folderOf, runHere } from './io.ts'

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

const common = () => ['--l1', urls.l1, '--rollup', rollup.address]
const data = encodeFunctionData({
  abi: parseAbi(['function balanceOf(address) view returns (uint256)']),
  functionName: 'balanceOf',
  args: [user],
})

const providerOf = (l2: readonly string[]) => {
  const l1BlockHash = finalizedBlockHash(urls.l1)
  return createVerifiedProvider({
    l1: urls.l1,
    l2,
    rollup,
    scheme: poseidon2,
    chainId: 1337,
    l1BlockHash,
    timeoutMs: 100_000,
  })
}

/** Runs a command, and gives the first line that it prints. */
async function command(l2: readonly string[], ...args: string[]): Promise<string> {
  const named = l2.flatMap(url => ['--l2', url])
  const { code, stdout, stderr } = await runHere([args[0] ?? '', ...common(), ...named, ...args.slice(1)])
  return code === 0 ? (stdout.split('\n')[0] ?? '') : `${code}: ${stderr}`
}
const fileIn = (name: string) => `${folderOf()}/${name}`
const scheme = ['--scheme', 'poseidon2']

/** What is done with an L2, what it prints, and what it asks of which endpoint. */
const ACTIVITIES: [string, (l2: readonly string[]) => Promise<unknown>, unknown, string[]][] = [
  [
    'record',
    l2 => command(l2, 'record', ...scheme, '--address', TOKEN, '-o', fileIn('bundle.json')),
    expect.stringMatching(/^Verified/),
    [],
  ],
  [
    'record a call',
    l2 => command(l2, 'record', ...scheme, '--call', TOKEN, data, '--chain-id', '1337', '-o', fileIn('call.json')),
    expect.stringMatching(/^Verified/),
    ['eth_chainId', 'eth_createAccessList', 'eth_getCode'],
  ],
  [
    'record a message from L2',
    l2 =>
      command(l2, 'record', '--message-service', lineaMessageService, '--number', '1', '-o', fileIn('message.json')),
    'Verified: this message from L2 can be claimed on L1.',
    ['eth_blockNumber', 'eth_getLogs'],
  ],
  [
    'follow',
    l2 => command(l2, 'follow', ...scheme, '--address', TOKEN, '-o', folderOf(), '--once'),
    expect.stringMatching(/^L2 block 4 /),
    [],
  ],
  [
    'follow messages',
    l2 =>
      command(
        l2,
        'follow',
        '--messages',
        ...scheme,
        '--message-service',
        lineaMessageService,
        '-o',
        folderOf(),
        '--once',
        '--from',
        '0',
      ),
    expect.stringMatching(/message/),
    ['eth_getLogs'],
  ],
  [
    'snapshot',
    l2 =>
      command(
        l2,
        'snapshot',
        `${folderOf({ 'list.txt': `${user}\n${TOKEN}\n` })}/list.txt`,
        ...scheme,
        '-o',
        fileIn('rows.ndjson'),
      ),
    expect.stringMatching(/2/),
    [],
  ],
  [
    'logs',
    l2 =>
      command(
        l2,
        'logs',
        ...scheme,
        '--address',
        TOKEN,
        '--event',
        EVENT,
        '--from-block',
        '1',
        '-o',
        fileIn('logs.csv'),
      ),
    'All logs of these blocks that the filter selects: 3.',
    ['eth_getBlockByNumber', 'eth_getBlockReceipts'],
  ],
  [
    'fetch',
    async l2 => {
      const file = fileIn('answer.json')
      const named = l2.flatMap(url => ['--l2', url])
      const { code } = await runHere(['fetch', ...named, '--address', TOKEN, '--block', '4', '-o', file])
      return [code, Object.keys(JSON.parse(readFileSync(file, 'utf8')))]
    },
    [0, expect.any(Array)],
    [],
  ],
  [
    'library: record',
    async l2 =>
      (await recordEvidence({ l1: urls.l1, l2, scheme: poseidon2, rollup, address: TOKEN })).verified.l2BlockNumber,
    4n,
    [],
  ],
  [
    'library: follow',
    async l2 => {
      const how = { l1: urls.l1, l2, rollup, scheme: poseidon2, l1BlockHash: finalizedBlockHash(urls.l1) }
      for await (const { l2BlockNumber } of followFinalizations({ ...how, requests: [{ address: TOKEN }] }))
        return l2BlockNumber
      return null
    },
    4n,
    [],
  ],
  [
    'library: message',
    async l2 =>
      (await recordMessage({ l1: urls.l1, l2, rollup, messageService: lineaMessageService, message: { number: 1n } }))
        .verified.status,
    'claimable',
    ['eth_blockNumber', 'eth_getLogs'],
  ],
  [
    'provider: balance',
    l2 => providerOf(l2).request({ method: 'eth_getBalance', params: [user, 'latest'] }),
    expect.stringMatching(/^0x/),
    ['eth_chainId'],
  ],
  [
    'provider: call',
    l2 => providerOf(l2).request({ method: 'eth_call', params: [{ to: TOKEN, data }, 'latest'] }),
    expect.stringMatching(/^0x0{40}/),
    ['eth_chainId', 'eth_createAccessList', 'eth_getCode'],
  ],
  [
    'provider: logs',
    async l2 =>
      Object(await providerOf(l2).request({ method: 'eth_getLogs', params: [{ address: TOKEN, fromBlock: '0x1' }] }))
        .length,
    3,
    ['eth_chainId', 'eth_getBlockByNumber', 'eth_getBlockReceipts'],
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
    ['eth_chainId', 'eth_getCode'],
  ],
]

/** The endpoints of an operator's own stack, in both orders. */
const ORDERS = ['node first', 'state manager first'] as const
const inOrder = (order: (typeof ORDERS)[number], node: Front, manager: Front) =>
  order === 'node first' ? [node.url, manager.url] : [manager.url, node.url]

describe.each(ORDERS)('a node without proofs, and a state manager that serves nothing else, the %s', order => {
  it.each(ACTIVITIES)('%s', async (_, run, expected, methods) => {
    const [node, manager] = [await startNode(urls.l2), await startStateManager(urls.l2)]
    expect(await run(inOrder(order, node, manager))).toEqual(expected)
    expect([...node.served].sort()).toEqual(methods)
    expect([...manager.served].every(method => method.endsWith('_getProof'))).toBe(true)
    // What an endpoint does not serve is not asked of it again, apart from what was on its way.
    for (const front of [node, manager]) {
      const inVain = front.asked.filter(method => !front.served.has(method))
      expect(inVain.length).toBeLessThanOrEqual(16 * new Set(inVain).size)
    }
  })
})

const balanceFrom = (l2: readonly string[]) =>
  providerOf(l2).request({ method: 'eth_getBalance', params: [user, 'latest'] })
const recordFrom = (...l2: readonly string[]) =>
  command(l2, 'record', ...scheme, '--address', TOKEN, '-o', fileIn('bundle.json'))

it('needs no node for accounts and slots', async () => {
  const manager = await startStateManager(urls.l2)
  expect(await balanceFrom([manager.url])).toMatch(/^0x/)
  expect(await providerOf([manager.url]).request({ method: 'eth_chainId' })).toBe('0x539')
  expect(await recordFrom(manager.url)).toMatch(/^Verified/)
  expect(await command([manager.url], 'follow', ...scheme, '--address', TOKEN, '-o', folderOf(), '--once')).toMatch(
    /^L2 block 4 /,
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
    expect(await recordFrom(...places)).toMatch(/^Verified/)
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
  await expect(balanceFrom([elsewhere.url])).rejects.toThrow(/CHAIN_MISMATCH: the L2 endpoint.*chain 1 instead of 1337/)
  expect(await balanceFrom([elsewhere.url, manager.url])).toMatch(/^0x/)
  expect(new Set(elsewhere.asked)).toEqual(new Set(['eth_chainId']))
})
