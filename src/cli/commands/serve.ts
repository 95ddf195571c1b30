import { once } from 'node:events'
import { addDemoBlocks, type ContractVersion, createService, demoWorld, type ServiceChain } from '../../devnet/index.ts'
import { DEMO_PAYEE, DEMO_TOKEN, DEMO_USER } from '../../devnet/service/demo-chain.ts'
import { readGenesis } from '../../devnet/service/genesis.ts'
import { lineaMessageService } from '../../entry/messages.ts'
import { type Command, exitCodes } from '../command.ts'
import { cannotListen, orUsageError, UsageError } from '../errors.ts'
import { readJson } from '../files/input.ts'
import { flag, formatOptions, list, optionsOf, text, textOr, type ValuesOf } from '../options/declared.ts'
import { requireScheme } from '../options/flags.ts'
import { parseOptions, wholeNumber } from '../options/parse.ts'
import { formatTable, toJson } from '../output/report.ts'

const DEVNET_CONTRACT = '0x00000000000000000000000000000000000011ff'

const options = {
  ...optionsOf('port', 'host'),
  genesis: text('FILE', '{ "alloc": { ADDRESS: { balance, nonce, code, storage } } } (default: the demo state)'),
  scheme: textOr('poseidon2', 'SCHEME', 'mimc or poseidon2'),
  'finalize-every': text('SECONDS', 'add blocks and finalize at this interval (default: only what is sent)'),
  unfinalized: textOr('0', 'COUNT', 'how many of the newest L1 blocks are not final'),
  keep: text('COUNT', 'how many finalizations to keep; older ones are forgotten (default: all)'),
  'contract-version': textOr('8', 'N', 'the version of the rollup contract: 7, 8, or 9, which holds block hashes'),
  'upgrade-at': text(
    'NUMBER',
    'upgrade the contract to version 9 before this L2 block, the first with an Ethereum state',
  ),
  'api-key': list('KEY', 'also serve URL/v3/KEY, without a rate limit'),
  'public-rate': text('COUNT', 'requests per second per client without a key (default: no limit)'),
  'proof-lag': textOr('0', 'COUNT', 'how many finalizations the proofs lag behind L1'),
  messages: flag('also a message service on L2; in the demo, there are messages in each finalization'),
  json: flag('print one line of JSON with what is served, and one per finalization'),
}

const help = `Usage: rollup-state-proof serve [options]

Serves a rollup on this machine, for devnets and tests, with its state in
memory:
  L2      rollup_getProof (and linea_getProof; eth_getProof for blocks with an
          Ethereum state), and the standard methods that read accounts,
          blocks, transactions, receipts, logs and fees; the state holds the
          hashes of blocks (EIP-2935), if the genesis has that contract;
          eth_sendRawTransaction adds a block at once, and calls of contracts
          take the optional @ethereumjs packages; eth_call and
          eth_estimateGas are computed by the proxy in front of it
  L1      a simulated L1 whose rollup contract holds the state roots of the L2,
          or the hashes of its blocks: blocks, eth_getProof, eth_getLogs
  beacon  the light-client part of the beacon API, over a simulated consensus
          layer with forks from Capella to Gloas
Ctrl-C ends it.

The demo state has two accounts (0xa1a1..., 0xb2b2...), a contract (0xc0c0...),
an ERC-20 token (0x7070...), another behind a proxy (0x7171...), and the
aggregate3 of Multicall3 (0xcaca...). In each block, one of two accounts
(0xf39f..., 0x7099...) sends the other a token: they are the first two of
anvil and Hardhat, whose keys everybody knows.

Options:
${formatOptions(options)}

Exit code: 0 ended by Ctrl-C; 2 wrong usage, unreadable input, or the port is
taken.

Examples:
  rollup-state-proof serve --port 8545
  rollup-state-proof serve --finalize-every 12 --unfinalized 40 --keep 100
  rollup-state-proof serve --genesis genesis.json --scheme mimc --json
`

export const command: Command = {
  help,
  async run(args, io) {
    const { values } = parseOptions(args, options)
    const scheme = requireScheme(values.scheme)
    const port = wholeNumber('--port', values.port, 0, 65_535)
    const seconds = optionalNumber('--finalize-every', values['finalize-every'], 86_400)
    const path = values.genesis
    const isDemo = path === undefined
    const content = isDemo ? undefined : await readJson(path, io)
    const genesis = isDemo ? demoWorld(scheme) : orUsageError(path, () => readGenesis(scheme, content))
    // A chain that moves uses the clock. A chain that stands still has the same hashes in every run.
    const begin = Math.floor(Date.now() / 1000) - HISTORY_SECONDS
    let isRunning = false
    const clock = () => (isRunning ? Math.floor(Date.now() / 1000) : begin)
    const service = createService({ genesis, ...serviceOptions(values), ...(seconds !== undefined && { clock }) })
    const { chain, beacon } = service
    if (isDemo) for (const count of DEMO_COUNTS) addDemo(chain, values.messages, count)
    const { url: l2, l1Url: l1, beaconUrl } = await service.listen(port, values.host).catch(cannotListen('--port'))
    isRunning = true
    const finalized = () => describeFinalized(chain)
    const { l2BlockNumber, ...held } = finalized()
    const messageService = values.messages ? lineaMessageService : undefined
    const served = { l2, l1, beacon: beaconUrl, rollup: DEVNET_CONTRACT, scheme: scheme.name, messageService }
    const json = { ...served, network: beacon.network, finalized: finalized() }
    const rows = Object.entries({
      ...{ L2: l2, L1: l1, 'beacon API': beaconUrl, 'rollup contract': DEVNET_CONTRACT, scheme: scheme.name },
      ...{ finalized: `block ${l2BlockNumber}`, 'its state root': held.stateRoot },
      ...('blockHash' in held && { 'its hash': held.blockHash }),
      ...(isDemo && {
        accounts: `${DEMO_USER}, ${DEMO_PAYEE}`,
        'token of both': DEMO_TOKEN,
      }),
      ...(messageService && { 'message service': messageService }),
    })
    io.stdout.write(values.json ? toJson(json) : `${formatTable(rows)}\nCtrl-C ends it.\n`)
    const report = () => {
      if (values.json) io.stdout.write(toJson({ finalized: finalized() }))
    }
    const move = () => {
      // As many blocks as a real L1 adds in this time.
      const l1Blocks = Math.floor((seconds ?? 0) / L1_SECONDS_PER_BLOCK)
      if (isDemo) addDemo(chain, values.messages, BLOCKS_PER_FINALIZATION, l1Blocks)
      else addEmptyBlock(chain, l1Blocks)
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
}

/** What L1 holds of the newest finalized block: the root of its state, or its hash, whose header has the root. */
function describeFinalized(chain: ServiceChain) {
  const l2BlockNumber = chain.finalized()
  if (l2BlockNumber < (chain.upgradedAt() ?? l2BlockNumber + 1n)) {
    return { l2BlockNumber, stateRoot: chain.at(l2BlockNumber)?.stateRoot() ?? '' }
  }
  const { hash, stateRoot } = Object(chain.getBlock(l2BlockNumber))
  return { l2BlockNumber, blockHash: String(hash), stateRoot: String(stateRoot) }
}

const optionalNumber = (name: string, text: string | undefined, most: number): number | undefined =>
  text === undefined ? undefined : wholeNumber(name, text, 1, most)

/** Blocks per finalization. */
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

/** What the options say about the service, but its state and its clock. @throws UsageError */
function serviceOptions(flags: ValuesOf<typeof options>) {
  const keep = optionalNumber('--keep', flags.keep, 1_000_000)
  const upgradeAt = optionalNumber('--upgrade-at', flags['upgrade-at'], Number.MAX_SAFE_INTEGER)
  const contractVersion = wholeNumber('--contract-version', flags['contract-version'], 7, 9) as ContractVersion
  if (contractVersion === 9 && upgradeAt !== undefined) throw new UsageError('--upgrade-at: the version is 9 already')
  const publicRate = optionalNumber('--public-rate', flags['public-rate'], 1_000_000)
  return {
    rollup: { name: 'devnet', address: DEVNET_CONTRACT },
    ...(flags.messages && { messageService: lineaMessageService }),
    apiKeys: flags['api-key'] ?? [],
    proofLag: wholeNumber('--proof-lag', flags['proof-lag'], 0, 1000),
    l1Unfinalized: wholeNumber('--unfinalized', flags.unfinalized, 0, 1000),
    contractVersion,
    ...(upgradeAt !== undefined && { upgradeAt: BigInt(upgradeAt) }),
    ...(keep !== undefined && { keep }),
    ...(publicRate !== undefined && { publicRate }),
  } as const
}

/** Age of the history of a moving demo when it starts to move, in seconds. */
const HISTORY_SECONDS = 600
const BLOCKS_PER_FINALIZATION = 2
const L1_SECONDS_PER_BLOCK = 12

/** The block is empty, because it is unknown what could change in the user's own state. */
function addEmptyBlock({ addBlock, finalize, l1 }: ServiceChain, l1Blocks: number): void {
  addBlock()
  for (let added = 0; added < l1Blocks; added++) l1.addBlock()
  finalize()
}
