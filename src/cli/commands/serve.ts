import { once } from 'node:events'
import { addDemoBlocks, createService, demoWorld, type ServiceChain, type World } from '../../devnet/index.ts'
import { DEMO_PAYEE, DEMO_TOKEN, DEMO_USER } from '../../devnet/service/demo-chain.ts'
import { demoCode, tokenSlots } from '../../devnet/service/demo-contracts.generated.ts'
import { type Scheme, slotKey } from '../../entry/index.ts'
import { lineaMainnet } from '../../entry/networks.ts'
import { exitCodes } from '../command.ts'
import { cannotListen } from '../errors.ts'
import { optionsOf, typed } from '../options/declared.ts'
import { defineCommand } from '../options/define.ts'
import { describeNetwork, networkOf, schemeOf } from '../options/network.ts'
import { whole } from '../options/read.ts'
import { toJson } from '../output/report.ts'
import { formatTable } from '../output/table.ts'

const options = {
  ...optionsOf('port', 'host'),
  // Each time, L1 and L2 get two blocks, with a second between them: in less time, theirs would run ahead of the clock.
  'finalize-every': typed('SECONDS', 'add and finalize blocks (default: only what is sent)', whole(2, 86_400)),
  history: typed('COUNT', 'how many finalizations to keep (default: all)', whole(1, 1_000_000)),
  'upgrade-at': typed('NUMBER', 'the first L2 block with an Ethereum state', whole(1, Number.MAX_SAFE_INTEGER)),
}

export const command = defineCommand(
  {
    usage: 'serve [options]',
    options,
    shared: optionsOf('network', 'json'),
    about: `
Serves a network on this machine, for devnets and tests, with its state in
memory: the contract, message service and chain ids of --network, over a demo
state that transactions change. A program that reads Linea reads this, too.
  L2      the state, blocks and logs, and linea_getProof; eth_sendRawTransaction
  L1      a simulated L1, whose rollup contract holds the roots of the L2
  beacon  the light-client part of the beacon API, for --checkpoint`,
    notes: `
The demo state has two accounts (0xa1a1..., 0xb2b2...), a contract (0xc0c0...)
and ERC-20 tokens (0x7070..., 0x7171...), and messages in each finalization. On
linea, WETH and USDC exist, too. Its clock stands still in October 2025, which
is too old for --checkpoint, unless --finalize-every moves it. --json prints a
file for --network, with the beacon chain. Ctrl-C ends it.`,
    examples: `
rollup-state-proof serve --port 8545
rollup-state-proof serve --finalize-every 12 --history 100
rollup-state-proof serve --network devnet.json --json`,
  },
  async (values, io) => {
    const network = networkOf(values)
    const { messageService, beacon: ofNetwork } = network
    const { 'finalize-every': seconds, 'upgrade-at': upgradeAt, history: keep } = values
    // A chain that moves uses the clock. A chain that stands still has the same hashes in every run.
    let past = Math.floor(Date.now() / 1000) - HISTORY_SECONDS
    let isRunning = false
    const clock = () => (isRunning ? Math.floor(Date.now() / 1000) : past)
    const service = createService({
      genesis: demoOf(network.name, schemeOf(network)),
      rollup: network.rollup,
      ...(upgradeAt !== undefined && { upgradeAt: BigInt(upgradeAt) }),
      ...(keep !== undefined && { keep }),
      ...(messageService !== undefined && { messageService }),
      ...(ofNetwork !== undefined && { beacon: ofNetwork }),
      ...(seconds !== undefined && { clock }),
    })
    const { chain, beacon } = service
    for (const count of DEMO_COUNTS) {
      past += L1_SECONDS_PER_BLOCK
      addDemo(chain, messageService !== undefined, count)
    }
    const listening = service.listen(values.port, values.host)
    const { url: l2, l1Url: l1, beaconUrl } = await listening.catch(cannotListen('--port'))
    isRunning = true
    const finalized = () => describeFinalized(chain)
    const { l2BlockNumber, ...held } = finalized()
    const served = { l2, l1, beacon: beaconUrl }
    const json = { ...served, network: describeNetwork(network, beacon.network), finalized: finalized() }
    const rows = Object.entries({
      L2: l2,
      L1: l1,
      'beacon API': beaconUrl,
      network: network.name,
      'rollup contract': network.rollup.address,
      finalized: `block ${l2BlockNumber}`,
      'its state root': held.stateRoot,
      ...('blockHash' in held && { 'its hash': held.blockHash }),
      accounts: `${DEMO_USER}, ${DEMO_PAYEE}`,
      'token of both': DEMO_TOKEN,
      ...(messageService && { 'message service': messageService }),
    })
    io.stdout.write(values.json ? toJson(json) : `${formatTable(rows, io.stdout)}\nCtrl-C ends it.\n`)
    const report = () => {
      if (values.json) io.stdout.write(toJson({ finalized: finalized() }))
    }
    const move = () => {
      // As many blocks as a real L1 adds in this time.
      const l1Blocks = Math.floor((seconds ?? 0) / L1_SECONDS_PER_BLOCK)
      addDemo(chain, messageService !== undefined, BLOCKS_PER_FINALIZATION, l1Blocks)
      report()
    }
    const finalizeSent = () => {
      if (chain.latest() === chain.finalized()) return
      chain.finalize()
      report()
    }
    const timer = setInterval(seconds === undefined ? finalizeSent : move, (seconds ?? 1) * 1000)
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
    clearInterval(timer)
    await service.close()
    return exitCodes.verified
  },
)

/** What L1 holds of the newest finalized block: the root of its state, or its hash, whose header has the root. */
function describeFinalized(chain: ServiceChain) {
  const l2BlockNumber = chain.finalized()
  if (l2BlockNumber < (chain.upgradedAt() ?? l2BlockNumber + 1n)) {
    return { l2BlockNumber, stateRoot: chain.at(l2BlockNumber)?.stateRoot() ?? '' }
  }
  const { hash, stateRoot } = Object(chain.getBlock(l2BlockNumber))
  return { l2BlockNumber, blockHash: String(hash), stateRoot: String(stateRoot) }
}

const DEMO_COUNTS = [3, 1, 4]

/** Adds a finalization to the demo. With messages, the first account bridges out and in, and the second out. */
function addDemo(chain: ServiceChain, withMessages: boolean, count: number, l1Blocks?: number): void {
  const { messages } = chain
  if (withMessages) {
    const ether = 10n ** 18n
    messages.receiveOnL2()
    messages.sendToL2([{ from: DEMO_USER, to: DEMO_USER, value: ether }])
    messages.sendFromL2([
      { from: DEMO_USER, to: DEMO_USER, fee: 10n ** 15n, value: ether },
      { from: DEMO_PAYEE, to: DEMO_USER, value: 5n, data: '0x1234' },
    ])
  }
  addDemoBlocks(chain, { counts: [count], l1Blocks })
}

/** The demo state and, on Linea, what the programs of the documents ask for: WETH, and a USDC with seven in circulation. */
function demoOf(name: string, scheme: Scheme): World {
  const world = demoWorld(scheme)
  if (name !== lineaMainnet.name) return world
  const weth = '0xe5D7C2a44FfDDf6b295A15c148167daaAf5Cf34f'
  world.setAccount(weth, { nonce: 1n, balance: 50_000_500_000_000_000_000_000n })
  const usdc = '0x176211869cA2b568f2A7D4EE941E073a821EE1ff'
  world.setAccount(usdc, { nonce: 1n, code: demoCode.token })
  world.setStorage(usdc, { key: slotKey(tokenSlots.totalSupply), value: slotKey(7_000_000n) })
  return world
}

/** Age of the history of a moving demo when it starts to move, in seconds. */
const HISTORY_SECONDS = 600
const BLOCKS_PER_FINALIZATION = 2
const L1_SECONDS_PER_BLOCK = 12
