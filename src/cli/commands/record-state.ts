import { verifyEvidence } from '../../entry/anchor.ts'
import { recordEvidence } from '../../entry/rpc.ts'
import { headerOf } from '../../verify/evidence/chain.ts'
import type { AnyEvidence } from '../../verify/evidence/types.ts'
import type { Command, Output } from '../command.ts'
import { refuseOverwrite } from '../files/output-file.ts'
import {
  type RecordedAnswer,
  type RecordedPlace,
  type RecordFlags,
  recordToFile,
  requireEvidence,
  type Subject,
} from '../files/recorded-file.ts'
import { formatHelp, optionsOf, recordOptions } from '../options/declared.ts'
import { requestOf } from '../options/endpoint.ts'
import { networkOf } from '../options/network.ts'
import { integerOf, parseOptions } from '../options/parse.ts'
import { trustedIn } from '../options/record-trust.ts'
import { formatState } from '../output/report.ts'
import { formatTable } from '../output/table.ts'
import { paintVerdict } from '../output/verdict.ts'
import { kindOf } from '../words/evidence.ts'
import { sentenceOf } from '../words/verdict.ts'
import { beaconRows, existenceOf, formatTime, ifRight, implementationRow, timeRow } from '../words/wording.ts'

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
function stateSubject(flags: RecordFlags): Subject<RecordedAnswer> {
  const network = networkOf(flags)
  const { rollup } = network
  const l2BlockNumber = integerOf(flags, 'l2-block', 64)
  const request = requestOf(flags)
  return {
    keyCount: request.storageKeys.length,
    fetch: ([l1, l2], options) => recordEvidence({ l1, l2, network, l2BlockNumber, ...request, ...options }),
    async verifyExisting(bundle, trust, path) {
      requireEvidence(path, bundle, 'state')
      const claim = {
        ...request,
        rollup,
        scheme: kindOf(bundle, network.scheme),
        l2BlockNumber: l2BlockNumber ?? 'fromBundle',
      } as const
      const evidence = verifyEvidence(bundle, { ...claim, trusted: trustedIn(bundle, trust) })
      // Not undefined, because it is verified from a beacon block or an L1 block hash.
      const number = evidence.l1Block?.number
      if (trust.l1Block !== undefined && trust.l1Block !== 'finalized' && trust.l1Block !== number) {
        throw refuseOverwrite(path, `is proven from L1 block ${number}, not from ${trust.l1Block}`)
      }
      return evidence
    },
    format: (recorded, place, stream) => format(recorded, place, stream, flags.implementation !== undefined),
    verifyArguments: ({ verified: { l2BlockNumber, address, storage } }) => [
      ...['--l2-block', `${l2BlockNumber}`, '--address', address],
      ...storage.flatMap(({ key }) => ['--storage-key', key]),
    ],
  }
}

function format(
  { bundle, verified: evidence }: RecordedAnswer,
  { source, hashWords, verdict, path }: RecordedPlace,
  stream: Output,
  isPinned: boolean,
): string[] {
  const { l1Block, l2BlockNumber } = evidence
  const header = headerOf(evidence)
  return [
    paintVerdict(stream, verdict, sentenceOf(verdict, existenceOf(evidence))),
    formatTable(
      ifRight(verdict, [
        ['file', path, source === 'file' ? 'existed already' : 'written'],
        ...beaconRows(evidence),
        ['L1 block', `${l1Block.number}`, `of ${formatTime(l1Block.timestamp)}`],
        ['L1 block hash', l1Block.hash, hashWords],
        ['L2 block', `${l2BlockNumber}`, describeLag(evidence)],
        timeRow(evidence),
        ...(header === undefined ? [] : [['L2 block hash', header.hash] as const]),
        ['L2 state root', evidence.stateRoot],
        implementationRow(evidence, isPinned ? 'user' : undefined),
        ['address', evidence.address],
      ]),
      stream,
    ),
    ...formatState(evidence, bundle.answer, stream),
  ]
}

function describeLag({ l2BlockNumber, currentL2BlockNumber }: AnyEvidence): string {
  if (currentL2BlockNumber === undefined) return 'the bundle does not prove which block was the last finalized'
  return l2BlockNumber === currentL2BlockNumber ? 'the last finalized' : `the last finalized is ${currentL2BlockNumber}`
}
