import { PRELUDE } from './sites.ts'

/** Switches one place off for a run of tests. */
if (!('$off' in globalThis)) {
  // The prelude defines what the marks in the code call.
  new Function(PRELUDE)()
  Object.assign(globalThis, { $off: Number(process.env['OFF'] ?? -1) })
}
