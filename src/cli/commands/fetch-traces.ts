import { openEndpoints } from '../../client/sources/endpoints.ts'
import { callProvider } from '../../client/transport/provider.ts'
import { EndpointError } from '../../entry/rpc.ts'
import { type Command, exitCodes, type Io } from '../command.ts'
import { UsageError } from '../errors.ts'
import { openSpool } from '../files/spool.ts'
import { formatHelp, optionsOf, text, textOr } from '../options/declared.ts'
import { endProgress, showProgress, withEndpoints } from '../options/endpoint.ts'
import { integerOf, parseOptions, wholeNumber } from '../options/parse.ts'
import { toJson } from '../output/report.ts'
import { formatTable } from '../output/table.ts'
import { escapeUnprintable, fieldIn } from '../words/value.ts'

const options = {
  'from-block': text('N', 'the first L2 block'),
  'to-block': text('N', 'the last L2 block (default: --from-block)'),
  'state-manager-version': text('V', 'exactly as it is configured, such as 2.3.0'),
  'blocks-per-request': textOr('1', 'N', 'blocks per request, of 4 MiB at most'),
}
const all = { ...options, ...optionsOf('l2', 'timeout', 'output', 'force', 'json') }

export const command: Command = {
  help: formatHelp({
    usage: 'fetch traces --from-block N --state-manager-version V -o FILE [options]',
    ...{ options, all },
    about: `
Fetches what changed in a range of blocks, one answer per line, for \`diff\`,
which verifies it: this does not. Only the operator's own state manager serves
traces, of recent blocks only. An interrupted run starts over.`,
    examples: `
export L2_URL=https://...
rollup-state-proof fetch traces --from-block 100 --to-block 199 \\
  --state-manager-version 2.3.0 -o traces.ndjson`,
  }),
  run: fetchTraces,
}

const METHOD = 'rollup_getZkEVMStateMerkleProofV0'

/** Fetches the traces of a range, and writes one answer per line: the file whole or not at all. @returns the exit code */
function fetchTraces(args: readonly string[], io: Io): Promise<number> {
  const { values: flags } = parseOptions(args, all)
  const { output, json, force, 'state-manager-version': zkStateManagerVersion } = flags
  const from = integerOf(flags, 'from-block', 48)
  const to = integerOf(flags, 'to-block', 48) ?? from
  if (from === undefined || to === undefined) throw new UsageError('--from-block is needed: the first L2 block')
  if (to < from) throw new UsageError('--to-block is before --from-block')
  if (zkStateManagerVersion === undefined)
    throw new UsageError('--state-manager-version is needed: the server refuses any other')
  if (!output) throw new UsageError('--output is needed: the file to write, or - for standard output')
  const most = wholeNumber('--blocks-per-request', flags['blocks-per-request'], 1, 1000)
  return withEndpoints(flags, io, async ({ open, signal }) => {
    const l2 = openEndpoints('l2', open('l2', flags.l2))
    const spool = openSpool(output, force, io)
    try {
      // Both are below 2^48.
      for (let begin = Number(from); begin <= Number(to); begin += most) {
        const end = Math.min(begin + most - 1, Number(to))
        const params = [{ startBlockNumber: begin, endBlockNumber: end, zkStateManagerVersion }]
        const answer = await l2.run(async provider => {
          const answer = await callProvider(provider, METHOD, params, signal)
          const blocks = fieldIn(answer, 'zkStateMerkleProof')
          if (Array.isArray(blocks) && blocks.length === end - begin + 1) return answer
          throw new EndpointError('ANSWER_MALFORMED', { found: `no traces of ${end - begin + 1} blocks` })
        }, signal)
        // It may end on a terminal.
        spool.write(`${escapeUnprintable(JSON.stringify(answer))}\n`)
        showProgress(io, `${end - Number(from) + 1} of ${to - from + 1n} blocks`)
      }
      endProgress(io)
      await spool.publish()
    } finally {
      spool.remove()
    }
    const place = { file: output, fromBlock: from, toBlock: to }
    const lines = `Fetched, not verified: pass the file to diff.\n${formatTable([['file', output, 'written']], io.stdout)}\n`
    if (json) io.stdout.write(toJson({ fetched: true, verified: false, ...place }))
    else (output === '-' ? io.stderr : io.stdout).write(lines)
    return exitCodes.verified
  })
}
