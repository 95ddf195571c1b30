import { DEFAULT_HARDFORK } from '../../client/network/hardfork.ts'
import { recordCall, verifyCallEvidence } from '../../entry/provider.ts'
import type { Command, Io } from '../command.ts'
import { UsageError } from '../errors.ts'
import {
  type RecordedCall,
  type RecordFlags,
  recordToFile,
  requireEvidence,
  type Subject,
} from '../files/recorded-file.ts'
import { callClaimOf, callFailed, callRequestOf, environmentOf, timeoutOf } from '../options/chain-flags.ts'
import { formatHelp, optionsOf, recordOptions } from '../options/declared.ts'
import { showProgress } from '../options/endpoint.ts'
import { blockClaimOf } from '../options/flags.ts'
import { networkOf } from '../options/network.ts'
import { integerOf, parseOptions } from '../options/parse.ts'
import { trustedIn } from '../options/record-trust.ts'
import { environmentSource, formatCall } from '../output/call-report.ts'
import { kindOf } from '../words/evidence.ts'

import { sourceWords } from '../words/wording.ts'

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
function callSubject(flags: RecordFlags, io: Io): Subject<RecordedCall> {
  const { to = '0x', data = '0x', ...call } = callRequestOf(flags)
  const network = networkOf(flags)
  const l2BlockNumber = integerOf(flags, 'l2-block', 64)
  const request = { network, l2BlockNumber, call: { ...call, to, data }, environment: environmentOf(flags) }
  const claim = { ...blockClaimOf(flags), hardfork: network.hardfork ?? DEFAULT_HARDFORK, call: callClaimOf(flags) }
  const deadline = timeoutOf(flags.timeout)
  return {
    keyCount: 0,
    fetch([l1, l2], options) {
      showProgress(io, 'looking for the newest finalized block, then executing the call')
      return recordCall({ l1, l2, ...request, ...options, ...deadline }).catch(callFailed)
    },
    async verifyExisting(bundle, trust, path) {
      requireEvidence(path, bundle, 'call')
      const known = { ...claim, scheme: kindOf(bundle, claim.scheme), trusted: trustedIn(bundle, trust) }
      return verifyCallEvidence(bundle, known, deadline)
    },
    // What is recorded now is executed with the values that the user passes.
    sources: ({ verified }, { source }) => environmentSource(verified, source === 'file' ? 'bundle' : 'user'),
    format: ({ verified: evidence }, { verdict, source }, stream) => [
      formatCall(verdict, evidence, stream, claim.call, source === 'file' ? sourceWords.bundle : sourceWords.default),
    ],
    verifyArguments: ({ verified: { call } }) => ['--call', call.to, call.data, '--sender', call.from],
  }
}
