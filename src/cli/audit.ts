import { createReadStream, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { audit as auditInputs, type AuditInput, AuditInputError } from '../bulk/audit.ts'
import { addCounts, MAX_REJECTED } from '../bulk/audited.ts'
import { CHUNK_LENGTH } from '../bulk/input.ts'
import { linesOf } from '../bulk/lines.ts'
import type { RecordClaim } from '../bulk/record.ts'
import { formatAuditReport } from '../bulk/report.ts'
import { dropPartialLine, readWritten } from '../bulk/written.ts'
import { type Command, exitCodes, type Io, UsageError } from './command.ts'

const help = `Usage: rollup-state-proof audit [FILE...|-] [options]

Verifies records, one per line, and writes one verdict per line, in the order of the input. A record is a recording (scheme,
stateRoot, address, storageKeys, result), an answer, or an evidence bundle, as JSON. Standard input is read when there is no
FILE. Input that is packed with gzip (or zstd, on Node 22.15 or later) is unpacked.

What you state wins over what the records say. Nothing proves a root that only a record names:
  --scheme SCHEME          mimc or poseidon2
  --state-root ROOT        the L2 state root of every answer, 32 bytes
  --address ADDRESS        the address of every record, 20 bytes
  --storage-key KEY        a storage key of every record, 32 bytes; repeat it, in the order of the request
  --rollup ROLLUP          for bundles: mainnet, sepolia, or the address of the rollup contract on L1
  --l1-block-hash HASH     for bundles: the L1 block that you trust, 32 bytes; or --l1-state-root ROOT

Output:
  -o, --output OUT         write the verdicts to OUT (default: standard output). A run that was interrupted goes on
                           where OUT ends when the same command is run again
  --force                  start over, and overwrite OUT
  --html REPORT            write a page with the counts, charts and the refused records
  --json                   write the summary as one JSON object

Limits:
  --jobs N                 how many workers verify (default: the number of cores)
  --max-line MIB           the longest record, 1 to 64 MiB (default: 16)

The summary goes to standard error.
Exit code: 0 all verified, 1 some refused or unreadable, 2 wrong usage, or an input that cannot be read to its end.

Examples:
  rollup-state-proof audit recordings.ndjson.gz -o verdicts.ndjson --html report.html
  rollup-state-proof audit answers.ndjson --scheme poseidon2 --state-root 0x...
  zcat *.gz | rollup-state-proof audit | grep -v '"verdict":"present"'
`

export const audit: Command = {
  summary: 'verify many records, one per line, on all cores',
  help,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        scheme: { type: 'string' },
        'state-root': { type: 'string' },
        address: { type: 'string' },
        'storage-key': { type: 'string', multiple: true },
        ...evidenceOptions,
        output: { type: 'string', short: 'o' },
        force: { type: 'boolean', default: false },
        html: { type: 'string' },
        json: { type: 'boolean', default: false },
        jobs: { type: 'string' },
        'max-line': { type: 'string', default: '16' },
      },
    })
    const jobs = values.jobs === undefined ? availableParallelism() : wholeNumber('--jobs', values.jobs, 1, 256)
    const maxLineLength = wholeNumber('--max-line', values['max-line'], 1, 64) * 2 ** 20
    const claim = claimOf(values)
    const files = positionals.length === 0 ? ['-'] : positionals
    const inputs = files.map(file => inputOf(file, io))
    const output = await openVerdicts(values.output, values.force, { inputs: files, claim: toJson(claim) }, io)
    const run = createRun(files, jobs, output.written, io)
    try {
      const verdicts = auditInputs(inputs, { claim, jobs, maxLineLength, skip: output.written.lines, onRead: run.onRead })
      for await (const batch of verdicts) {
        await output.write(batch.text)
        run.onAudited(batch)
      }
    } catch (error) {
      if (error instanceof AuditInputError) throw new UsageError(error.message)
      throw error
    } finally {
      await output.close()
      run.end()
    }
  },
}
