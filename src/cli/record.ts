import { parseArgs } from 'node:util'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { type Evidence, type EvidenceClaim, lineaLayout, safeVerifyEvidence } from '../anchor.ts'
import { bytesToHex } from '../bytes.ts'
import { readInputFile } from '../document/input-file.ts'
import { formatTime } from '../document/wording.ts'
import { type L1BlockTag, type Recorded, type RecordProgress, recordEvidence } from '../rpc.ts'
import { type Command, exitCodes, type Io } from './command.ts'
import {
  commandLine,
  converse,
  endProgress,
  endpointHelp,
  endpointOptions,
  keysPerRequestOf,
  requestOf,
  showProgress,
} from './endpoint.ts'
import { requireScheme, rollupOf, toInteger } from './flags.ts'
import { readJson } from './input.ts'
import { formatState, formatTable, formatVerdict, paint, toJson } from './report.ts'
import { notOurs, openTarget, type Target } from './target.ts'

const help = `Usage: rollup-state-proof record --l1 URL --l2 URL --scheme SCHEME --rollup ROLLUP --address ADDRESS -o FILE [options]

Records an evidence bundle: finds the newest finalized L2 block whose proof the L2 endpoint holds, fetches the L1 header,
the proof of the rollup contract and the answer, verifies all of it, and writes one file that \`verify\` takes years later.
Says at the end which L1 block hash the bundle rests on: that one is for you to compare with a source that you trust.

Options:
  --l1 URL               an Ethereum endpoint (eth_getProof); to walk back, one that holds older states
  --l2 URL               an endpoint of the rollup
  --scheme SCHEME        mimc or poseidon2: the one that the rollup uses
  --rollup ROLLUP        mainnet or sepolia (Linea's), or the address of a rollup contract on L1
  --address ADDRESS      20 bytes
  --storage-key KEY      32 bytes; repeat it, up to 1000 times
  --l1-block BLOCK       the L1 block to prove from: a number, finalized (when left out), safe or latest
  --l2-block NUMBER      this L2 block, the last one of a finalization, and no other
  --layout-roots-slot N, --layout-current-slot N   of a fork's contract; ${lineaLayout.stateRootHashes} and ${lineaLayout.currentL2BlockNumber} when left out
  --method NAME          linea_getProof for mainnet and sepolia, else rollup_getProof
${endpointHelp}

Exit code: 0 recorded and verified, or there already; 1 what came does not verify; 2 wrong usage, or the file cannot be
written; 3 an endpoint failed: run it again.

Example:
  rollup-state-proof record --l1 https://... --l2 https://... --scheme poseidon2 --rollup mainnet --address 0x... -o bundle.json
`

export const record: Command = {
  summary: 'record an evidence bundle from an L1 and an L2 endpoint',
  help,
  async run(args, io) {
    const { values } = parseArgs({
      args: [...args],
      options: {
        ...endpointOptions,
        l1: { type: 'string' },
        rollup: { type: 'string' },
        'l1-block': { type: 'string', default: 'finalized' },
        'l2-block': { type: 'string' },
        'layout-roots-slot': { type: 'string' },
        'layout-current-slot': { type: 'string' },
      },
    })
    const l2Block = values['l2-block']
    const request = {
      scheme: requireScheme(values.scheme),
      rollup: rollupOf(values),
      ...requestOf(values),
      ...(l2Block !== undefined && { l2BlockNumber: toInteger('--l2-block', l2Block, 64) }),
    }
    const options = {
      l1Block: l1BlockOf(values['l1-block']),
      method:
        values.method ?? (['mainnet', 'sepolia'].includes(values.rollup ?? '') ? 'linea_getProof' : 'rollup_getProof'),
      maxKeysPerRequest: keysPerRequestOf(values),
    }
    /** What the user has stated, for the one who verifies to state again. */
    const stated = (['scheme', 'rollup', 'layout-roots-slot', 'layout-current-slot'] as const).flatMap(name => {
      const value = values[name]
      return value === undefined ? [] : [`--${name}`, value]
    })
    const report = (recorded: Recorded, target: Target) => {
      if (values.json) io.stdout.write(toJson(describe(recorded, stated, target)))
      else io.stdout.write(format(recorded, stated, target, io))
      return exitCodes.verified
    }
    return converse(values, io, async ({ open, signal }) => {
      const [l1, l2] = [open('l1', values.l1), open('l2', values.l2)]
      const target = openTarget(values.output, values.force)
      if (target.exists) return report(await readRecorded(target, request, io), target)

      if (target.kept !== undefined) showProgress(io, `going on with ${target.path}.partial`)
      const onProgress = (progress: RecordProgress) => {
        if (progress.step === 'keys') target.keep(progress.kept)
        showProgress(io, describeProgress(progress, request.storageKeys.length))
      }
      const recorded = await recordEvidence(l1, l2, request, { ...options, kept: target.kept, onProgress, signal })
      target.write(recorded.bundle)
      endProgress(io)
      return report(recorded, target)
    })
  },
}

function l1BlockOf(text: string): bigint | L1BlockTag {
  if (text === 'finalized' || text === 'safe' || text === 'latest') return text
  return toInteger('--l1-block', text, 64)
}

function describeProgress(progress: RecordProgress, keyCount: number): string {
  switch (progress.step) {
    case 'l1Block':
      return `L1 block ${progress.l1Block.number} of ${formatTime(progress.l1Block.timestamp)}`
    case 'l2Block':
      return `L2 block ${progress.l2BlockNumber}: finalized; asking for the proof`
    case 'notHeld':
      return `L2 block ${progress.l2BlockNumber}: the endpoint does not hold it; looking for the finalization before it`
    case 'keys':
      return `${progress.keyCount} of ${keyCount} storage keys`
  }
}

/** The bundle that the file holds already. @throws UsageError when it is none of this request, and so not ours to replace */
async function readRecorded({ path }: Target, request: Omit<EvidenceClaim, 'trusted'>, io: Io): Promise<Recorded> {
  const bundle = await readJson(path, io)
  // Verified from its own hash, as when it was recorded: that the hash is of L1 is for the user to compare.
  const header = readInputFile(bundle).kind === 'evidence bundle' ? (bundle as Evidence).l1?.header : undefined
  const outcome = safeVerifyEvidence(bundle, { ...request, trusted: { l1BlockHash: hashOf(header) } })
  if (outcome.ok && outcome.l1Block !== null) {
    const { ok: _, l1Block, ...evidence } = outcome
    return { bundle: bundle as Evidence, evidence: { ...evidence, l1Block } }
  }
  throw notOurs(path, 'is no bundle of this request')
}

const hashOf = (header: unknown) =>
  bytesToHex(keccak_256(Buffer.from(typeof header === 'string' ? header.replace(/^0x/, '') : '', 'hex')))

/** What states everything that the bundle is to be verified against. */
function verifyArguments({ evidence, bundle }: Recorded, stated: readonly string[], { path }: Target): string[] {
  const { l1Block, l2BlockNumber, address } = evidence
  const keys = bundle.request.storageKeys.flatMap(key => ['--storage-key', key])
  const block = ['--l1-block-hash', l1Block.hash, '--l2-block', `${l2BlockNumber}`]
  return ['verify', path, ...stated, ...block, '--address', address, ...keys]
}

function describe(recorded: Recorded, stated: readonly string[], target: Target): object {
  return { fetched: true, file: target.path, ...recorded.evidence, verify: verifyArguments(recorded, stated, target) }
}

function format(recorded: Recorded, stated: readonly string[], target: Target, { stdout }: Io): string {
  const { bundle, evidence } = recorded
  const { l1Block, l2BlockNumber, currentL2BlockNumber } = evidence
  const isNewest = l2BlockNumber === currentL2BlockNumber
  const lines = [
    formatVerdict(evidence, stdout),
    formatTable([
      ['file', target.path, target.exists ? 'was there already, and was verified again' : 'written'],
      ['L1 block', `${l1Block.number}`, `of ${formatTime(l1Block.timestamp)}`],
      ['L1 block hash', l1Block.hash],
      [
        'L2 block',
        `${l2BlockNumber}`,
        isNewest ? 'the last finalized' : `the last finalized is ${currentL2BlockNumber}`,
      ],
      ['L2 state root', evidence.stateRoot],
      ['address', evidence.address],
    ]),
    ...formatState(evidence, bundle.answer, stdout),
    paint(
      stdout,
      'bold',
      'It rests on the L1 block hash. So far only the L1 endpoint says that this block is of L1 and final:',
    ),
    '  compare the hash with a source that you trust, such as a node of your own. Then anyone can verify, offline:',
    `  ${commandLine(verifyArguments(recorded, stated, target))}`,
  ]
  return `${lines.join('\n')}\n`
}
