import { type Hex, stringify } from 'rollup-state-proof'
import { readLines, verifyRecords } from 'rollup-state-proof/bulk'

/** One line per record of an NDJSON stream, such as the body of a response: its verdict. */
export async function* judgeRecords(body: ReadableStream<Uint8Array>, stateRoot: Hex) {
  const claim = { scheme: 'poseidon2', stateRoot, address: 'fromRecord', storageKeys: 'fromRecord' } as const
  for await (const verdict of verifyRecords(readLines(body), claim)) yield stringify(verdict)
}
