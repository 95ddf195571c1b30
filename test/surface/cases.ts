import { readFileSync } from 'node:fs'
import { fetchConsensus } from '../../src/client/beacon/beacon.ts'
import * as devnetPackage from '../../src/devnet/index.ts'
import { implementationOf } from '../../src/devnet/service/contract.ts'
import { DEMO_SIGNERS, transferToken } from '../../src/devnet/service/demo-transfer.ts'
import * as anchor from '../../src/entry/anchor.ts'
import * as beacon from '../../src/entry/beacon.ts'
import * as blocks from '../../src/entry/blocks.ts'
import * as core from '../../src/entry/index.ts'
import * as messages from '../../src/entry/messages.ts'
import * as mimc from '../../src/entry/mimc.ts'
import * as networks from '../../src/entry/networks.ts'
import * as poseidon2 from '../../src/entry/poseidon2.ts'
import * as evm from '../../src/entry/provider/evm.ts'
import * as provider from '../../src/entry/provider.ts'
import * as rpc from '../../src/entry/rpc.ts'
import * as transition from '../../src/entry/transition.ts'

/** A call that the public API accepts, which the walk spoils in every way that it knows. */
export interface Case {
  /** The function, and arguments with every option that it has. */
  readonly call: (...args: never[]) => unknown
  readonly args: readonly unknown[]
  /** Paths of what may be left out, such as `1.storageKeys` for a field of the second argument. */
  readonly optional?: readonly string[]
  /** Of these, paths of claims: without them less is claimed, and whoever passes undefined has looked one up in vain. */
  readonly claims?: readonly string[]
  /** Paths of what strangers send, or of what may be anything. Nothing below them is the caller's. */
  readonly free?: readonly string[]
}

/** The entry points of the library, by specifier, and that of the devnet. */
export const doors: Readonly<Record<string, object>> = {
  '.': core,
  './mimc': mimc,
  './poseidon2': poseidon2,
  './anchor': anchor,
  './beacon': beacon,
  './blocks': blocks,
  './messages': messages,
  './transition': transition,
  './networks': networks,
  './rpc': rpc,
  './provider': provider,
  './provider/evm': evm,
  devnet: devnetPackage,
}

/** Functions that take anything, and have no option to misspell. */
export const TAKES_ANYTHING: Readonly<Record<string, string>> = {
  ArgumentError: 'the package throws it',
  ProofError: 'it has a code, and details for people',
  EndpointError: 'it has a code, and details for people',
  ProviderError: 'it has a reason, and details for people',
  isArgumentError: 'it says no to anything else',
  isProofError: 'it says no to anything else',
  isEndpointError: 'it says no to anything else',
  isProviderError: 'it says no to anything else',
  isHex: 'it says no to anything else',
  stringify: 'it takes any value',
  meaningOf: 'it has no sentence for anything else',
  diagnose: 'it takes anything that was thrown',
  encodeHeader: 'it takes a block that an endpoint sent',
  decodeFinalizedStateLog: 'it takes a log that an endpoint sent',
}

const emptyRoot = devnetPackage.createWorld(poseidon2.poseidon2).stateRoot()
const hex = (pair: string, length: number): core.Hex => `0x${pair.repeat(length)}`
const [address, token] = [hex('b2', 20), hex('70', 20)]
const key = hex('00', 32)
const scheme = poseidon2.poseidon2
/** Objects of functions: what they consist of is not an option of the call that they are passed to. */
const whole = new Set<unknown>([scheme, beacon.mainnetBeacon])
export const isWhole = (value: unknown): boolean => whole.has(value)
const asWhole = <T>(value: T): T => {
  whole.add(value)
  return value
}

/** Signed by a key of the demo. */
const { transaction } = transferToken(
  { state: devnetPackage.demoWorld(scheme), to: token, chainId: 1337n },
  DEMO_SIGNERS,
)
const messageContent = { from: token, to: token, fee: 0n, value: 1n, data: '0x' } as const
const bridged = () => {
  const created = { genesis: tree, rollup: { address: rollup.address }, messageService: token }
  return devnetPackage.createService(created).chain.messages
}
const messageService = messages.lineaMessageService
const devnet = devnetPackage.createService({
  ...{ genesis: devnetPackage.demoWorld(scheme), rollup: { address: hex('11', 20) }, messageService },
})
devnet.chain.messages.sendFromL2([messageContent])
devnetPackage.addDemoBlocks(devnet.chain)
const { url: l2, l1Url: l1, beaconUrl } = await devnet.listen()
export const closeCases = (): Promise<void> => devnet.close()

const { lineaLayout } = anchor
const rollup = {
  ...{ name: 'devnet', address: hex('11', 20), layout: lineaLayout, method: 'rollup_getProof' },
  ...{ implementation: implementationOf(8), chainId: 1337, l1ChainId: 1338 },
}
const optionalOfRollup = [
  ...[
    'name',
    'layout',
    'layout.blockHashes',
    'layout.finalizedState',
    'implementation',
    'method',
    'chainId',
    'l1ChainId',
  ],
]
const ofRollup = (path: string) => [...optionalOfRollup.map(name => `${path}.${name}`)]
const { signal } = new AbortController()
asWhole(signal)
const ignore = () => {}

const tree = asWhole(devnetPackage.demoWorld(scheme))
const stateRoot = tree.stateRoot()
const answer = tree.getProof(address, [])
const contract = core.verifyProof(tree.getProof(hex('c0', 20)), { scheme, stateRoot, address: hex('c0', 20) })

const api = asWhole(rpc.createBeaconApi(beaconUrl))
const { network } = devnet.beacon
asWhole(network)
const blockRoot = (await devnet.beacon.blockRoot(55n)) ?? '0x'
const trusted = beacon.trustBeaconBlock({ network, blockRoot })
asWhole(trusted)
/** The clock of the devnet stands still. */
const anyAge = { maxTrustedAgeSeconds: Number.POSITIVE_INFINITY }
const { consensus } = await fetchConsensus({ apis: [api], trusted, ...anyAge }, {}, undefined)
const { network: _, ...answers } = consensus
const { committee } = beacon.verifyBootstrap(consensus.bootstrap, { network, blockRoot })
const [firstUpdate] = Array.from(answers.updates as readonly unknown[])
const { committee: nextCommittee } = beacon.verifyUpdate(firstUpdate, committee)
/** Keys of a stored committee may have been altered where it was stored: they are proven to be those of its root. */
const ofCommittee = ['0', '1.pubkeys', '1.aggregatePubkey', '1.network.forks']

const linea = {
  name: 'devnet',
  rollup: { ...rollup, chainId: 1337 },
  scheme,
  messageService,
  hardfork: 'prague',
} as const
const source = { l1, l2, network: linea }
const recorded = await rpc.recordEvidence({ ...source, address })
const { bundle, verified } = recorded
const l1BlockHash = verified.l1Block.hash
const l2BlockNumber = verified.l2BlockNumber
const l1StateRoot = verified.l1Block.stateRoot
const bundledProof = Reflect.get(Object(bundle.l1), 'proof')
const fetchProof = (slots: readonly string[]) =>
  rpc.createHttpProvider(l1).request({
    method: 'eth_getProof',
    params: [rollup.address, slots, `0x${verified.l1Block.number.toString(16)}`],
  })
const anchorProof = await fetchProof(anchor.anchorStorageKeys({ rollup, l2BlockNumber }))
const slotProof = await fetchProof([key])
const block = await rpc.createHttpProvider(l1).request({
  method: 'eth_getBlockByNumber',
  params: [`0x${verified.l1Block.number.toString(16)}`, false],
})
const header = anchor.encodeHeader(block)
const ofBlock = { hash: l1BlockHash, number: verified.l1Block.number }
const { transactionsRoot, receiptsRoot } = blocks.verifyBlockHeader(header, ofBlock)
const logsVector = JSON.parse(readFileSync('vectors/logs/valid/one-log.json', 'utf8'))
const logsClaim = {
  ...{ scheme, rollup: logsVector.claim.rollup, trusted: logsVector.claim.trusted, l2BlockNumber: 1000n },
  ...{ fromBlock: 998n, toBlock: 998n, filter: logsVector.input.filter },
}
const slotOfHistory = { key: blocks.historySlot(99n), value: hex('ab', 32) }
const message = { from: address, to: token, fee: 1n, value: 2n, number: 300n, data: hex('ab', 3) }
const layout = messages.lineaMessageLayout
const [messageTree] = messages.messageTrees([messages.hashMessage(message)])
const messageProof = messageTree?.proofs[0] ?? { root: key, leafIndex: 0, proof: [] }
const ofTree = { message, root: messageProof.root, layout }
const inbox = [{ key: messages.messageArrivalKey({ message }), value: key }]
const messageL1Proof = await fetchProof(messages.messageFromL2Keys(ofTree))
const ofMessage = { l1StateRoot, rollup, message, layout }
const ofBundle = (name: string) => BigInt(Reflect.get(Object(Reflect.get(Object(bundle.l1), 'finalizedState')), name))
const finalizedState = {
  messageNumber: ofBundle('messageNumber'),
  forcedTransactionNumber: ofBundle('forcedTransactionNumber'),
  timestamp: ofBundle('timestamp'),
}
const stated = { scheme, rollup, trusted: { l1BlockHash }, l2BlockNumber, address, storageKeys: [] }
const call = { from: hex('00', 20), to: token, data: `0x70a08231${'00'.repeat(12)}${'b2'.repeat(20)}`, value: 0n }
const recordedCall = await provider.recordCall({ ...source, call } as never)
const environment = {
  ...{ timestamp: 1n, baseFee: 1n, blobBaseFee: 1n, gasLimit: 1n, coinbase: address, prevRandao: key },
}
const http = { signal, timeoutMs: 600_000, maxRetries: 1 }
const follow = {
  ...{ ...source, l1BlockHash: rpc.finalizedBlockHash(l1), requests: [{ address, storageKeys: [key] }], signal },
  ...{ fromL2BlockNumber: 1n, resumeFrom: null, skipUnavailable: false },
  ...{ maxKeysPerRequest: 10, pollIntervalMs: 100, onEvent: ignore },
}
const followedMessages = {
  ...{ ...source, l1BlockHash: follow.l1BlockHash, from: token, to: token, signal, onEvent: ignore },
  ...{ layout: messages.lineaMessageLayout, fromL2BlockNumber: 1n, resumeFrom: null },
  ...{ maxKeysPerRequest: 10, pollIntervalMs: 100 },
}
const record = {
  ...{ ...source, address, storageKeys: [key], l2BlockNumber, l1BlockNumber: verified.l1Block.number },
  ...{ maxKeysPerRequest: 10, onProgress: ignore },
  signal,
}
const optionalOf = (path: string, options: object, ...required: string[]) =>
  Object.keys(options).flatMap(name => (required.includes(name) ? [] : [`${path}.${name}`]))
const ofSource = [...ofRollup('0.network.rollup'), '0.network.name', '0.network.hardfork', '0.network.messageService']
/** Calls take the chain id. */
const ofCalls = ofSource.filter(name => name !== '0.network.rollup.chainId')

const messageRecord = {
  ...{
    ...source,
    direction: 'toL1' as const,
    layout: messages.lineaMessageLayout,
    onProgress: ignore,
  },
  ...{ l1BlockNumber: 'finalized' as const, signal, message: { from: token } },
}

const verifier = core.createVerifier(scheme)
const client = rpc.createRollupClient(l2)
const draft = () => tree.fork()

/** What exported functions return, whose functions are walked over as well. */
export const objects: Readonly<Record<string, object>> = {
  'createVerifier()': verifier,
  'createWorld()': tree,
  'createRollupClient()': client,
  'createHttpProvider()': rpc.createHttpProvider(l1),
  'createBeaconApi()': api,
  'createVerifiedProvider()': provider.createVerifiedProvider({ ...source, l1BlockHash: follow.l1BlockHash }),
  'createService()': devnet,
  'createService().chain': devnet.chain,
  'createService().chain.l1': devnet.chain.l1,
  'createService().chain.messages': devnet.chain.messages,
  'createService().beacon': devnet.beacon,
}

/** Functions of these objects that have no option to misspell, by what they take. */
export const WITHOUT_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  nothing: [
    ...[
      'createWorld().stateRoot',
      'createWorld().fork',
      'createVerifiedProvider().refresh',
      'createVerifiedProvider().view',
    ],
    ...['finalize', 'upgrade', 'upgradedAt', 'latest', 'finalized', 'provable'].map(
      name => `createService().chain.${name}`,
    ),
    ...['createService().chain.l1.addBlock', 'createService().chain.messages.receiveOnL2'],
  ],
  'a request, which is answered with an error of its own': [
    ...['createHttpProvider().request', 'createBeaconApi().get', 'createVerifiedProvider().request'],
    'createService().beacon.answer',
  ],
  'an event that never occurs': ['createVerifiedProvider().on', 'createVerifiedProvider().removeListener'],
  'a port and a host, which the system refuses': ['createService().listen'],
  'what to look up in a simulation': [
    ...['at', 'timestamp', 'getBlock'].map(name => `createService().chain.${name}`),
    'createService().beacon.blockRoot',
    ...['reorganize', 'blockNumber', 'getBlock', 'numberOf', 'getProof', 'getStorage'].map(
      name => `createService().chain.l1.${name}`,
    ),
  ],
  'what only the service asks for: it is not in the type': [
    'finalizations',
    'nextBlock',
    'forget',
    'upgrade',
    'logs',
    'read',
    'write',
  ].map(name => `createService().chain.l1.${name}`),
}

export const cases: Readonly<Record<string, Case>> = {
  verifyProof: {
    call: core.verifyProof,
    args: [answer, { scheme, stateRoot, address, storageKeys: [] }],
    ...{ free: ['0'], optional: ['1.storageKeys'] },
  },
  createVerifier: { call: core.createVerifier, args: [scheme] },
  'createVerifier().verifyProof': {
    call: verifier.verifyProof,
    args: [answer, { stateRoot, address, storageKeys: [] }],
    ...{ free: ['0'], optional: ['1.storageKeys'] },
  },
  mappingSlot: { call: core.mappingSlot, args: [{ slot: 0n, keys: [address, 5n] }] },
  slotKey: { call: core.slotKey, args: [0n] },
  verifyCode: {
    call: core.verifyCode,
    args: ['0x', '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'],
    free: ['0'],
  },
  safely: { call: core.safely, args: [() => 5n] },

  verifyHeader: {
    call: anchor.verifyHeader,
    args: [Reflect.get(Object(bundle.l1), 'header'), l1BlockHash],
    free: ['0'],
  },
  anchorStorageKeys: {
    call: anchor.anchorStorageKeys,
    args: [{ rollup, l2BlockNumber, finalizedState }],
    optional: [...ofRollup('0.rollup'), '0.finalizedState', '0.finalizedState.forcedTransactionNumber'],
  },
  verifyAnchor: {
    call: anchor.verifyAnchor,
    args: [anchorProof, { l1StateRoot, rollup, l2BlockNumber, holds: 'stateRoot' }],
    ...{ free: ['0'], optional: [...ofRollup('1.rollup'), '1.holds'] },
  },
  'verifyAnchor, with a timestamp': {
    call: anchor.verifyAnchor,
    args: [bundledProof, { l1StateRoot, rollup, l2BlockNumber, finalizedState }],
    ...{
      free: ['0'],
      optional: [...ofRollup('1.rollup'), '1.finalizedState', '1.finalizedState.forcedTransactionNumber'],
    },
  },
  verifyEthProof: {
    call: anchor.verifyEthProof,
    args: [slotProof, { l1StateRoot, address: rollup.address, storageKeys: [key] }],
    ...{ free: ['0'], optional: ['1.storageKeys'] },
  },
  verifyEvidence: {
    call: anchor.verifyEvidence,
    args: [bundle, stated],
    ...{ free: ['0'], optional: ofRollup('1.rollup') },
  },
  createBundle: {
    call: anchor.createBundle,
    args: [
      {
        ...{ scheme, rollup, l2BlockNumber, address, storageKeys: [], answer },
        ...{ consensus: consensus, l1: { block, proof: bundledProof, finalizedState } },
      },
    ],
    ...{
      free: [
        '0.answer',
        '0.l1.block',
        '0.l1.proof',
        '0.consensus.bootstrap',
        '0.consensus.network',
        '0.consensus.updates',
        '0.consensus.finality',
      ],
      optional: [
        ...[...ofRollup('0.rollup'), '0.storageKeys', '0.l1', '0.l1.block', '0.l1.finalizedState', '0.consensus'],
        ...['0.l1.finalizedState.forcedTransactionNumber', '0.consensus.network', '0.consensus.finality'],
      ],
    },
  },
  'createBundle, of an Ethereum state': {
    call: anchor.createBundle,
    args: [{ scheme: 'ethereum', rollup, l2BlockNumber, address, storageKeys: [], answer: slotProof, l2Block: block }],
    ...{ free: ['0.answer', '0.l2Block'], optional: [...ofRollup('0.rollup'), '0.storageKeys', '0.l2Block'] },
  },

  trustBeaconBlock: { call: beacon.trustBeaconBlock, args: [{ network, blockRoot }] },
  verifyBootstrap: {
    call: beacon.verifyBootstrap,
    args: [consensus.bootstrap, { network, blockRoot }],
    free: ['0'],
  },
  verifyUpdate: { call: beacon.verifyUpdate, args: [firstUpdate, committee], free: ofCommittee },
  verifyFinality: { call: beacon.verifyFinality, args: [answers.finality, nextCommittee], free: ofCommittee },
  verifyUnfinalized: { call: beacon.verifyUnfinalized, args: [answers.finality, nextCommittee], free: ofCommittee },
  verifyConsensus: {
    call: beacon.verifyConsensus,
    args: [answers, { network, blockRoot }],
    ...{ free: ['0.bootstrap', '0.updates', '0.finality'], optional: ['0.finality'] },
  },

  createWorld: { call: devnetPackage.createWorld, args: [scheme] },
  'createWorld().setAccount': {
    call: (...args: Parameters<devnetPackage.World['setAccount']>) => draft().setAccount(...args),
    args: [address, { nonce: 1n, balance: 1n, code: '0x6001', codeHash: undefined, snarkCodeHash: undefined }],
    optional: ['1', ...['nonce', 'balance', 'code', 'codeHash', 'snarkCodeHash'].map(name => `1.${name}`)],
  },
  'createWorld().deleteAccount': { call: (target: core.Hex) => draft().deleteAccount(target), args: [address] },
  'createWorld().setStorage': {
    call: (...args: Parameters<devnetPackage.World['setStorage']>) => draft().setStorage(...args),
    args: [hex('c0', 20), { key, value: hex('01', 32) }],
  },
  'createWorld().applyBlock': {
    call: (...args: Parameters<devnetPackage.World['applyBlock']>) => draft().applyBlock(...args),
    args: [[{ address, account: { nonce: 1n }, recreate: false, storage: [{ key, value: hex('01', 32) }] }]],
    // An account that exists is read, and a slot without a value.
    optional: ['0.0.account', '0.0.account.nonce', '0.0.recreate', '0.0.storage', '0.0.storage.0.value'],
  },
  'createWorld().getAccount': { call: tree.getAccount, args: [address] },
  'createWorld().getCode': { call: tree.getCode, args: [token] },
  'createWorld().getStorage': { call: tree.getStorage, args: [token, key] },
  'createWorld().getProof': { call: tree.getProof, args: [token, [key]], optional: ['1'] },
  'createWorld().skipLeaves': {
    call: (...args: Parameters<devnetPackage.World['skipLeaves']>) => draft().skipLeaves(...args),
    args: [100, token],
    optional: ['1'],
  },

  createHttpProvider: { call: rpc.createHttpProvider, args: [l2, http], optional: ['1', ...optionalOf('1', http)] },
  createBeaconApi: { call: rpc.createBeaconApi, args: [beaconUrl, http], optional: ['1', ...optionalOf('1', http)] },
  createRollupClient: {
    call: rpc.createRollupClient,
    args: [l2, { method: 'rollup_getProof', rollup, maxKeysPerRequest: 10 }],
    optional: ['1', '1.method', '1.rollup', '1.maxKeysPerRequest', ...ofRollup('1.rollup')],
  },
  'createRollupClient().getVerifiedState': {
    call: client.getVerifiedState,
    args: [{ scheme, stateRoot: verified.stateRoot, address, storageKeys: [key], l2BlockNumber, signal }],
    optional: ['0.storageKeys', '0.signal'],
  },
  fetchVerifiedRoot: {
    call: Reflect.get(rpc, 'fetchVerifiedRoot'),
    args: [{ l1, rollup, l1BlockHash, l2BlockNumber, holds: 'stateRoot', signal }],
    optional: [...ofRollup('0.rollup'), '0.l2BlockNumber', '0.holds', '0.signal'],
  },
  recordEvidence: {
    call: rpc.recordEvidence,
    args: [record],
    optional: [...ofSource, ...optionalOf('0', record, 'l1', 'l2', 'network', 'address')],
  },
  recordMessage: {
    call: rpc.recordMessage,
    args: [messageRecord],
    optional: [
      ...ofSource.filter(name => name !== '0.network.messageService'),
      ...optionalOf('0', messageRecord, 'l1', 'l2', 'network', 'message'),
    ],
  },
  'recordEvidence, from a beacon block': {
    call: rpc.recordEvidence,
    args: [{ ...source, address, beacon: { apis: [api], trusted, ...anyAge } }],
    optional: [...ofSource, '0.beacon'],
    free: ['0.beacon.maxTrustedAgeSeconds'],
  },
  finalizedBlockHash: {
    call: rpc.finalizedBlockHash,
    args: [[l1, 'http://127.0.0.1:1'], { quorum: 2, onDissent: ignore }],
    optional: ['1', '1.quorum', '1.onDissent'],
  },
  beaconBlockHash: {
    call: rpc.beaconBlockHash,
    args: [
      {
        ...{ apis: [api], trusted, onProgress: ignore, onFailure: ignore, maxAgeSeconds: 10 ** 9 },
        ...{ maxTrustedAgeSeconds: 10 ** 9, signal },
      },
    ],
    optional: [
      ...['onProgress', 'onFailure', 'maxAgeSeconds', 'maxTrustedAgeSeconds', 'signal'].map(name => `0.${name}`),
    ],
  },
  followMessages: {
    call: rpc.followMessages,
    args: [followedMessages],
    claims: ['0.from', '0.to'],
    optional: [
      ...ofSource.filter(name => name !== '0.network.messageService'),
      ...optionalOf('0', followedMessages, 'l1', 'l2', 'network', 'l1BlockHash'),
    ],
  },
  followFinalizations: {
    call: rpc.followFinalizations,
    args: [follow],
    optional: [
      ...ofSource,
      ...optionalOf('0', follow, 'l1', 'l2', 'network', 'l1BlockHash'),
      '0.requests.0.storageKeys',
    ],
  },

  historySlot: { call: blocks.historySlot, args: [99n] },
  readBlockHash: {
    call: blocks.readBlockHash,
    args: [
      { account: contract.account, storage: [slotOfHistory] },
      { number: 99n, stateBlock: 100n },
    ],
    // An account and slots as they were proven, which have more fields.
    free: ['0.account', '0.storage.0'],
  },
  verifyBlockHeader: { call: blocks.verifyBlockHeader, args: [header, ofBlock], free: ['0'] },
  verifyTransactions: { call: blocks.verifyTransactions, args: [[], { transactionsRoot }], free: ['0'] },
  verifyReceipts: { call: blocks.verifyReceipts, args: [[], { receiptsRoot }], free: ['0'] },
  verifyBlock: {
    call: blocks.verifyBlock,
    args: [{ header, transactions: [], receipts: [] }, ofBlock],
    free: ['0'],
  },

  'verifyEvidence, of logs': {
    call: anchor.verifyEvidence,
    args: [logsVector.input, { kind: blocks.logsEvidence, ...logsClaim }],
    ...{
      free: ['0'],
      optional: ['1.filter.address', '1.filter.topics'],
      claims: ['1.filter.address', '1.filter.topics'],
    },
  },
  hashMessage: { call: messages.hashMessage, args: [message] },
  messageTrees: { call: messages.messageTrees, args: [[key], 5], optional: ['1'] },
  messageFromL2Keys: { call: messages.messageFromL2Keys, args: [ofTree], optional: ['0.layout'] },
  verifyMessageFromL2: {
    call: messages.verifyMessageFromL2,
    args: [{ messageProof, l1Proof: messageL1Proof }, ofMessage],
    ...{ free: ['0'], optional: ['1.layout', ...ofRollup('1.rollup')] },
  },
  createMessageBundle: {
    call: messages.createMessageBundle,
    args: [{ rollup, message, messageProof, consensus: consensus, l1: { block, proof: messageL1Proof } }],
    ...{
      free: [
        '0.messageProof',
        '0.l1.block',
        '0.l1.proof',
        '0.consensus.bootstrap',
        '0.consensus.network',
        '0.consensus.updates',
        '0.consensus.finality',
      ],
      optional: [
        ...[...ofRollup('0.rollup'), '0.messageProof', '0.l1.block', '0.consensus'],
        ...['0.consensus.network', '0.consensus.finality'],
      ],
    },
  },
  'verifyEvidence, of a message': {
    call: anchor.verifyEvidence,
    args: [
      messages.createMessageBundle({ rollup, message, messageProof, l1: { block, proof: messageL1Proof } }),
      { kind: messages.messageEvidence, rollup, trusted: { l1BlockHash }, message, layout },
    ],
    ...{ free: ['0'], optional: ['1.layout', ...ofRollup('1.rollup')] },
  },
  messageToL2Keys: { call: messages.messageToL2Keys, args: [{ message, layout }], optional: ['0.layout'] },
  verifyMessageToL2: {
    call: messages.verifyMessageToL2,
    args: [await fetchProof(messages.messageToL2Keys({ message })), ofMessage],
    ...{ free: ['0'], optional: ['1.layout', ...ofRollup('1.rollup')] },
  },
  messageArrivalKey: { call: messages.messageArrivalKey, args: [{ message, layout }], optional: ['0.layout'] },
  readMessageArrival: {
    call: messages.readMessageArrival,
    args: [
      { account: contract.account, storage: inbox },
      { message, layout },
    ],
    // An account and slots as they were proven, which have more fields.
    ...{ free: ['0.account', '0.storage.0'], optional: ['1.layout'] },
  },
  encodeMessageClaim: {
    call: messages.encodeMessageClaim,
    args: [{ message, messageProof, feeRecipient: address }],
    ...{ free: ['0.messageProof'], optional: ['0.feeRecipient'] },
  },

  verifyTransition: {
    call: transition.verifyTransition,
    args: [{ zkStateMerkleProof: [[]] }, { scheme, parentStateRoot: emptyRoot, stateRoot: emptyRoot }],
    ...{ optional: ['1.stateRoot'], claims: ['1.stateRoot'], free: ['0'] },
  },

  createVerifiedProvider: {
    call: provider.createVerifiedProvider,
    args: [
      {
        ...{ ...source, l1BlockHash: follow.l1BlockHash, forward: ['eth_syncing'], environment },
        ...{ maxGas: 10n ** 6n, maxRequests: 10, signal },
        ...{ onView: ignore, maxKeysPerRequest: 10 },
      },
    ],
    optional: [
      ...ofCalls,
      ...['forward', 'environment', 'maxGas', 'maxRequests'].map(n => `0.${n}`),
      ...['onView', 'maxKeysPerRequest', 'signal'].map(name => `0.${name}`),
      ...optionalOf('0.environment', environment),
    ],
  },
  recordCall: {
    call: provider.recordCall,
    args: [
      {
        ...{
          ...source,
          call: { ...call, gas: 10n ** 6n },
          environment,
          maxRequests: 100,
        },
        ...{ l2BlockNumber, l1BlockNumber: verified.l1Block.number, maxKeysPerRequest: 10 },
        ...{ onProgress: ignore, signal },
      },
    ],
    optional: [
      ...ofCalls,
      ...['environment', 'maxRequests', 'l2BlockNumber', 'l1BlockNumber'].map(n => `0.${n}`),
      ...['maxKeysPerRequest', 'onProgress', 'signal'].map(name => `0.${name}`),
      ...['from', 'data', 'value', 'gas'].map(name => `0.call.${name}`),
      ...optionalOf('0.environment', environment),
    ],
  },
  verifyCallEvidence: {
    call: provider.verifyCallEvidence,
    args: [
      recordedCall.bundle,
      {
        ...{ scheme, rollup, trusted: { l1BlockHash }, chainId: 1337, l2BlockNumber, hardfork: 'prague' },
        ...{ call: { ...call, gas: 50_000_000n } },
      },
      { signal },
    ],
    ...{ free: ['0'], optional: [...ofRollup('1.rollup'), '1.chainId', '2', '2.signal'] },
  },

  createService: {
    call: devnetPackage.createService,
    args: [
      {
        ...{ genesis: tree, rollup, chainId: 1337, l1ChainId: 1338, apiKeys: ['key'] },
        faults: () => undefined,
        ...{
          contractVersion: 8,
          upgradeAt: 9n,
          l1Unfinalized: 1,
          l1History: 10,
          clock: () => 2_000_000_000,
          messageService: token,
          beacon: beacon.mainnetBeacon,
        },
      },
    ],
    optional: [
      ...ofRollup('0.rollup'),
      ...['beacon.preset', 'beacon.forks.4.epoch'].map(n => `0.${n}`),
      ...['chainId', 'l1ChainId', 'apiKeys', 'faults'].map(n => `0.${n}`),
      ...['contractVersion', 'upgradeAt', 'l1Unfinalized', 'l1History', 'clock', 'messageService', 'beacon'].map(
        name => `0.${name}`,
      ),
    ],
  },
  'createService().close': {
    call: (options?: never) =>
      devnetPackage.createService({ genesis: tree, rollup: { address: rollup.address } }).close(options),
    args: [{ graceMs: 1 }],
    optional: ['0', '0.graceMs'],
  },
  'createService().chain.addBlock': {
    call: (transactions?: never) =>
      devnetPackage.createService({ genesis: tree, rollup: { address: rollup.address } }).chain.addBlock(transactions),
    args: [[{ transaction, status: 1n, gasUsed: 21_000n, logs: [{ address: token, topics: [key], data: '0x' }] }]],
    optional: ['0', '0.0.status', '0.0.logs'],
  },
  'createService().chain.l1.finalize': {
    call: (finalization: never) => {
      const { chain } = devnetPackage.createService({
        genesis: devnetPackage.demoWorld(scheme),
        rollup: { address: rollup.address },
      })
      chain.l1.finalize(finalization)
    },
    args: [{ l2BlockNumber: 1n, stateRoot, timestamp: 1n }],
    optional: ['0.timestamp'],
  },
  'createService().chain.messages.sendFromL2': {
    call: (messages: never) => bridged().sendFromL2(messages),
    args: [[messageContent]],
    optional: ['fee', 'value', 'data'].map(name => `0.0.${name}`),
  },
  'createService().chain.messages.sendToL2': {
    call: (messages: never) => bridged().sendToL2(messages),
    args: [[messageContent]],
    optional: ['fee', 'value', 'data'].map(name => `0.0.${name}`),
  },
  'createService().chain.messages.claimOnL1': {
    call: (numbers: never) => bridged().claimOnL1(numbers),
    args: [[1n, 300n]],
  },
  'createService().chain.messages.claimOnL2': {
    call: (message: never) => {
      const messages = bridged()
      messages.sendToL2([messageContent])
      messages.receiveOnL2()
      messages.claimOnL2(message)
    },
    args: [{ ...messageContent, number: 1n }],
  },
  demoWorld: { call: devnetPackage.demoWorld, args: [scheme] },
  addDemoBlocks: {
    call: devnetPackage.addDemoBlocks,
    args: [asWhole(devnet.chain), { counts: [1], l1Blocks: 1 }],
    optional: ['1', '1.counts', '1.l1Blocks'],
  },
}
