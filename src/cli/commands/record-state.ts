import { recordEvidence } from '../../entry/rpc.ts'
import type { AnyEvidence } from '../../verify/evidence/kinds/state.ts'
import { recordToFile, type Subject } from '../files/recorded-file.ts'
import { stateOf } from '../kinds/state.ts'
import { type Flags, optionsOf, recordOptions } from '../options/declared.ts'
import { defineCommand } from '../options/define.ts'
import { requestOf } from '../options/endpoint.ts'
import { networkOf } from '../options/network.ts'

const options = optionsOf('address', 'storage-key', 'mapping', 'l2-block', 'keys-per-request')

export const command = defineCommand(
  {
    usage: 'record state --address ADDRESS -o FILE [options]',
    options,
    shared: recordOptions,
    about: `
Records an account and its slots at the newest finalized L2 block for which the
L2 endpoint has proofs, with the proofs that lead there from an L1 block:
\`verify\` checks the file even years later, offline.`,
    notes: `
Exit code: 0 recorded; 1 refused; 2 wrong usage, or FILE exists; 3 an endpoint
failed: run it again.`,
    examples: `
export L1_URL=https://... L2_URL=https://... BEACON_URL=https://...
rollup-state-proof record state --address 0x... -o bundle.json
rollup-state-proof record state --address 0x... --mapping 0 0x... \\
  -o bundle.json --checkpoint 0x...`,
  },
  async (values, io) => recordToFile(values, stateSubject(values), io),
)

function stateSubject(flags: Flags): Subject<AnyEvidence> {
  const network = networkOf(flags)
  const { 'l2-block': l2BlockNumber } = flags
  const request = requestOf(flags)
  return {
    stated: stateOf(network, { ...request, l2BlockNumber: l2BlockNumber ?? 'fromBundle' }),
    fetch: ([l1, l2], options) => recordEvidence({ l1, l2, network, l2BlockNumber, ...request, ...options }),
    verifyArguments: ({ address, storage }) => [
      '--address',
      address,
      ...storage.flatMap(({ key }) => ['--storage-key', key]),
    ],
  }
}
