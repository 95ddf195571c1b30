import { parseArgs } from 'node:util'
import { safeVerifyProof, type VerifiedState, verifyProof } from '../index.ts'
import type { Claim } from '../proof/claim.ts'
import { type BlockTag, fetchAnswer, type KeptAnswer } from '../rpc.ts'
import { type Command, exitCodes, type Io, UsageError } from './command.ts'
import {
  converse,
  endProgress,
  endpointHelp,
  endpointOptions,
  keysPerRequestOf,
  requestOf,
  showProgress,
} from './endpoint.ts'
import { requireScheme, toInteger } from './flags.ts'
import { readJson } from './input.ts'
import { formatState, formatTable, formatVerdict, toJson } from './report.ts'
import { notOurs, openTarget, type Target } from './target.ts'

const help = `Usage: rollup-state-proof fetch --l2 URL --block BLOCK --address ADDRESS -o FILE [options]

Fetches the answer of rollup_getProof alone, and writes it to a file for \`verify\`. With the state root that you trust it is
verified at once; without, nothing is.

Options:
  --l2 URL               an endpoint of the rollup
  --block BLOCK          an L2 block that L1 has finalized: its number, or a tag where the endpoint takes it (finalized)
  --address ADDRESS      20 bytes
  --storage-key KEY      32 bytes; repeat it, up to 1000 times
  --state-root ROOT      the root you trust, 32 bytes: stateRootHashes of the rollup contract on L1
  --scheme SCHEME        mimc or poseidon2; with --state-root
  --method NAME          rollup_getProof when left out; linea_getProof on the Linea networks
${endpointHelp}

Exit code: 0 fetched (and verified, with --state-root), or there already; 1 what came does not verify; 2 wrong usage, or
the file cannot be written; 3 the endpoint failed: run it again.

Example:
  rollup-state-proof fetch --l2 https://... --block 123 --address 0x... --storage-key 0x... -o answer.json
`

const TAGS: readonly string[] = ['latest', 'earliest', 'pending', 'finalized'] satisfies BlockTag[]
const isTag = (text: string): text is BlockTag => TAGS.includes(text)

export const fetch: Command = {
  summary: 'fetch an answer from an L2 endpoint',
  help,
  async run(args, io) {
    const { values } = parseArgs({
      args: [...args],
      options: { ...endpointOptions, block: { type: 'string' }, 'state-root': { type: 'string' } },
    })
    const { block, method, scheme, 'state-root': stateRoot } = values
    if (block === undefined) throw new UsageError('--block is needed: the number of an L2 block that L1 has finalized')
    const request = { ...requestOf(values), block: isTag(block) ? block : toInteger('--block', block, 64) }
    if (scheme !== undefined && stateRoot === undefined)
      throw new UsageError('--scheme is of use with --state-root only')
    // Unchecked, whatever the type says: a wrong root is refused with CLAIM_INVALID.
    const trusted =
      stateRoot === undefined ? undefined : { scheme: requireScheme(scheme), stateRoot: stateRoot as `0x${string}` }
    const options = {
      ...(method !== undefined && { method }),
      maxKeysPerRequest: keysPerRequestOf(values),
    }

    return converse(values, io, async ({ open, signal }) => {
      const l2 = open('l2', values.l2)
      const target = openTarget(values.output, values.force)
      const question = trusted && { ...trusted, ...request }
      if (target.exists) await requireFetched(target.path, question, io)

      const onKept = (kept: KeptAnswer, keyCount: number) => {
        target.keep(kept)
        showProgress(io, `${keyCount} of ${request.storageKeys.length} storage keys`)
      }
      const fetching = { ...options, trusted, kept: target.kept, onKept, signal }
      const answer = target.exists ? await readJson(target.path, io) : await fetchAnswer(l2, request, fetching)
      const state = question && verifyProof(answer, question)
      if (!target.exists) target.write(answer)
      endProgress(io)
      if (values.json)
        io.stdout.write(toJson({ fetched: true, file: target.path, verified: state !== undefined, ...state }))
      else io.stdout.write(format(target, answer, state, io))
      return exitCodes.verified
    })
  },
}

/** @throws UsageError when the file holds anything else, which is then not ours to replace */
async function requireFetched(path: string, question: Claim | undefined, io: Io): Promise<void> {
  if (question && safeVerifyProof(await readJson(path, io), question).ok) return
  const reason = question ? 'is no answer to this request' : 'without --state-root nobody can tell what it is'
  throw notOurs(path, reason)
}

function format(target: Target, answer: unknown, state: VerifiedState | undefined, { stdout }: Io): string {
  const file = [target.path, target.exists ? 'was there already, and was verified again' : 'written']
  const lines = state
    ? [formatVerdict(state, stdout), formatTable([['file', ...file]]), ...formatState(state, answer, stdout)]
    : ['Fetched, not verified.', formatTable([['file', ...file]])]
  return `${lines.join('\n')}\n`
}
