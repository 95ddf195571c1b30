/** Runs the command: `main.ts` has seen to it that Node can. */
import { exitCodes } from './command.ts'
import { briefMessage, codeOf } from './errors.ts'
import { run } from './run.ts'
import { caughtSignal, endBy } from './signals.ts'

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', error => {
    // A reader that closes the pipe early (`| head -1`) does not change the verdict. A report lost in any other way does.
    if (codeOf(error) !== 'EPIPE') process.exitCode = exitCodes.unusable
  })
}

// Node's own exit code for a crash is 1, which here means that something did not verify.
process.on('uncaughtException', error => {
  process.stderr.write(`rollup-state-proof: unexpected: ${briefMessage(error)}\n`, () =>
    process.exit(exitCodes.unusable),
  )
})

const exitCode = await run(process.argv.slice(2), process)
const signal = caughtSignal()
// Ctrl-C is how some commands end well. Otherwise, it ends more than this process.
if (signal !== undefined && exitCode !== exitCodes.verified) endBy(signal)
// Not process.exit, which could lose output that is still on its way to a pipe.
process.exitCode ??= exitCode
