import { invalid } from '../../base/arguments.ts'
import { readOptions, verifyUint } from '../../base/options.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import {
  type BeaconSource,
  type ConsensusProgress,
  type FetchedConsensus,
  fetchConsensus,
  readBeaconSource,
} from '../beacon/beacon.ts'
import { fetchL1Block, fetchNewest, type L1BlockTag, type L1Source } from '../l1/l1.ts'
import { only } from '../sources/endpoints.ts'

/** Where a recording starts. */
export interface RecordBlockOptions {
  /** The L1 block to prove from. Default: `finalized`. */
  l1BlockNumber?: bigint | L1BlockTag | undefined
  /** Also proves the L1 block, from a beacon block that you trust. The L1 block is then the newest finalized one. */
  beacon?: BeaconSource | undefined
}

const L1_TAGS: readonly unknown[] = ['finalized', 'safe', 'latest'] satisfies L1BlockTag[]

export function verifyBlockOptions(options: RecordBlockOptions) {
  const { l1BlockNumber = 'finalized' } = options
  if (typeof l1BlockNumber === 'bigint') verifyUint('l1BlockNumber', l1BlockNumber, 64)
  else if (!L1_TAGS.includes(l1BlockNumber))
    throw invalid('l1BlockNumber', `a bigint such as 3n, or one of ${L1_TAGS.join(', ')}`, l1BlockNumber)
  if (options.beacon !== undefined && options.l1BlockNumber !== undefined) {
    throw invalid('l1BlockNumber', 'nothing beside beacon, which finds the L1 block', l1BlockNumber)
  }
  const beacon = options.beacon && readOptions('beacon', options.beacon, ['apis', 'trusted', 'maxTrustedAgeSeconds'])
  return { l1BlockNumber, beacon: beacon && readBeaconSource(beacon, 'beacon') }
}

type BlockProgress = { step: 'consensus'; progress: ConsensusProgress } | { step: 'l1Block'; l1Block: L1Block }

export interface RecordBlock {
  readonly block: unknown
  readonly l1Block: L1Block
  readonly consensus: FetchedConsensus['consensus'] | undefined
  /** The newest finalized L2 block, proven, if it was asked for. */
  readonly newest: bigint | undefined
}

export async function fetchRecordBlock(
  source: L1Source,
  { l1BlockNumber, beacon }: ReturnType<typeof verifyBlockOptions>,
  onProgress?: (progress: BlockProgress) => void,
): Promise<RecordBlock> {
  const { l1, signal } = source
  const tell = (progress: ConsensusProgress) => onProgress?.({ step: 'consensus', progress })
  const fetched = beacon && (await fetchConsensus(beacon, tell, signal))
  const id = fetched?.proven.l1BlockHash ?? l1BlockNumber
  const isProvable = beacon === undefined && l1.sources.length > 1
  // Nothing but its own word says which block an endpoint names. It must at least be able to prove something in it.
  const { newest, block, l1Block }: Pick<RecordBlock, 'block' | 'l1Block'> & { newest?: bigint } = isProvable
    ? await l1.run(async (provider, attempt) => {
        const alone = { ...source, l1: only(provider), signal: attempt.signal }
        const found = await fetchL1Block(alone, id)
        attempt.heard()
        return { ...found, newest: await fetchNewest(alone, found.l1Block) }
      }, signal)
    : await fetchL1Block(source, id)
  onProgress?.({ step: 'l1Block', l1Block })
  return { block, l1Block, newest, consensus: fetched?.consensus }
}
