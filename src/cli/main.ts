#!/usr/bin/env node
import { exitCodes } from './command.ts'
import { run } from './run.ts'

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', error => {
    // A reader that has seen enough (`| head -1`) changes nothing about the verdict; a report lost otherwise does.
    if (!('code' in error) || error.code !== 'EPIPE') process.exitCode = exitCodes.unusable
  })
}

const exitCode = await run(process.argv.slice(2), process)
// Not process.exit: what was written to a pipe may still be on its way.
process.exitCode ??= exitCode
