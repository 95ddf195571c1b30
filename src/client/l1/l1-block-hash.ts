import { invalid } from '../../base/arguments.ts'
import type { Hex } from '../../base/bytes.ts'
import { readOptions, verifyFunction, verifyWhole } from '../../base/options.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import { type Endpoint, type Endpoints, only, openEndpoints, type Work } from '../sources/endpoints.ts'
import { EndpointError } from '../transport/error.ts'
import { SOURCE_TIMEOUT_MS, STRAGGLE_MS } from '../transport/limits.ts'
import type { OpenProvider } from '../transport/provider.ts'
import { inTime } from '../transport/waiting.ts'
import { fetchL1Block, type L1BlockTag } from './l1.ts'

/** A source that does not agree with the quorum. */
export interface DissentingSource {
  /** Index of the endpoint. */
  index: number
  /** What was wrong: no answer, a block that is not finalized, or another hash. */
  found: string
}

/** How many sources must agree, and who is told about the others. */
export interface AgreementOptions {
  /** How many must name the same hash. Default: more than half. */
  quorum?: number | undefined
  /** Called on agreement with the sources that did not take part in it. */
  onDissent?: ((odd: readonly DissentingSource[]) => void) | undefined
}

/**
 * A source of L1 block hashes: the newest finalized L1 block that an endpoint names, or on which enough endpoints agree. Of several,
 * each is asked for its newest finalized block. These are seldom at the same height, so the newest block counts that `quorum` of them
 * have finalized, and those are asked for its hash by number.
 *
 * One of several has 10 seconds for an answer and, once enough agree, 2 more. The hash is wrong only if `quorum` endpoints lie
 * together. Count endpoints of one operator as one. A single endpoint is trusted: use one that you run, or that is independent of those
 * you verify.
 *
 * @param l1 of several endpoints, each with another operator
 * @param options how many must agree
 * @returns a function that asks at each call. It throws an EndpointError that lists what each source said: `L1_DISAGREEMENT` if two
 * of them name different hashes for one block, `L1_UNCONFIRMED` if too few answer. Of a single endpoint: its own error, or a
 * ProofError if the block does not have the hash that it states
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createHttpProvider, finalizedBlockHash } from 'rollup-state-proof/rpc'
 * import { createService, demoWorld } from 'rollup-state-proof-devnet'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * const { l1Url } = await service.listen()
 *
 * // In production: three with different operators.
 * const sources = [l1Url, 'http://127.0.0.1:1', { request: createHttpProvider(l1Url).request }]
 * const l1BlockHash = finalizedBlockHash(sources, { quorum: 2, onDissent: odd => console.log(odd[0]?.index) }) // 1
 * console.log((await l1BlockHash()).length) // 66
 * await service.close()
 * ```
 */
export function finalizedBlockHash(
  l1: Endpoint | readonly Endpoint[],
  options: AgreementOptions = {},
): () => Promise<Hex> {
  const pool = openEndpoints('l1', l1, 'L1')
  const count = pool.sources.length
  // A URL counts once, as it is or in a provider.
  const identities = new Set(pool.sources.map(provider => provider.origin?.href ?? provider))
  if (identities.size < count) throw invalid('l1', 'each endpoint once', l1)
  const { quorum = Math.floor(count / 2) + 1, onDissent } = readOptions('', options, ['quorum', 'onDissent'])
  verifyWhole('quorum', quorum, 1, count)
  verifyFunction('onDissent', onDissent)
  if (count === 1) return async () => (await fetchL1Block({ l1: pool, signal: undefined }, 'finalized')).l1Block.hash

  const askNewest = (isEnough: IsEnough) =>
    collect(pool, isEnough, (provider, { signal }) => ask(provider, 'finalized', signal))
  const voteOn = (number: bigint, newest: readonly Vote[]) => {
    const hasWinner = (votes: readonly Vote[]) => winnerOf(votes, quorum) !== null
    return collect(pool, hasWinner, async (provider, { signal }, index) => {
      const vote = newest[index] ?? LATE
      if (typeof vote === 'string' || vote.number === number) return vote
      return vote.number < number ? `has finalized only block ${vote.number}` : ask(provider, number, signal)
    })
  }

  /** The newest block on which enough of them agree, by what they say about their newest ones. */
  async function decide(newest: readonly Vote[]) {
    // Newest first. A liar may name any height. If that breaks the agreement on one height, an older one is tried.
    const heights = blocksIn(newest).map(({ number }) => number)
    const candidates = heights.sort((a, b) => (a < b ? 1 : a > b ? -1 : 0)).slice(quorum - 1)
    let decision = { agreed: null as Hex | null, votes: newest, isContradicted: false }
    for (const number of new Set(candidates)) {
      const votes = await voteOn(number, newest)
      const isContradicted = decision.isContradicted || hashesIn(votes).size > 1
      decision = { agreed: winnerOf(votes, quorum), votes, isContradicted }
      if (decision.agreed !== null) break
    }
    return decision
  }

  return async () => {
    const early = await askNewest(votes => blocksIn(votes).length >= quorum)
    let decision = await decide(early)
    // A slow one may be the one that agrees.
    if (decision.agreed === null && early.includes(LATE)) decision = await decide(await askNewest(() => false))
    const { agreed, votes, isContradicted } = decision
    const odd = votes.flatMap((vote, index): DissentingSource[] => {
      if (typeof vote === 'string') return [{ index, found: vote }]
      return vote.hash === agreed ? [] : [{ index, found: `has block ${vote.number} with the hash ${vote.hash}` }]
    })
    if (agreed !== null) {
      if (odd.length > 0) onDissent?.(odd)
      return agreed
    }
    const list = odd.map(({ index, found }) => `source ${index + 1}: ${found}`).join('; ')
    const found = `${quorum} of ${count} must agree: ${list}`
    // Two hashes of one finalized block mean that a source is wrong. Otherwise, too few sources have answered.
    throw new EndpointError(isContradicted ? 'L1_DISAGREEMENT' : 'L1_UNCONFIRMED', { found, layer: 'L1' })
  }
}

/** The block that a source names, or why there is none. */
type Vote = L1Block | string

const LATE = 'no answer in time'

async function ask(provider: OpenProvider, id: bigint | L1BlockTag, over: AbortSignal): Promise<Vote> {
  try {
    const fetch = (signal: AbortSignal) => fetchL1Block({ l1: only(provider), signal }, id)
    return (await inTime(SOURCE_TIMEOUT_MS, fetch, over)).l1Block
  } catch (error) {
    // Described by its code alone.
    const code: unknown = Reflect.get(Object(error), 'code')
    return `no answer that can be used: ${typeof code === 'string' ? code.slice(0, 40) : 'UNREACHABLE'}`
  }
}

type IsEnough = (votes: readonly Vote[]) => boolean

/** All votes. Once there are enough, those that take much longer count as failures. */
async function collect(pool: Endpoints, isEnough: IsEnough, ask: Work<OpenProvider, Vote>): Promise<readonly Vote[]> {
  const votes = pool.sources.map((): Vote => LATE)
  const round = pool.each(ask)
  let timer: ReturnType<typeof setTimeout> | undefined
  for await (const outcome of round) {
    if ('value' in outcome) votes[outcome.index] = outcome.value
    if (timer === undefined && isEnough(votes)) timer = setTimeout(round.end, STRAGGLE_MS)
  }
  clearTimeout(timer)
  return votes
}

const blocksIn = (votes: readonly Vote[]) => votes.filter(vote => typeof vote !== 'string')
const hashesIn = (votes: readonly Vote[]) => new Set(blocksIn(votes).map(({ hash }) => hash))

/** The only hash that enough sources name; null if there is none, or more than one. */
function winnerOf(votes: readonly Vote[], quorum: number): Hex | null {
  const isNamed = (hash: Hex) => blocksIn(votes).filter(block => block.hash === hash).length >= quorum
  const [winner = null, other] = [...hashesIn(votes)].filter(isNamed)
  return other === undefined ? winner : null
}

/** People pass the hash itself. @throws ArgumentError */
export function verifyHashSource(l1BlockHash: unknown): void {
  const expected = "a function: () => hash, or one of 'rollup-state-proof/rpc', such as beaconBlockHash"
  if (typeof l1BlockHash !== 'function') throw invalid('l1BlockHash', expected, l1BlockHash)
}
