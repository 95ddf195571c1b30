import type { StateScheme, Trusted } from '../../entry/anchor.ts'
import { recordCall, type VerifiedCall } from '../../entry/provider.ts'
import type { Io } from '../command.ts'
import { UsageError } from '../errors.ts'
import { type RecordFlags, recordToFile, type Subject } from '../files/recorded-file.ts'
import { callFailed, callRequestOf, statedIn } from '../kinds/call.ts'
import { optionsOf, recordOptions } from '../options/declared.ts'
import { defineCommand } from '../options/define.ts'
import { showProgress } from '../options/endpoint.ts'
import { environmentOf } from '../options/read.ts'

const options = optionsOf('call', 'sender', 'value', 'gas', 'environment', 'l2-block')

export const command = defineCommand(
  {
    usage: 'record call --call TO DATA -o FILE [options]',
    options,
    shared: recordOptions,
    about: `
Executes a call over the proven state of the newest finalized L2 block, and
records it with everything that it reads: \`verify\` executes it again, offline.`,
    notes: `
--environment states a block value that no proof covers: timestamp, baseFee,
blobBaseFee, gasLimit, coinbase or prevRandao. Exit codes: as \`record state\`.`,
    examples: `
export L1_URL=https://... L2_URL=https://...
rollup-state-proof record call --call 0x... 0x18160ddd -o supply.json`,
  },
  async (values, io) => {
    if (values.call === undefined) throw new UsageError('--call TO DATA is needed: what to execute')
    return recordToFile(values, callSubject(values, io), io)
  },
)

function callSubject(flags: RecordFlags, io: Io): Subject<VerifiedCall<Trusted, StateScheme>> {
  const { to = '0x', data = '0x', ...call } = callRequestOf(flags)
  const { 'l2-block': l2BlockNumber } = flags
  const stated = statedIn(flags)
  const { network } = stated
  const request = { network, l2BlockNumber, call: { ...call, to, data }, environment: environmentOf(flags) }
  return {
    stated,
    fetch([l1, l2], options) {
      showProgress(io, 'looking for the newest finalized block, then executing the call')
      return recordCall({ l1, l2, ...request, ...options, timeoutMs: 1000 * flags.timeout }).catch(callFailed)
    },
    verifyArguments: ({ call }) => ['--call', call.to, call.data, '--sender', call.from, '--value', `${call.value}`],
  }
}
