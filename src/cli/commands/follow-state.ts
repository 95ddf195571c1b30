import { plural } from '../../base/errors.ts'
import { followWith } from '../../client/follow/follow.ts'
import type { FollowedFinalization } from '../../entry/rpc.ts'
import { flag, followOptions, optionsOf, typed } from '../options/declared.ts'
import { defineCommand } from '../options/define.ts'
import { requestOf } from '../options/endpoint.ts'
import { networkOf } from '../options/network.ts'
import { integer } from '../options/read.ts'
import { ageOf, formatTime } from '../words/wording.ts'
import { followTo } from './follow-watch.ts'

const options = {
  ...optionsOf('address', 'storage-key', 'mapping', 'keys-per-request'),
  'from-block': typed('N', 'begin at this L2 block (default: the newest)', integer(64)),
  'skip-unavailable': flag('skip those whose proofs are gone (default: exit code 3)'),
  ...optionsOf('once', 'poll'),
} as const

export const command = defineCommand(
  {
    usage: 'follow state --address ADDRESS -o DIR [options]',
    options,
    shared: followOptions,
    about: `
Follows the finalizations of the network. For each one, it writes a bundle
to DIR and a line to DIR/index.ndjson, and waits for the next. Ctrl-C
ends it. Run the same command again to continue. When the rollup begins to hold
block hashes, it goes on; with --implementation, it stops.`,
    notes: `
Exit code: 0 ended by Ctrl-C or --once; 1 an answer does not verify; 2 wrong
usage; 3 an endpoint failed for good (with --once: at once), or the sources of
L1 disagree.`,
    examples: `
export L1_URL='https://... https://...' L2_URL=https://...
rollup-state-proof follow state --address 0x... -o bundles
rollup-state-proof follow state --address 0x... -o bundles \\
  --checkpoint 0x... --beacon-state beacon.json`,
  },
  async (values, io) => {
    const network = networkOf(values)
    const asked = requestOf(values)
    const named = {
      command: 'follow state',
      rollup: network.rollup.address.toLowerCase(),
      address: asked.address.toLowerCase(),
      'storage keys': asked.storageKeys.join().toLowerCase(),
    }
    const how = {
      requests: [asked],
      skipUnavailable: values['skip-unavailable'],
      maxKeysPerRequest: values['keys-per-request'],
    }
    return followTo(
      values,
      {
        askedFor: named,
        nothing: 'No new finalization with proofs.',
        follow: (options, timing) => followWith({ ...options, ...how }, timing),
        entriesOf: item => [
          {
            number: item.l2BlockNumber,
            bundle: item.bundles[0],
            line: lineOf(item),
            json: describe(item),
            heading: `L2 block ${item.l2BlockNumber}`,
            words: wordsOf(item),
          },
        ],
      },
      io,
    )
  },
)

function lineOf({ l2BlockNumber, stateRoot, blockHash, finalizedTimestamp, l1Block }: FollowedFinalization): object {
  const l1 = { l1BlockNumber: l1Block.number, l1BlockHash: l1Block.hash }
  return { l2BlockNumber, stateRoot, blockHash, finalizedTimestamp, ...l1 }
}

function describe(item: FollowedFinalization): object {
  const { l2BlockNumber, stateRoot, blockHash, finalizedTimestamp, currentL2BlockNumber, l1Block } = item
  const [{ address, account, storage } = { address: null, account: null, storage: [] }] = item.verified
  const block = { l2BlockNumber, stateRoot, blockHash, finalizedTimestamp, currentL2BlockNumber, l1Block }
  return { ...block, implementation: item.implementation, address, account, storage }
}

function wordsOf({ finalizedTimestamp, verified: [state], blockHash }: FollowedFinalization): string {
  const time =
    finalizedTimestamp === undefined
      ? 'time not proven'
      : `of ${formatTime(finalizedTimestamp)}, ${ageOf(finalizedTimestamp)} old`
  const { storage = [] } = state ?? {}
  const existing = storage.filter(({ exists }) => exists).length
  const slots =
    storage.length === 0
      ? ''
      : `, ${existing} of ${plural(storage.length, 'slot')} ${existing === 1 ? 'exists' : 'exist'}`
  const kind = blockHash === undefined ? '' : 'Ethereum state  '
  return `${kind}${time}  the account ${state?.account ? 'exists' : 'does not exist'}${slots}`
}
