import { safeVerifyProof, type VerifiedState, verifyProof } from '../../index.ts'
import type { Claim } from '../../proof/claim.ts'
import { type BlockTag, type FetchCheckpoint, fetchAnswer } from '../../rpc.ts'
import { type Command, exitCodes, type Output, UsageError } from '../command.ts'
import { openOutputFile, readExisting, refuseOverwrite } from '../files/output-file.ts'
import { formatOptions, hiddenUrls, optionsOf, resumable, text } from '../options/declared.ts'
import {
  endProgress,
  keysPerRequestOf,
  notFetched,
  requestOf,
  showProgress,
  withEndpoints,
} from '../options/endpoint.ts'
import { refuseWrongFlags, requireScheme } from '../options/flags.ts'
import { parseOptions, toInteger } from '../options/parse.ts'
import { formatState, formatTable, formatVerdict, printable, toJson } from '../output/report.ts'

const options = {
  ...optionsOf('l2'),
  block: text('BLOCK', 'a finalized L2 block: its number, or a tag that the endpoint accepts (finalized)'),
  ...optionsOf('address', 'storage-key', 'mapping', 'state-root'),
  scheme: text('SCHEME', 'mimc or poseidon2; required with --state-root'),
  method: text('NAME', 'the JSON-RPC method; linea_getProof on the Linea networks (default: rollup_getProof)'),
  ...optionsOf('keys-per-request', 'timeout', 'output', 'force', 'json'),
}

const help = `Usage: rollup-state-proof fetch --l2 URL --block BLOCK --address ADDRESS -o FILE
         [options]

Fetches a rollup_getProof answer and writes it to a file for \`verify\`. It
verifies the answer only if you state --state-root.

Options:
${formatOptions(options)}

${hiddenUrls} ${resumable}

If FILE exists, no endpoint is asked. With --state-root, fetch verifies the
file, and the report says so. Without it, the file could hold anything, so fetch
ends with exit code 2.

Exit code: 0 fetched (with --state-root: and verified), or FILE exists and
verifies; 1 the answer does not verify; 2 wrong usage, or the file cannot be
written; 3 the endpoint failed: run the command again.

Example:
  rollup-state-proof fetch --l2 https://... --block 123 --address 0x... \\
    --storage-key 0x... -o answer.json
`

const TAGS: readonly string[] = ['latest', 'earliest', 'pending', 'finalized'] satisfies BlockTag[]
const isTag = (text: string): text is BlockTag => TAGS.includes(text)

export const fetch: Command = {
  help,
  async run(args, io) {
    const { values } = parseOptions({ args: [...args], options })
    const { block, method, scheme, 'state-root': stateRoot } = values
    if (block === undefined) throw new UsageError('--block is needed: the number of an L2 block that L1 has finalized')
    const request = { ...requestOf(values), block: isTag(block) ? block : toInteger('--block', block, 64) }
    if (scheme !== undefined && stateRoot === undefined)
      throw new UsageError('--scheme is of use with --state-root only')
    // Despite the type, the root is unchecked: a malformed one is refused with CLAIM_INVALID.
    const trusted =
      stateRoot === undefined ? undefined : { scheme: requireScheme(scheme), stateRoot: stateRoot as `0x${string}` }
    const how = {
      ...(method !== undefined && { method }),
      maxKeysPerRequest: keysPerRequestOf(values),
    }

    const askedFor = {
      command: 'fetch',
      method: method ?? 'rollup_getProof',
      scheme: scheme ?? '',
      'state root': stateRoot?.toLowerCase() ?? '',
      address: request.address.toLowerCase(),
      'storage keys': request.storageKeys.join().toLowerCase(),
      block: `${request.block}`,
    }

    return withEndpoints(values, io, async ({ open, signal }) => {
      const l2 = open('l2', values.l2)
      const output = await openOutputFile(values.output, values.force, askedFor, io)
      const { address, storageKeys } = request
      const claim = trusted && { ...trusted, address, storageKeys }
      const report = (answer: unknown, state: VerifiedState | undefined, source: Source) => {
        const description = { fetched: source === 'network', source, file: output.path, verified: state !== undefined }
        const stream = output.path === '-' ? io.stderr : io.stdout
        if (values.json) io.stdout.write(toJson({ ...description, ...state }))
        else stream.write(format(output.path, answer, state, source, stream))
        return exitCodes.verified
      }
      if (output.exists) {
        const { answer, state } = await readFetched(output.path, claim)
        return report(answer, state, 'file')
      }

      if (output.checkpoint !== undefined) showProgress(io, `continuing from ${printable(output.path)}.partial`)
      const onCheckpoint = (checkpoint: FetchCheckpoint, keyCount: number) => {
        output.saveCheckpoint(checkpoint)
        showProgress(io, `${keyCount} of ${request.storageKeys.length} storage keys`)
      }
      const answer = await fetchAnswer(l2, request, {
        ...how,
        trusted,
        resumeFrom: output.checkpoint,
        onCheckpoint,
        signal,
      })
      const state = claim && verifyProof(answer, claim)
      output.write(answer)
      endProgress(io)
      return report(answer, state, 'network')
    })
  },
}

/** From the endpoint in this run, or from the existing file without asking an endpoint. */
type Source = 'network' | 'file'

/** @throws UsageError if the existing file holds anything but the answer to this request */
async function readFetched(path: string, claim: Claim | undefined): Promise<{ answer: unknown; state: VerifiedState }> {
  if (claim === undefined) throw refuseOverwrite(path, 'without --state-root its contents cannot be verified')
  const answer = await readExisting(path)
  const outcome = safeVerifyProof(answer, claim)
  if (outcome.ok) return { answer, state: { account: outcome.account, storage: outcome.storage } }
  refuseWrongFlags(outcome.error)
  throw refuseOverwrite(path, `is not an answer to this request (${outcome.error.message})`)
}

function format(
  path: string,
  answer: unknown,
  state: VerifiedState | undefined,
  source: Source,
  stream: Output,
): string {
  const file = formatTable([['file', printable(path), source === 'file' ? 'existed already' : 'written']])
  const lines = [
    ...(source === 'file' ? [notFetched(path, stream)] : []),
    state ? formatVerdict(state, stream) : 'Fetched, not verified.',
    file,
    ...(state ? formatState(state, answer, stream) : []),
  ]
  return `${lines.join('\n')}\n`
}
