import { openEndpoints } from '../../client/sources/endpoints.ts'
import type { BlockTag } from '../../client/sources/fetch.ts'
import { fetchAnswer } from '../../client/sources/fetch.ts'
import { EndpointError } from '../../entry/rpc.ts'
import { verifyState } from '../../verify/state/kind.ts'
import type { AnyState } from '../../verify/state/types.ts'
import type { Command } from '../command.ts'
import { UsageError } from '../errors.ts'
import { fetchToFile } from '../files/fetched-file.ts'
import { refuseOverwrite } from '../files/output-file.ts'
import { methodOf } from '../options/chain-flags.ts'
import { formatOptions, hiddenUrls, optionsOf, resumable, text } from '../options/declared.ts'
import { describeAccount, keysPerRequestOf, requestOf, showProgress } from '../options/endpoint.ts'
import { requireKind } from '../options/flags.ts'
import { parseOptions, requireHex, toInteger } from '../options/parse.ts'
import { formatState, formatTable } from '../output/report.ts'
import { formatVerdict } from '../output/verdict.ts'
import { isEthAnswer, kindNamed } from '../words/answer.ts'
import { verdictOf } from '../words/verdict.ts'
import { existenceOf } from '../words/wording.ts'
import { fetchTraces, tracesOptions } from './fetch-traces.ts'

const options = {
  ...optionsOf('l2'),
  block: text('BLOCK', 'a finalized L2 block: its number, or a tag that the endpoint accepts (finalized)'),
  ...optionsOf('address', 'storage-key', 'mapping', 'state-root'),
  scheme: text(
    'SCHEME',
    'mimc or poseidon2, required with --state-root; or ethereum, for a block with an Ethereum state: it asks with eth_getProof',
  ),
  method: text('NAME', 'the JSON-RPC method; linea_getProof on the Linea networks (default: rollup_getProof)'),
  ...optionsOf('keys-per-request', 'timeout', 'output', 'force', 'json'),
}

const help = `Usage: rollup-state-proof fetch --l2 URL --block BLOCK --address ADDRESS -o FILE
         [options]
       rollup-state-proof fetch --traces --l2 URL --from-block N
         --state-manager-version V -o FILE [options]

Fetches a rollup_getProof answer and writes it to a file for \`verify\`; with
--scheme ethereum, an eth_getProof answer. It verifies the answer only if you
pass --state-root.

Options:
${formatOptions(options)}

With --traces, what changed in a range of blocks, instead of a proof. Only the
operator's own state manager serves it: public endpoints do not, and it keeps
the traces of recent blocks only. FILE gets one answer per line, for \`diff\`,
which verifies them: fetch does not, and an interrupted run starts over.
${formatOptions(tracesOptions)}

${hiddenUrls}
${resumable}

If FILE exists, no endpoint is asked. With --state-root, fetch verifies the
file, and the report says so. Without it, the file could hold anything, so fetch
ends with exit code 2.

Exit code: 0 fetched (with --state-root: and verified), or FILE exists and
verifies; 1 the answer is refused; 2 wrong usage, or the file cannot be
written; 3 the endpoint failed: run the command again.

Examples:
  export L2_URL=https://...
  rollup-state-proof fetch --block 123 --address 0x... --storage-key 0x... \\
    -o answer.json
  rollup-state-proof fetch --traces --from-block 100 --to-block 199 \\
    --state-manager-version 2.3.0 -o traces.ndjson
`

const TAGS: readonly string[] = ['latest', 'earliest', 'pending', 'finalized'] satisfies BlockTag[]
const isTag = (text: string): text is BlockTag => TAGS.includes(text)

/** The user has stated the state root, or else nothing is verified. */
const VERIFIED = verdictOf(true, { stateRoot: 'user' })

export const command: Command = {
  help,
  async run(args, io) {
    if (args.includes('--traces')) return fetchTraces(args, io)
    const { values } = parseOptions(args, options)
    const { block, scheme, 'state-root': stateRoot } = values
    if (block === undefined) throw new UsageError('--block is needed: the number of an L2 block that L1 has finalized')
    const request = { ...requestOf(values), l2BlockNumber: isTag(block) ? block : toInteger('--block', block, 64) }
    const kind = kindNamed(scheme)
    const isTrie = kind?.hashScheme === null
    if (scheme !== undefined && !isTrie && stateRoot === undefined)
      throw new UsageError('--scheme is of use with --state-root only, unless it is ethereum')
    requireHex('--state-root', 32, stateRoot)
    const trusted = stateRoot === undefined ? undefined : { scheme: requireKind(scheme), stateRoot }
    const { address, storageKeys } = request
    const claim = trusted && { ...trusted, address, storageKeys }
    return fetchToFile<{ bundle: unknown; verified: AnyState | undefined }>(values, io, {
      askedFor: {
        ...{ command: 'fetch', method: methodOf(values), scheme: scheme ?? '' },
        'state root': stateRoot?.toLowerCase() ?? '',
        ...describeAccount(request),
        block: `${request.l2BlockNumber}`,
      },
      open({ open, signal }) {
        const l2 = openEndpoints('l2', open('l2', values.l2))
        return async ({ progress, saveProgress }) => {
          const answer = await fetchAnswer(l2, request, {
            ...{ method: methodOf(values), scheme: kind?.scheme },
            ...{ maxKeysPerRequest: keysPerRequestOf(values), trusted, resumeFrom: progress, signal },
            onProgress(made, keyCount) {
              saveProgress(made)
              showProgress(io, `${keyCount} of ${storageKeys.length} storage keys`)
            },
          })
          // An endpoint of another kind of chain would go unnoticed: nothing else is checked without --state-root.
          if (isEthAnswer(answer) !== isTrie) throw new EndpointError(isTrie ? 'ANSWER_MALFORMED' : 'ETH_PROOF_ANSWER')
          return { bundle: answer, verified: claim && verifyState(answer, claim) }
        }
      },
      expected: 'an answer to',
      verifyExisting(answer, path) {
        if (claim === undefined) throw refuseOverwrite(path, 'without --state-root its contents cannot be verified')
        return verifyState(answer, claim)
      },
      report: ({ bundle: answer, verified: state }, { path, source }, stream) => ({
        verdict: state ? VERIFIED : null,
        json: { ...state },
        lines: [
          state ? formatVerdict(VERIFIED, existenceOf(state), stream) : 'Fetched, not verified.',
          formatTable([['file', path, source === 'file' ? 'existed already' : 'written']]),
          ...(state ? formatState(state, answer, stream) : []),
        ],
      }),
    })
  },
}
