import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { mixedLines } from '../cli/bulk/records.ts'

/** Writes `count` records, good and bad, to a gzip file. Used by `.ci/scale`. */
const [count = '1000', path = 'mixed.ndjson.gz'] = process.argv.slice(2)

function* bytes(): Generator<Buffer> {
  for (const { line } of mixedLines(Number(count))) yield Buffer.concat([line, Buffer.from('\n')])
}

await pipeline(Readable.from(bytes()), createGzip({ level: 1 }), createWriteStream(path))
