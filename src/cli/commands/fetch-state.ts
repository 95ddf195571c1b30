import { openEndpoints } from '../../client/sources/endpoints.ts'
import type { BlockTag } from '../../client/sources/fetch.ts'
import { fetchAnswer, verifyClientOptions } from '../../client/sources/fetch.ts'
import { EndpointError } from '../../entry/rpc.ts'
import { stateKind, verifyState } from '../../verify/state/kind.ts'
import type { AnyState } from '../../verify/state/types.ts'
import type { Command } from '../command.ts'
import { UsageError } from '../errors.ts'
import { fetchToFile } from '../files/fetched-file.ts'
import { refuseOverwrite } from '../files/output-file.ts'
import { formatHelp, optionsOf, text } from '../options/declared.ts'
import { describeAccount, keysPerRequestOf, requestOf, showProgress } from '../options/endpoint.ts'
import { describeRollup, networkOf } from '../options/network.ts'
import { parseOptions, requireHex, toInteger } from '../options/parse.ts'
import { formatState, formatTable } from '../output/report.ts'
import { formatVerdict } from '../output/verdict.ts'
import { isEthAnswer } from '../words/answer.ts'
import { verdictOf } from '../words/verdict.ts'
import { existenceOf } from '../words/wording.ts'

const options = {
  'l2-block': text('BLOCK', 'a finalized L2 block, or a tag that the endpoint accepts'),
  ...optionsOf('address', 'storage-key', 'mapping', 'state-root', 'keys-per-request'),
}
const all = { ...options, ...optionsOf('network', 'l2', 'timeout', 'output', 'force', 'json') }

const TAGS: readonly string[] = ['latest', 'earliest', 'pending', 'finalized'] satisfies BlockTag[]
const isTag = (text: string): text is BlockTag => TAGS.includes(text)

/** The user has stated the state root, or else nothing is verified. */
const VERIFIED = verdictOf(true, { stateRoot: 'user' })

export const command: Command = {
  help: formatHelp({
    usage: 'fetch state --l2-block BLOCK --address ADDRESS -o FILE [options]',
    ...{ options, all },
    about: `
Fetches an answer, and writes it to a file for \`verify\`. It is verified only if
you pass --state-root: otherwise an existing FILE could hold anything, and is
not read.`,
    notes: `
Exit code: 0 fetched (with --state-root: and verified), or FILE verifies; 1 the
answer is refused; 2 wrong usage; 3 the endpoint failed: run it again.`,
    examples: `
export L2_URL=https://...
rollup-state-proof fetch state --l2-block 123 --address 0x... -o answer.json`,
  }),
  async run(args, io) {
    const { values } = parseOptions(args, all)
    const { 'l2-block': block, 'state-root': stateRoot } = values
    if (block === undefined) throw new UsageError('--l2-block is needed: an L2 block that L1 has finalized')
    const request = { ...requestOf(values), l2BlockNumber: isTag(block) ? block : toInteger('--l2-block', block, 64) }
    const network = networkOf(values)
    const { scheme } = network
    const isTrie = stateKind(scheme).hashScheme === null
    const { method } = verifyClientOptions({ rollup: network.rollup })
    requireHex('--state-root', 32, stateRoot)
    const trusted = stateRoot === undefined ? undefined : { scheme, stateRoot }
    const { address, storageKeys } = request
    const claim = trusted && { ...trusted, address, storageKeys }
    return fetchToFile<{ bundle: unknown; verified: AnyState | undefined }>(values, io, {
      askedFor: {
        ...{ command: 'fetch state', method, ...describeRollup(network) },
        'state root': stateRoot?.toLowerCase() ?? '',
        ...describeAccount(request),
        block: `${request.l2BlockNumber}`,
      },
      open({ open, signal }) {
        const l2 = openEndpoints('l2', open('l2', values.l2))
        return async ({ progress, saveProgress }) => {
          const answer = await fetchAnswer(l2, request, {
            ...{ method, scheme },
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
