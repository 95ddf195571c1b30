/**
 * Writes the lists of methods in `docs/methods.md`, from the table by which the provider dispatches and refuses them. With `--check`,
 * compares them instead.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readForward } from '../../src/provider/options.ts'
import { PROVEN, STATELESS, whyRefused } from '../../src/provider/requests.ts'

const PAGE = 'docs/methods.md'

/** What the page says of methods, by what they have in common. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^eth_blockNumber$/, 'the root on L1 of the state that holds the hash of this block'],
  [
    /^eth_get(?:Balance|TransactionCount|Code|StorageAt)$/,
    'the account and its slot, from the root on L1; code by its hash',
  ],
  [/_getProof$/, 'the root on L1. The last is for a state of Ethereum, the others for any other'],
  [/^eth_(?:call|estimateGas|createAccessList)$/, 'everything that the call reads; it is executed here'],
  [/^eth_get(?:Block(?!Receipts)|Uncle)|RawHeader$/, 'the header, and all transactions of the block'],
  [
    /^eth_get(?:Raw)?TransactionBy|^debug_getRawTransaction$/,
    'the header, and all transactions of the block. The sender is recovered from the signature',
  ],
  [/Receipts?$/, 'all transactions and all receipts of the block'],
  [
    /Logs$|Filter/,
    'each header of the range, and all receipts of each block whose bloom filter admits a log: none is missing, added or changed. With `completeLogs: false`, some may be missing',
  ],
  [/subscribe$/, 'what is pushed: heads as headers, logs as of a filter. Over a WebSocket of the proxy only'],
  [/^eth_(?:feeHistory|blobBaseFee)$/, 'the headers, and the receipts if rewards are asked for'],
  [
    /^eth_(?:maxPriorityFeePerGas|gasPrice)$/,
    'the newest blocks that have transactions: the median tip, without and with the base fee',
  ],
  [/^eth_chainId$|^net_version$/, 'what you passed. Nothing is answered if the endpoint names another chain'],
  [/^web3_|^net_listening$|^eth_(?:accounts|syncing)$/, 'whoever answers, which holds no accounts and is not a node'],
  [/^eth_sendRawTransaction$/, 'keep the transaction to itself. It cannot change it, because it is signed'],
  [
    /^linea_estimateGas$/,
    'name a wrong limit or wrong fees: look at what your wallet shows. The network computes them from the compressed size of the transaction and its margins, which nothing proves. Without it, clients use eth_estimateGas and eth_gasPrice',
  ],
]

/** Methods that clients ask for and that are refused, of each kind that the code tells apart. */
const REFUSED = [
  'eth_sendTransaction',
  'eth_sign',
  'eth_signTransaction',
  'eth_signTypedData_v4',
  'eth_requestAccounts',
  'personal_sign',
  'eth_newPendingTransactionFilter',
  'txpool_content',
  'txpool_status',
  'eth_simulateV1',
  'eth_callMany',
  'debug_traceTransaction',
  'debug_traceCall',
  'trace_block',
  'trace_call',
]

/** All methods that the page names, from the code, by what happens with them. */
export const METHODS = {
  proven: Object.keys(PROVEN),
  stateless: Object.keys(STATELESS),
  forwarded: readForward(['wallet']).forward.filter(method => !Object.hasOwn(PROVEN, method)),
  refused: REFUSED,
}

/** @throws if nothing is said of the method */
export function wordsOf(kind: keyof typeof METHODS, method: string): string {
  const words = kind === 'refused' ? whyRefused(method) : WORDS.find(([names]) => names.test(method))?.[1]
  if (words === undefined) throw new Error(`test/tools/methods.ts says nothing of ${method}`)
  return words
}

/** Replaces each list, which stands between two comments. */
export const withLists = (page: string): string =>
  (['proven', 'stateless', 'forwarded', 'refused'] as const).reduce((text, kind) => {
    const words = new Set(METHODS[kind].map(method => wordsOf(kind, method)))
    const rows = [...words].map(how => {
      const names = METHODS[kind].filter(method => wordsOf(kind, method) === how)
      return `- ${names.map(name => `\`${name}\``).join(', ')}: ${how}`
    })
    const place = new RegExp(`(<!-- ${kind} -->\n)[^]*?(<!-- end -->)`)
    if (!place.test(text)) throw new Error(`${PAGE} has no place for what is ${kind}`)
    return text.replace(place, `$1\n${rows.join('\n')}\n\n$2`)
  }, page)

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const before = readFileSync(PAGE, 'utf8')
  const after = withLists(before)
  if (process.argv.includes('--check')) {
    console.log(`${PAGE}: ${before === after ? 'as the code has it' : 'differs: npm run generate'}`)
    if (before !== after) process.exitCode = 1
  } else writeFileSync(PAGE, after)
}
