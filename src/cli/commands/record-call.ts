import type { StateScheme, Trusted } from '../../entry/anchor.ts'
import { recordCall, type VerifiedCall } from '../../entry/provider.ts'
import type { Command, Io } from '../command.ts'
import { UsageError } from '../errors.ts'
import { type RecordFlags, recordToFile, type Subject } from '../files/recorded-file.ts'
import { callOf } from '../kinds/call.ts'
import { callFailed, callRequestOf, environmentOf, timeoutOf } from '../options/chain-flags.ts'
import { formatHelp, optionsOf, recordOptions } from '../options/declared.ts'
import { showProgress } from '../options/endpoint.ts'
import { integerOf, parseOptions } from '../options/parse.ts'

const options = optionsOf('call', 'sender', 'value', 'gas', 'environment', 'l2-block')
const all = { ...recordOptions, ...options }

export const command: Command = {
  help: formatHelp({
    ...{ usage: 'record call --call TO DATA -o FILE [options]', options, all },
    about: `
Executes a call over the proven state of the newest finalized L2 block, and
records it with everything that it reads: \`verify\` executes it again, offline.
If FILE exists, it is verified, and no endpoint is asked.`,
    notes: `
--environment states a block value that no proof covers: timestamp, baseFee,
blobBaseFee, gasLimit, coinbase or prevRandao. Exit codes: as \`record state\`.`,
    examples: `
export L1_URL=https://... L2_URL=https://...
rollup-state-proof record call --call 0x... 0x18160ddd -o supply.json`,
  }),
  async run(args, io) {
    const { values } = parseOptions(args, all)
    if (values.call === undefined) throw new UsageError('--call TO DATA is needed: what to execute')
    return recordToFile(values, callSubject(values, io), io)
  },
}

/** A call, and all that it reads. @throws UsageError */
function callSubject(flags: RecordFlags, io: Io): Subject<VerifiedCall<Trusted, StateScheme>> {
  const { to = '0x', data = '0x', ...call } = callRequestOf(flags)
  const l2BlockNumber = integerOf(flags, 'l2-block', 64)
  const stated = callOf(flags)
  const { network } = stated
  const request = { network, l2BlockNumber, call: { ...call, to, data }, environment: environmentOf(flags) }
  return {
    ...{ kind: 'call', stated },
    fetch([l1, l2], options) {
      showProgress(io, 'looking for the newest finalized block, then executing the call')
      return recordCall({ l1, l2, ...request, ...options, ...timeoutOf(flags.timeout) }).catch(callFailed)
    },
    verifyArguments: ({ call }) => ['--call', call.to, call.data, '--sender', call.from],
  }
}
