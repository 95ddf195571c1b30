import { besideOf } from './beside.ts'
import { askCorpus, PARTS } from './parts.ts'
import { besideCorpus } from './vectors.ts'

/** Runs the models extracted from Coq beside the verifiers, on made proofs under toy hashes and on the corpus. */
const [, , program = '', size = '20000'] = process.argv

for (const { title, share, outcomes, ask } of Object.values(PARTS)) {
  const beside = besideOf(program)
  ask(beside, Number(size) * share)
  if (outcomes.length > 0) beside.expectOutcomes(outcomes)
  await beside.compare(title)
}

const real = besideCorpus(program)
askCorpus(real)
await real.compare('the corpus')
