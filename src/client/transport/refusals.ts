import type { EndpointErrorCode } from './error.ts'

export interface Refusal {
  /** The JSON-RPC error code; null if the body holds no error. */
  readonly rpc: number | null
  /** The message and the data of the error, or what else the body says; redacted, and bounded. */
  readonly text: string
  /** The HTTP status; null if it is unknown, or says that all is well. */
  readonly status: number | null
  /** The method, or the path at a beacon API; empty if it is unknown. */
  readonly method: string
  readonly params: readonly unknown[]
}

/** A row of {@link TABLE}. It holds if all of its conditions do. */
interface Row {
  readonly code: EndpointErrorCode
  /** All of which have to be there. */
  readonly words?: readonly RegExp[]
  readonly rpc?: readonly (number | null)[]
  readonly status?: readonly (number | null)[]
  readonly method?: RegExp
  /** The request names a block by tag. */
  readonly hasTag?: true
}

const LOGS = /^eth_getLogs$/
const BEACON = /^\/eth\//
const TAGS: readonly unknown[] = ['latest', 'earliest', 'pending', 'finalized', 'safe']

const says = (code: EndpointErrorCode, ...words: RegExp[]): Row => ({ code, words })
const coded = (code: EndpointErrorCode, ...rpc: number[]): Row => ({ code, rpc })
const answered = (code: EndpointErrorCode, ...status: number[]): Row => ({ code, status })
const ofLogs = (code: EndpointErrorCode, ...words: RegExp[]): Row => ({ code, words, method: LOGS })
const onTag = (code: EndpointErrorCode, ...words: RegExp[]): Row => ({ code, words, hasTag: true })
const ofBeacon = (code: EndpointErrorCode, status: number, words: RegExp): Row => ({
  code,
  status: [status],
  words: [words],
  method: BEACON,
})

/** What may be absent. Not the parameter that names it. */
const THING = String.raw`\b(?:node(?= 0x)|blocks?(?! ?(?:tag|param|range))|blockNumber|header|body|(?:world ?)?state(?:Root)?|trie\w*|history|histories|height|slot|snapshot|resource|metadata|proofs?|receipts?|transaction|requested data|LightClient\w+|\w*SyncCommittee\w*)\b`
const ABSENT = String.raw`\b(?:(?:not?|\w+n['’o]t) (?:\w+ ){0,3}?(?:found|available|exist|present|known|held|stored|indexed|imported|retained|kept|executed|canonical|in the|on this node)|cannot be found|(?:is|be|was) (?:nil|null)|unavailable|missing|unknown|not yet|pruned|garbage|dropped|expired|out of range|in (?:the )?future|ahead of|beyond|too (?:old|far)|(?:older|higher|greater|later) than|last \d+ blocks|after (?:the )?latest|before the (?:oldest|earliest|first)|out of bounds)\b`
const SOUGHT = String.raw`\b(?:missing|unknown|pruned|no such|no|n['’o]t have|(?:could not|couldn't|cannot|can't|unable to|failed to) (?:find|get|load|read|retrieve|fetch|locate|resolve))`

/**
 * What servers say, and what it means. The first row that holds decides: words before codes, because servers use -32000, -32600
 * and -32602 for everything; codes before statuses; and what is specific first. Beside each row is a public source in which the
 * words, the code or the status occur. The tests hold more of them.
 */
const TABLE: readonly Row[] = [
  // Whatever follows is the text of a contract: EIP-1474 and go-ethereum, internal/ethapi/errors.go; hardhat and ganache
  says('ENDPOINT_ERROR', /\bexecution reverted\b|VM Exception/i),
  // RFC 9110, 15.5.3
  answered('UNAUTHORIZED', 402),
  // Consensys/shomei, rpc/server/method/LineaGetProof.java
  says('BLOCK_MISSING', /BLOCK_MISSING_IN_CHAIN/),

  // A quota that does not come back soon. erpc/erpc, architecture/evm/error_normalizer.go; quicknode.com/docs, error references
  says(
    'UNAUTHORIZED',
    /\bmonthly\b|\bbilling\b|\bpayment\b|\bunpaid\b|\binvoice\b|(?:out of|insufficient) credits|(?:reached|exceeded) the free tier|(?:requires?|needs?) an? (?:active|paid) (?:subscription|plan)|\b(?:account|subscription)\b.{0,20}(?:suspended|expired|disabled|deactivated|inactive)/i,
  ),
  // A rate. docs.metamask.io, Infura error codes; alchemy.com/docs, throughput; quicknode.com/docs; ankr.com/docs, errors
  says(
    'RATE_LIMITED',
    /rate.?limit|too many (?:concurrent )?(?:requests|connections|calls)|(?:per|\/) ?(?:sec(?:ond)?|min(?:ute)?|hour|day)\b|request (?:rate|count|limit)|throttl|slow down|code: 1015/i,
  ),
  // Ranges of logs. paradigmxyz/reth, rpc/src/eth/filter.rs; besu RpcErrorType.java; INFURA/infura#237; docs.chainstack.com/docs/limits;
  // docs.goldsky.com (-32012); ankr.com/docs (-32062); quicknode.com/docs (-32614)
  { code: 'PARAMS_REFUSED', rpc: [-32005, -32012, -32062, -32614], method: LOGS },
  ofLogs(
    'PARAMS_REFUSED',
    /\b(?:ranges?|blocks?|(?:from|to)Block|addresses|topics|results?|logs|getLogs|span|response|query|distance|records|entries)\b/i,
    /exceed|\btoo (?:large|wide|big|many|high|long)\b|(?:larger|greater|bigger|more|wider) than|\bover \d|\blimit|\bup to\b|\bmax(?:imum)?\b|\bshould (?:not|work)\b|at most|\blast \d|not supported on|smaller|reduc|narrow|paginat|not allowed/i,
  ),
  // chainstacklabs and allnodes.com: logs of any contract, or of many, are not searched for
  ofLogs('PARAMS_REFUSED', /\bspecify (?:an |(?:less|fewer) .{0,12})?address/i),
  // A rate in other words. erpc; ethereum-optimism/infra, proxyd/backend.go
  says(
    'RATE_LIMITED',
    /\b(?:requests|calls|rps|cu|credits|compute units|throughput|connections|relays|concurren|quota|daily|capacity|usage|(?<!to )load)/i,
    /\b(?:limit|exceed|exhaust|insufficient|reached|used up|over |too (?:many|much|high|fast))/i,
  ),
  says('RATE_LIMITED', /overloaded|^limit exceeded|\bis full\b/i),

  // Not here yet, because the node has just started or lags. besu RpcErrorType.java (-32008); sigp/lighthouse, warp_utils/src/reject.rs;
  // ChainSafe/lodestar, api/impl/errors.ts
  says(
    'BLOCK_MISSING',
    /\bsyncing|\bnot .{0,16}(?:synced|synchroni|ready|initiali|started)|still (?:sync|catching|starting|loading|indexing)|catching up|initial sync|starting up|initiali[sz]ing|bootstrapping|\bbehind\b|lagging|out of sync|waiting for peers|incorrect head block/i,
  ),
  onTag('TAG_UNSUPPORTED', /\b0x prefix/i),
  // What is behind it is not there, whatever it was asked for. golang.org, net
  says('ENDPOINT_ERROR', /\bdial (?:tcp|unix)\b|connection (?:refused|reset)|ECONNRE|no such host|broken pipe/i),
  // Here no more, or not at all. ethereum/go-ethereum, triedb/pathdb, eth/state_accessor.go and eth/api_backend.go; NethermindEth/nethermind,
  // JsonRpc; reth, storage/errors/src/provider.rs and rpc-eth-types; erigontech/erigon, rpc/jsonrpc/eth_call.go; drpcorg/dshackle,
  // upstream/ethereum/EthereumLowerBoundStateDetector.kt; matter-labs/zksync-era; docs.chainstack.com/docs/limits
  coded('BLOCK_MISSING', 4444, 4445, -39001, -32014, -32061),
  says(
    'BLOCK_MISSING',
    /reexec=|proof window|\bno archive|(?:requires?|needs?) (?:an )?archive|no historical|historical (?:state|queries)|history has expired|(?:been|was|is) pruned|due to pruning|too old|not currently canonical|(?:earliest|first) available|beyond (?:the )?(?:current )?head|less than or equal to the current|after last accepted|proofs are available only|layer stale|trie-?log roll|insufficient changesets|state pruning|already discarded|(?:only has|lowest) (?:data|height)|not found error|latest block number is|from root hash|is not latest|max(?:imum)? height|height is \d{1,20} but|too deep|could not be loaded|> latest\b/i,
  ),
  says('BLOCK_MISSING', new RegExp(`${THING}.{0,60}?${ABSENT}|${SOUGHT} .{0,20}?${THING}`, 'i')),
  ofLogs('PARAMS_REFUSED', /\brange\b|\bspan\b|differ by|interval|< begin\b/i),

  // ava-labs/coreth, eth/api_backend.go
  says('BLOCK_NOT_FINALIZED', /\bnot\b.{0,20}\bfinali[sz]ed|\bunfinali[sz]ed/i),
  // go-ethereum, rpc/types.go; erigon and reth, parsing of block tags; erpc
  onTag(
    'TAG_UNSUPPORTED',
    /\b(?:tag|finali|safe|pending|earliest|latest|block ?(?:number|param|id|height))|hex string/i,
    /\b(?:invalid|unsupported|not|unknown|unrecogni[sz]ed|cannot|expected|unexpected|malformed|illegal|wrong)\b|failed to parse|without 0x/i,
  ),

  // A network. alchemy.com/docs
  says('UNAUTHORIZED', /\b[a-z]{1,20}_(?:mainnet|sepolia|testnet)\b.{0,20}\bnot enabled/i),
  // The method. EIP-1474; EIP-1193; besu RpcErrorType.java (-32604); ankr.com/docs, errors (-32075); quicknode (-32612, -32613); proxyd;
  // nethermind, JsonRpc/Modules/RpcModuleProvider.cs
  coded('METHOD_UNKNOWN', -32601, 4200, -32004, -32604, -32075, -32612, -32613),
  says(
    'METHOD_UNKNOWN',
    /\b(?:method|module|namespace|operation|feature|rpc call|(?:eth|linea|rollup|debug|trace|shomei)_|api (?:is|not) )/i,
    /\b(?:not|isn't|unsupported|unknown|no such|no route|disabled|disallowed|unavailable|unrecogni[sz]ed|restricted|prohibited|forbidden|denied|blocked|upgrade|only available)\b|invalid (?:rpc )?method\b(?! param)/i,
  ),
  says('METHOD_UNKNOWN', /\b(?:plan|tier)\b/i, /\bnot (?:available|included|supported|enabled|allowed|on|part)\b/i),
  says('METHOD_UNKNOWN', /not implemented|upgrade your (?:plan|tier)/i),
  // The key. EIP-1193; alchemy.com/docs, error reference; docs.metamask.io; drpc.org/docs; publicnode.com; besu (-40100);
  // developers.cloudflare.com/support, errors 1006 to 1020
  coded('UNAUTHORIZED', 401, 403, 4100, -40100, -32606),
  says(
    'UNAUTHORIZED',
    /unauthori[sz]ed|unauthenticated|authenticat|authori[sz]ation|api ?key|(?:access|app|secret|project)[ -]?(?:key|token|id)\b|personal token|\bkey is inactive|(?:invalid|missing) key\b|forbidden|denied|permission|login required|\bpassword|not allowed to access|whitelist|allowlist|\bbanned\b|\bblocked\b|code: 10(?:0\d|1[0-4]|20)/i,
  ),
  says(
    'UNAUTHORIZED',
    /\b(?:token|jwt|credentials?|project|app|auth|ip|origin|referer|domain|country)\b/i,
    /\b(?:invalid|incorrect|wrong|expired|missing|required|inactive|revoked|unknown|not (?:found|allowed|permitted|in))\b/i,
  ),

  // Sizes and times. go-ethereum, rpc/errors.go (-32002, -32003) and rpc/http.go; proxyd/backend.go (-32020, -32021); envoyproxy/envoy
  says('RESPONSE_TOO_LARGE', /\bresponse\b/i, /\btoo (?:large|big)|exceed|\bsize\b/i),
  says(
    'PARAMS_REFUSED',
    /\b(?:request|body|payload|content|entity|params?|parameters|keys|slots)\b/i,
    /(?<!took )\btoo (?:large|big|long|many)\b/i,
  ),
  says('TIMEOUT', /\btimed?[ -]?out|deadline exceeded|took too long/i),

  // Codes alone. EIP-1474; quicknode; proxyd; docs.blockvision.org (-32605)
  coded('RATE_LIMITED', -32005, 429, -32007, -32009, -32029, -32097, -32090, -32605, -32012, -32016, -32017, -32024),
  coded('PARAMS_REFUSED', -32602),
  says('PARAMS_REFUSED', /invalid (?:argument|params?\b|parameter)|missing value for required argument/i),

  // Statuses alone. RFC 9110; docs.aws.amazon.com/elasticloadbalancing (561). For what a beacon API does not hold, it answers 404:
  // ethereum/beacon-APIs. Javalin (Teku) and Go (Prysm) have words of their own for a path that is not served. Teku also says
  // nothing at all while it waits for the genesis
  answered('UNAUTHORIZED', 401, 403, 407, 561),
  answered('RATE_LIMITED', 429),
  answered('PARAMS_REFUSED', 413, 414, 431),
  ofBeacon('METHOD_UNKNOWN', 404, /^"?(?:route\b|endpoint get\b|404 page not found)/i),
  ofBeacon('BLOCK_MISSING', 404, /^(?!an HTML page)/),
  ofBeacon('PARAMS_REFUSED', 400, /^(?!an HTML page)/),
  answered('HTTP_ERROR', 301, 302, 303, 307, 308, 404, 405, 406, 410, 415, 421, 422),
]

/** What the table does not know is an error of the endpoint. */
export function meaningOf({ rpc, text, status, method, params }: Refusal): EndpointErrorCode {
  const holds = (row: Row) =>
    (row.rpc?.includes(rpc) ?? true) &&
    (row.status?.includes(status) ?? true) &&
    (row.method?.test(method) ?? true) &&
    (row.hasTag === undefined || params.some(param => TAGS.includes(param))) &&
    (row.words?.every(words => words.test(text)) ?? true)
  return TABLE.find(holds)?.code ?? (rpc === null && status !== null ? 'HTTP_ERROR' : 'ENDPOINT_ERROR')
}
