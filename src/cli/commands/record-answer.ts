import { verifyEvidence } from '../../entry/anchor.ts'
import { recordEvidence } from '../../entry/rpc.ts'
import type { AnyEvidence } from '../../verify/evidence/types.ts'
import type { Output } from '../command.ts'
import { refuseOverwrite } from '../files/output-file.ts'
import {
  type HashSource,
  type RecordedAnswer,
  type RecordedPlace,
  type RecordFlags,
  requireEvidence,
  type Subject,
} from '../files/recorded-file.ts'
import { methodOf } from '../options/chain-flags.ts'
import { describeAccount, describeRollup, requestOf } from '../options/endpoint.ts'
import { blockRequestOf } from '../options/flags.ts'
import { trustedIn } from '../options/record-trust.ts'
import { formatState, formatTable } from '../output/report.ts'
import { paintVerdict } from '../output/verdict.ts'
import { kindOf } from '../words/evidence.ts'
import { sentenceOf } from '../words/verdict.ts'
import { beaconRows, existenceOf, formatTime, ifRight, implementationRow, timeRow } from '../words/wording.ts'

/** The subject of `record --address ADDRESS`. @throws UsageError */
export function answerSubject(flags: RecordFlags): Subject<RecordedAnswer> {
  const request = { ...blockRequestOf(flags), ...requestOf(flags) }
  return {
    keyCount: request.storageKeys.length,
    askedFor: ({ beacon, l1Block }) => ({
      ...{ command: 'record', method: methodOf(flags), ...describeRollup(request), ...describeAccount(request) },
      'L1 block': `${beacon?.beaconBlockRoot ?? l1Block}`,
      'L2 block': `${request.l2BlockNumber ?? 'newest'}`,
    }),
    fetch: ([l1, l2], options, output) =>
      recordEvidence({
        ...{ l1, l2, ...request, ...options },
        resumeFrom: output.progress,
        onProgress(progress) {
          options.onProgress?.(progress)
          if (progress.step === 'keys') output.saveProgress(progress.progress)
        },
      }),
    async verifyExisting(bundle, trust, path) {
      requireEvidence(path, bundle, 'state')
      const { l2BlockNumber = 'fromBundle' } = request
      const scheme = kindOf(bundle, request.scheme)
      const evidence = verifyEvidence(bundle, { ...request, scheme, l2BlockNumber, trusted: trustedIn(bundle, trust) })
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

const hashWords: Readonly<Record<HashSource, string>> = {
  beaconBlock: 'proven by the finalized beacon block',
  endpoint: 'from the L1 endpoint',
  file: 'from the file',
  flag: 'stated by you',
}

function format(
  { bundle, verified: evidence }: RecordedAnswer,
  { source, hashSource, verdict, path }: RecordedPlace,
  stream: Output,
  isPinned: boolean,
): string[] {
  const { l1Block, l2BlockNumber } = evidence
  return [
    paintVerdict(stream, verdict, sentenceOf(verdict, existenceOf(evidence))),
    formatTable(
      ifRight(verdict, [
        ['file', path, source === 'file' ? 'existed already' : 'written'],
        ...beaconRows(evidence),
        ['L1 block', `${l1Block.number}`, `of ${formatTime(l1Block.timestamp)}`],
        ['L1 block hash', l1Block.hash, hashWords[hashSource]],
        ['L2 block', `${l2BlockNumber}`, describeLag(evidence)],
        timeRow(evidence),
        ...('l2Block' in evidence ? [['L2 block hash', evidence.l2Block.hash] as const] : []),
        ['L2 state root', evidence.stateRoot],
        implementationRow(evidence, isPinned ? 'user' : undefined),
        ['address', evidence.address],
      ]),
    ),
    ...formatState(evidence, bundle.answer, stream),
  ]
}

function describeLag({ l2BlockNumber, currentL2BlockNumber }: AnyEvidence): string {
  if (currentL2BlockNumber === undefined) return 'the bundle does not prove which block was the last finalized'
  return l2BlockNumber === currentL2BlockNumber ? 'the last finalized' : `the last finalized is ${currentL2BlockNumber}`
}
