import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import {
  ABI,
  ALICE,
  CHAIN_ID,
  endPauses,
  PATIENCE,
  PAYEE,
  pause,
  programOf,
  rpc,
  startRollup,
  TIP,
  TOKEN,
  until,
} from './rig.mjs'

/**
 * Real programs, unchanged, through the proxy. What each of them does is what its users do: read, watch, send, ask. An error that
 * nobody handles ends this process, as it would end theirs.
 */

const root = createRequire(new URL('../../package.json', import.meta.url))
let rig, url, pinned
before(async () => {
  rig = await startRollup()
  url = await rig.proxy('--forward', 'wallet')
  pinned = await rig.proxy('--one-head')
})
after(() => {
  endPauses()
  return rig.close()
})

const chain = {
  id: CHAIN_ID,
  name: 'devnet',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [] } },
}
/** Blocks of finalizations, of which each block has an event. */
const SIZES = [1, 10, 1000]

/**
 * Finalizes blocks and waits until a listener has heard of all of them, in order, and of none twice. Some clients ask for what is
 * new when there is a new block only, so another one comes from time to time.
 *
 * @param keys what it heard: the number of the block, which has one event
 */
async function hears(keys, sizes = SIZES) {
  // Until it listens.
  for (let rest = 60; keys.length === 0; rest *= 2) {
    rig.finalize(1)
    for (let count = 0; count < rest && keys.length === 0; count++) await pause(50)
  }
  const first = keys[0]
  for (const size of sizes) {
    rig.finalize(size)
    // The newest block itself is proven by the next finalization.
    const last = Number(rig.chain.latest()) - 1
    for (let [count, next] = [0, 200]; keys.at(-1) < last; count++) {
      await pause(50)
      if (count < next) continue
      rig.finalize(1)
      next *= 2
    }
  }
  await pause(1000)
  assert.deepEqual(
    keys,
    Array.from({ length: keys.length }, (_, index) => first + index),
  )
  assert.ok(keys.length > sizes.at(-1))
}

const flow = (name, work) => test(name, { timeout: 3_000 * PATIENCE }, work)

/** Of viem and wagmi, and of web3.js. */
const timeout = 1000 * PATIENCE

async function createViem() {
  const viem = await import(root.resolve('viem'))
  const { privateKeyToAccount } = await import(root.resolve('viem/accounts'))
  const client = viem.createPublicClient({
    chain,
    transport: viem.http(url, { batch: true, timeout }),
    pollingInterval: 200,
  })
  const account = privateKeyToAccount(ALICE.key)
  return {
    viem,
    client,
    wallet: viem.createWalletClient({ account, chain, transport: viem.http(url, { timeout }) }),
    account,
    abi: viem.parseAbi(ABI),
  }
}

flow('viem reads, in batches of 1,000, and asks for blocks and fees', async () => {
  const { client, abi } = await createViem()
  await rig.settle(url)
  const balances = await Promise.all(Array.from({ length: 1000 }, () => client.getBalance({ address: PAYEE })))
  assert.equal(new Set(balances).size, 1)
  assert.ok((await client.readContract({ abi, address: TOKEN, functionName: 'balanceOf', args: [PAYEE] })) > 0n)
  assert.equal(BigInt((await client.call({ data: TIP })).data), 0n)
  const block = await client.getBlock({ includeTransactions: true })
  assert.equal(await client.getBlockTransactionCount({ blockNumber: block.number }), block.transactions.length)
  const [transaction] = block.transactions
  assert.equal((await client.getTransaction({ blockNumber: block.number, index: 0 })).hash, transaction.hash)
  assert.equal((await client.getTransaction({ blockHash: block.hash, index: 0 })).hash, transaction.hash)
  const { baseFeePerGas } = await client.getFeeHistory({ blockCount: 2, rewardPercentiles: [] })
  assert.equal(baseFeePerGas.length, 3)
  assert.equal(await client.getBlobBaseFee(), 1n)
})

flow('viem watches', async () => {
  const { client, abi } = await createViem()
  const [keys, errors] = [[], []]
  const end = client.watchContractEvent({
    ...{ abi, address: TOKEN, eventName: 'Transfer', onError: error => errors.push(error) },
    onLogs: logs => keys.push(...logs.map(log => Number(log.blockNumber))),
  })
  await hears(keys)
  end()
  assert.deepEqual(errors, [])
})

flow('viem sends, and waits for the receipt', async () => {
  const { client, wallet, account, abi } = await createViem()
  const { request } = await client.simulateContract({
    abi,
    address: TOKEN,
    functionName: 'transfer',
    args: [PAYEE, 5n],
    account,
  })
  const hash = await wallet.writeContract(request)
  const { status } = await rig.meanwhile(client.waitForTransactionReceipt({ hash, timeout: 0 }))
  assert.equal(status, 'success')
})

flow('wagmi reads, watches, sends', async () => {
  const wagmi = await import('@wagmi/core')
  const { http, parseAbi } = await import('viem')
  const { privateKeyToAccount } = await import('viem/accounts')
  const config = wagmi.createConfig({
    chains: [chain],
    transports: { [CHAIN_ID]: http(url, { timeout }) },
    pollingInterval: 200,
  })
  const abi = parseAbi(ABI)
  const asked = { abi, address: TOKEN, functionName: 'balanceOf', args: [PAYEE] }
  assert.ok((await wagmi.readContract(config, asked)) > 0n)
  await rig.settle(url)
  assert.equal((await wagmi.getBlock(config)).number, await wagmi.getBlockNumber(config))
  const [keys, errors] = [[], []]
  const end = wagmi.watchContractEvent(config, {
    ...{ abi, address: TOKEN, eventName: 'Transfer', onError: error => errors.push(error) },
    onLogs: logs => keys.push(...logs.map(log => Number(log.blockNumber))),
  })
  await hears(keys)
  end()
  assert.deepEqual(errors, [])
  const hash = await wagmi.sendTransaction(config, { account: privateKeyToAccount(ALICE.key), to: PAYEE, value: 1n })
  const { status } = await rig.meanwhile(wagmi.waitForTransactionReceipt(config, { hash }))
  assert.equal(status, 'success')
})

async function createEthers(version, at = url) {
  const ethers = version === 6 ? await import(root.resolve('ethers')) : (await import('ethers5')).ethers
  const { JsonRpcProvider } = version === 6 ? ethers : ethers.providers
  const provider =
    version === 6 ? new JsonRpcProvider(at, CHAIN_ID, { cacheTimeout: -1 }) : new JsonRpcProvider(at, CHAIN_ID)
  provider.pollingInterval = 200
  // By default, version 5 looks back 10 blocks for events, whichever the endpoint, and loses those of blocks before. With more, it asks
  // again from the last event on if a request fails.
  if (version === 5) provider._maxFilterBlockRange = 8192
  const end = async () => {
    await provider.removeAllListeners()
    if (version === 5) return
    // Requests leave its queue in order. What waits there when it is destroyed is rejected, and nobody handles that of a listener.
    await provider.getLogs({ address: TOKEN })
    provider.destroy()
  }
  return { ethers, provider, end }
}

for (const version of [6, 5]) {
  flow(`ethers ${version} reads and asks`, async () => {
    const { ethers, provider, end } = await createEthers(version)
    await rig.settle(url)
    assert.equal(Number((await provider.getNetwork()).chainId), CHAIN_ID)
    const token = new ethers.Contract(TOKEN, ABI, provider)
    assert.ok(BigInt(await token.balanceOf(PAYEE)) > 0n)
    assert.equal(BigInt(await provider.call({ data: TIP })), 0n)
    const fees = await provider.getFeeData()
    assert.ok(BigInt(fees.maxFeePerGas) > 0n)
    const block = await provider.getBlock('latest')
    assert.ok((await provider.getTransaction(block.transactions[0])) !== null)
    assert.ok((await token.queryFilter('Transfer', block.number - 20, 'latest')).length > 0)
    await end()
  })

  flow(`ethers ${version} watches`, async () => {
    const { ethers, provider, end } = await createEthers(version)
    const token = new ethers.Contract(TOKEN, ABI, provider)
    const keys = []
    await token.on('Transfer', (...given) => {
      const { log = given.at(-1) } = given.at(-1)
      keys.push(log.blockNumber)
    })
    await hears(keys)
    await token.removeAllListeners()
    await end()
  })

  // hardhat itself is not here: version 2 installs 292 MB, and version 3 needs a later Node. It signs with a key of its own, too.
  flow(`ethers ${version} sends as a wallet, as hardhat does, and waits for the receipt`, async () => {
    const { ethers, provider, end } = await createEthers(version)
    const wallet = new ethers.Wallet(ALICE.key, provider)
    const token = new ethers.Contract(TOKEN, ABI, wallet)
    const sent = await token.transfer(PAYEE, 5n)
    const { status } = await rig.meanwhile(sent.wait())
    assert.equal(status, 1)
    await end()
  })
}

flow('ethers 6 watches against serve itself', async () => {
  const { ethers, provider, end } = await createEthers(6, rig.url)
  const keys = []
  const token = new ethers.Contract(TOKEN, ABI, provider)
  await token.on('Transfer', (...given) => keys.push(given.at(-1).log.blockNumber))
  await hears(keys, [10])
  await token.removeAllListeners()
  await end()
})

async function createWeb3(at = url) {
  const { Web3 } = await import('web3')
  const web3 = new Web3(at)
  const { address } = web3.eth.accounts.wallet.add(ALICE.key)[0]
  const abi = [
    {
      type: 'function',
      name: 'transfer',
      stateMutability: 'nonpayable',
      inputs: [
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
      ],
      outputs: [{ type: 'bool' }],
    },
    {
      type: 'function',
      name: 'balanceOf',
      stateMutability: 'view',
      inputs: [{ name: 'of', type: 'address' }],
      outputs: [{ type: 'uint256' }],
    },
    {
      type: 'event',
      name: 'Transfer',
      inputs: [
        { indexed: true, name: 'from', type: 'address' },
        { indexed: true, name: 'to', type: 'address' },
        { indexed: false, name: 'value', type: 'uint256' },
      ],
    },
  ]
  return { web3, address, token: new web3.eth.Contract(abi, TOKEN) }
}

flow('web3.js reads, asks and probes', async () => {
  const { web3, token } = await createWeb3()
  await rig.settle(url)
  assert.ok((await token.methods.balanceOf(PAYEE).call()) > 0n)
  assert.equal(BigInt(await web3.eth.call({ data: TIP })), 0n)
  const probes = [
    web3.eth.getNodeInfo(),
    web3.eth.net.isListening(),
    web3.eth.isSyncing(),
    web3.eth.getAccounts(),
    web3.eth.net.getId(),
  ]
  assert.deepEqual(await Promise.all(probes), ['rollup-state-proof', true, false, [], 1337n])
  const block = await web3.eth.getBlock('latest')
  assert.equal(await web3.eth.getBlockTransactionCount(block.hash), BigInt(block.transactions.length))
  assert.equal(await web3.eth.getBlockUncleCount(block.hash), 0n)
  assert.equal((await web3.eth.getTransactionFromBlock(block.hash, 0)).hash, block.transactions[0])
  assert.ok((await web3.eth.getFeeHistory(2, 'latest', [])).baseFeePerGas.length > 0)
  assert.ok((await token.getPastEvents('Transfer', { fromBlock: block.number - 20n, toBlock: 'latest' })).length > 0)
})

flow('web3.js sends, and waits for the receipt', async () => {
  const { web3, token, address } = await createWeb3()
  const { status } = await rig.meanwhile(web3.eth.sendTransaction({ from: address, to: PAYEE, value: 1 }))
  assert.equal(status, 1n)
  const called = await rig.meanwhile(token.methods.transfer(PAYEE, 5).send({ from: address }))
  assert.equal(called.status, 1n)
})

/** Version 4 listens over WebSocket alone, whichever the endpoint: over HTTP, its users poll. */
flow('web3.js says that it cannot listen over HTTP, and polls', async () => {
  const { token } = await createWeb3()
  await rig.settle(url)
  const error = await new Promise(resolve => token.events.Transfer().on('error', resolve))
  assert.match(error.message, /Failed to subscribe/)
  const last = rig.chain.latest() - 1n
  const events = await token.getPastEvents('Transfer', { fromBlock: last - 1n, toBlock: last + 100n })
  assert.deepEqual(
    events.map(({ blockNumber }) => BigInt(blockNumber)),
    [last - 1n, last],
  )
})

const socketOf = at => at.replace('http', 'ws')

flow('web3.js listens over WebSocket', async () => {
  const { web3, token } = await createWeb3(socketOf(url))
  const [logs, heads, errors] = [[], [], []]
  const events = token.events.Transfer()
  events.on('data', event => logs.push(Number(event.blockNumber)))
  events.on('error', error => errors.push(error))
  const blocks = await web3.eth.subscribe('newBlockHeaders')
  blocks.on('data', head => heads.push(Number(head.number)))
  blocks.on('error', error => errors.push(error))
  await hears(logs)
  await hears(heads, [1])
  await assert.rejects(web3.eth.subscribe('pendingTransactions'), /pending/)
  await web3.eth.clearSubscriptions()
  web3.currentProvider.disconnect()
  assert.deepEqual(errors, [])
})

for (const version of [6, 5]) {
  flow(`ethers ${version} listens over WebSocket`, async () => {
    const { ethers } = await createEthers(version)
    const { WebSocketProvider } = version === 6 ? ethers : ethers.providers
    const provider = new WebSocketProvider(socketOf(url), CHAIN_ID)
    const token = new ethers.Contract(TOKEN, ABI, provider)
    const [logs, heads] = [[], []]
    await token.on('Transfer', (...given) => {
      const { log = given.at(-1) } = given.at(-1)
      logs.push(log.blockNumber)
    })
    await provider.on('block', number => heads.push(number))
    await hears(logs)
    await hears(heads, [1])
    await token.removeAllListeners()
    await provider.removeAllListeners()
    assert.ok(BigInt(await token.balanceOf(PAYEE)) > 0n)
    await provider.destroy()
  })
}

flow('viem listens over WebSocket', async () => {
  const { viem, abi } = await createViem()
  const client = viem.createPublicClient({
    chain,
    transport: viem.webSocket(socketOf(url), { timeout, reconnect: false, keepAlive: false }),
  })
  const [logs, blocks, errors] = [[], [], []]
  const onError = error => errors.push(error)
  const ends = [
    client.watchContractEvent({
      ...{ abi, address: TOKEN, eventName: 'Transfer', onError },
      onLogs: found => logs.push(...found.map(log => Number(log.blockNumber))),
    }),
    client.watchBlocks({ onError, onBlock: block => blocks.push(Number(block.number)) }),
  ]
  await hears(logs)
  // It asks for each of these, and is told in no order.
  await until(() => blocks.includes(Number(rig.chain.latest()) - 1))
  await pause(1000)
  blocks.sort((a, b) => a - b)
  assert.deepEqual(
    blocks,
    Array.from({ length: blocks.length }, (_, index) => blocks[0] + index),
  )
  assert.ok(blocks.length > SIZES.at(-1))
  for (const end of ends) end()
  assert.ok((await client.readContract({ abi, address: TOKEN, functionName: 'balanceOf', args: [PAYEE] })) > 0n)
  const connection = await client.transport.getRpcClient()
  connection.close()
  assert.deepEqual(errors, [])
})

const runCast = async (at, ...args) => {
  const env = { ...process.env, ETH_RPC_URL: at, ETH_RPC_TIMEOUT: `${PATIENCE}` }
  return (await promisify(execFile)(programOf('cast'), args, { env })).stdout.trim()
}

flow('cast reads, asks and sends', async () => {
  const cast = (...args) => runCast(url, ...args)
  await rig.settle(url)
  assert.equal(await cast('chain-id'), `${CHAIN_ID}`)
  assert.match(await cast('call', TOKEN, 'balanceOf(address)(uint256)', PAYEE), /^\d+/)
  assert.match(await cast('client'), /rollup-state-proof/)
  const number = await cast('block-number')
  assert.match(await cast('block', number), /parentHash|transactions/)
  assert.match(await cast('estimate', PAYEE, '--value', '1', '--from', ALICE.address), /^21000$/)
  assert.ok(Number(await cast('gas-price')) >= 7)
  const call = [TOKEN, 'transfer(address,uint256)', PAYEE, '5']
  const sent = await rig.meanwhile(
    cast('send', ...call, '--private-key', ALICE.key, '--json', '--timeout', `${3 * PATIENCE}`),
  )
  assert.equal(JSON.parse(sent).status, '0x1')
})

flow('cast reads state at the number that it is told, with one head', async () => {
  const cast = (...args) => runCast(pinned, ...args)
  await rig.settle(pinned, true)
  const number = await cast('block-number')
  assert.equal(await cast('balance', PAYEE, '--block', number), await cast('balance', PAYEE))
  assert.match(await cast('age', number), /\d/)
})

flow('cast reads and listens over WebSocket', async () => {
  const at = socketOf(url)
  await rig.settle(url)
  assert.equal(BigInt(await runCast(at, 'block-number')), rig.chain.latest() - 1n)
  assert.match(await runCast(at, 'call', TOKEN, 'balanceOf(address)(uint256)', PAYEE), /^\d+/)
  const event = 'Transfer(address indexed,address indexed,uint256)'
  const args = ['logs', '--subscribe', event, '--address', TOKEN, '--rpc-url', at, '--json']
  const child = spawn(programOf('cast'), args, { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const keys = []
    let text = ''
    // One list, which never ends.
    child.stdout.on('data', chunk => {
      text += chunk
      keys.push(...[...text.matchAll(/"blockNumber":"(0x[\da-f]+)"/g)].map(([, number]) => Number(number)))
      text = text.slice(text.lastIndexOf('}') + 1)
    })
    // It keeps 16 events, and loses others that come at once (alloy-rs/alloy, crates/pubsub/src/frontend.rs).
    await hears(keys, [1, 10])
  } finally {
    child.kill('SIGKILL')
    await once(child, 'close')
  }
})

flow('cast is told of the option for one head, by a proxy without it', async () => {
  const plain = await rig.proxy()
  await rig.settle(plain)
  // The number of a head that it has, or had: of a block within a finalization, and not of its last one.
  const number = await runCast(plain, 'block-number')
  await assert.rejects(runCast(plain, 'balance', PAYEE, '--block', number), /--one-head/)
  await rig.settle(plain)
  await assert.rejects(runCast(plain, 'balance', PAYEE, '--block', number), /--one-head/)
  await assert.rejects(runCast(plain, 'balance', PAYEE, '--block', '9999999'), /--one-head/)
})

flow('anvil forks, with one head', async () => {
  // A fork stays at the head that it began with.
  await rig.settle(pinned, true)
  const child = spawn(
    programOf('anvil', new URL('../oracles/package.json', import.meta.url)),
    ['--fork-url', pinned, '--port', '0', '--accounts', '1', '--timeout', `${timeout}`],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  try {
    let fork
    for await (const line of createInterface({ input: child.stdout })) {
      fork = /Listening on (127\.0\.0\.1:\d+)/.exec(line)?.[1]
      if (fork !== undefined) break
    }
    child.stdout.resume()
    const at = `http://${fork}`
    assert.equal(await rpc(at, 'eth_getBalance', PAYEE, 'latest'), await rpc(pinned, 'eth_getBalance', PAYEE, 'latest'))
    const data = `0x70a08231${'0'.repeat(24)}${PAYEE.slice(2)}`
    assert.equal(
      await rpc(at, 'eth_call', { to: TOKEN, data }, 'latest'),
      await rpc(pinned, 'eth_call', { to: TOKEN, data }, 'latest'),
    )
  } finally {
    child.kill('SIGKILL')
    await once(child, 'close')
  }
})

/**
 * The requests of `BoundContract` and `WaitMined` (ethereum/go-ethereum, accounts/abi/bind/v2/base.go and util.go), as `Client` sends
 * them (ethclient/ethclient.go), in their order: `toCallArg` names the sender always and the value if there is one, `toFilterArg` a
 * range always. An estimate names no block, or `pending`, by version.
 */
flow('the Go bindings call, send, wait and watch', async () => {
  const { ethers } = await import('ethers5')
  const wallet = new ethers.Wallet(ALICE.key)
  const contract = new ethers.utils.Interface(ABI)
  const data = contract.encodeFunctionData('transfer', [PAYEE, 5])
  await rig.settle(url)
  // Call, of the state that is pending, and of the latest. Nothing comes back from where no contract is, so its code is asked for.
  const read = { from: `0x${'00'.repeat(20)}`, to: TOKEN, input: contract.encodeFunctionData('balanceOf', [PAYEE]) }
  assert.notEqual(await rpc(url, 'eth_call', read, 'latest'), '0x')
  assert.equal(await rpc(url, 'eth_call', read, 'pending'), await rpc(url, 'eth_call', read, 'latest'))
  for (const block of ['pending', 'latest']) {
    assert.equal(await rpc(url, 'eth_call', { ...read, to: PAYEE }, block), '0x')
    assert.equal(await rpc(url, 'eth_getCode', PAYEE, block), '0x')
  }
  // WatchLogs.
  const socket = new (root('ws').WebSocket)(socketOf(url))
  const heard = []
  socket.on('message', message => heard.push(JSON.parse(String(message))))
  await once(socket, 'open')
  const topics = [[contract.getEventTopic('Transfer')]]
  const params = ['logs', { address: [TOKEN], topics, fromBlock: '0x0', toBlock: 'latest' }]
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params }))
  await until(() => heard.length === 1)
  // Transact.
  const head = await rpc(url, 'eth_getBlockByNumber', 'latest', false)
  const tip = BigInt(await rpc(url, 'eth_maxPriorityFeePerGas'))
  const cap = tip + 2n * BigInt(head.baseFeePerGas)
  assert.notEqual(await rpc(url, 'eth_getCode', TOKEN, 'pending'), '0x')
  const fees = { maxFeePerGas: `0x${cap.toString(16)}`, maxPriorityFeePerGas: `0x${tip.toString(16)}` }
  const call = { from: ALICE.address, to: TOKEN, input: data, value: '0x0', ...fees }
  const gas = await rpc(url, 'eth_estimateGas', call)
  assert.equal(await rpc(url, 'eth_estimateGas', call, 'pending'), gas)
  const nonce = await rpc(url, 'eth_getTransactionCount', ALICE.address, 'pending')
  const transaction = { type: 2, chainId: CHAIN_ID, to: TOKEN, data, nonce, gasLimit: gas, ...fees, value: 0 }
  const raw = await wallet.signTransaction(transaction)
  const hash = ethers.utils.keccak256(raw)
  assert.equal(await rpc(url, 'eth_sendRawTransaction', raw), hash)
  // WaitMined.
  let receipt = null
  const isMined = async () => {
    receipt = await rpc(url, 'eth_getTransactionReceipt', hash)
    return receipt !== null
  }
  await rig.meanwhile(until(isMined))
  assert.equal(receipt.status, '0x1')
  // After the event of the block that was the newest one.
  await until(() => heard.some(({ params }) => params?.result.transactionHash === hash))
  socket.close()
  assert.ok(heard.slice(1).every(({ params }) => params.subscription === heard[0].result))
})
