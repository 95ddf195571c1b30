import { recordEvidence } from '../../entry/rpc.ts'
import type { AnyEvidence } from '../../verify/evidence/types.ts'
import type { Command } from '../command.ts'
import { type RecordFlags, recordToFile, type Subject } from '../files/recorded-file.ts'
import { stateOf } from '../kinds/state.ts'
import { formatHelp, optionsOf, recordOptions } from '../options/declared.ts'
import { requestOf } from '../options/endpoint.ts'
import { networkOf } from '../options/network.ts'
import { integerOf, parseOptions } from '../options/parse.ts'

const options = optionsOf('address', 'storage-key', 'mapping', 'l2-block', 'keys-per-request')
const all = { ...recordOptions, ...options }

export const command: Command = {
  help: formatHelp({
    ...{ usage: 'record state --address ADDRESS -o FILE [options]', options, all },
    about: `
Records an account and its slots at the newest finalized L2 block for which the
L2 endpoint has proofs, with the proofs that lead there from an L1 block:
\`verify\` checks the file even years later, offline. If FILE exists, it is
verified, and no endpoint is asked.`,
    notes: `
Exit code: 0 recorded, or FILE is verified; 1 refused; 2 wrong usage; 3 an
endpoint failed: run it again; 4 FILE is consistent with the hash in it only.`,
    examples: `
export L1_URL=https://... L2_URL=https://... BEACON_URL=https://...
rollup-state-proof record state --address 0x... -o bundle.json
rollup-state-proof record state --address 0x... --mapping 0 0x... \\
  -o bundle.json --checkpoint 0x...`,
  }),
  async run(args, io) {
    const { values } = parseOptions(args, all)
    return recordToFile(values, stateSubject(values), io)
  },
}

/** @throws UsageError */
function stateSubject(flags: RecordFlags): Subject<AnyEvidence> {
  const network = networkOf(flags)
  const l2BlockNumber = integerOf(flags, 'l2-block', 64)
  const request = requestOf(flags)
  return {
    kind: 'state',
    stated: stateOf(network, { ...request, l2BlockNumber: l2BlockNumber ?? 'fromBundle' }),
    keyCount: request.storageKeys.length,
    fetch: ([l1, l2], options) => recordEvidence({ l1, l2, network, l2BlockNumber, ...request, ...options }),
    mismatch: ({ l1Block }, { l1Block: block = 'finalized' }) =>
      block === 'finalized' || block === l1Block?.number
        ? undefined
        : `is proven from L1 block ${l1Block?.number}, not from ${block}`,
    verifyArguments: ({ address, storage }) => [
      ...['--address', address],
      ...storage.flatMap(({ key }) => ['--storage-key', key]),
    ],
  }
}
