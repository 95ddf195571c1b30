import { isProofError } from '../../entry/index.ts'
import type { Io, Output } from '../command.ts'
import type { Connections } from '../options/connections.ts'
import { type EndpointFlags, endProgress, notFetched, showProgress, withEndpoints } from '../options/endpoint.ts'
import { toJson } from '../output/report.ts'
import { ASKED_ENDPOINTS, describeVerdict, exitCodeOf } from '../output/verdict.ts'
import { printable } from '../words/value.ts'
import type { Verdict } from '../words/verdict.ts'
import { type AskedFor, type OutputFile, openOutputFile, readExisting, refuseOverwrite } from './output-file.ts'

/** What a run fetches: what it writes to a file, and what that proves. */
export interface Fetched {
  readonly bundle: unknown
  readonly verified: object
}

/** How a run fetches, verifies and reports. */
export interface Fetching<T extends Fetched> {
  /** For whom progress must have been saved, to continue from there. */
  readonly askedFor: AskedFor
  /** Opens the endpoints. @returns how to fetch from them */
  open(connections: Connections): (output: OutputFile) => Promise<T>
  /** Verifies the existing file, offline. @returns the evidence @throws ProofError or UsageError if it is something else */
  verifyExisting(bundle: unknown, path: string): object | Promise<object>
  /** What `--json` prints, and the lines of the report. */
  report(fetched: T, place: Place, stream: Output): FetchedReport
}

/** What is said of what was fetched. */
export interface FetchedReport {
  readonly verdict: Verdict
  readonly json: object
  readonly lines: readonly string[]
}

/** Where what is reported comes from. */
export interface Place {
  /** From endpoints in this run, or from the existing file, without asking an endpoint. */
  readonly source: 'network' | 'file'
  /** The file, `-` for standard output. */
  readonly path: string
}

/** Fetches to a file, or reads it if it exists, and reports. @returns the exit code */
export const fetchToFile = <T extends Fetched>(
  flags: EndpointFlags & { readonly force: boolean },
  io: Io,
  { askedFor, open, verifyExisting, report }: Fetching<T>,
): Promise<number> =>
  withEndpoints(flags, io, async connections => {
    const fetch = open(connections)
    const output = await openOutputFile(flags.output, flags.force, askedFor, io)
    const { path } = output
    const tell = (fetched: T, source: Place['source']) => {
      const stream = path === '-' ? io.stderr : io.stdout
      const { verdict, json, lines } = report(fetched, { source, path }, stream)
      const first = source === 'file' ? [notFetched(path, stream)] : []
      if (flags.json)
        io.stdout.write(
          toJson({ fetched: source === 'network', source, file: path, ...describeVerdict(verdict), ...json }),
        )
      else stream.write(`${[...first, ...lines].join('\n')}\n`)
      return exitCodeOf(verdict, ASKED_ENDPOINTS)
    }
    if (output.exists) {
      const bundle = await readExisting(path)
      try {
        // Verified, it is one that this run could have fetched.
        return tell({ bundle, verified: await verifyExisting(bundle, path) } as T, 'file')
      } catch (error) {
        if (!isProofError(error)) throw error
        throw refuseOverwrite(path, `is not a bundle for this request (${error.message})`)
      }
    }
    if (output.progress !== undefined) showProgress(io, `continuing from ${printable(path)}.partial`)
    const fetched = await fetch(output)
    output.write(fetched.bundle)
    endProgress(io)
    return tell(fetched, 'network')
  })
