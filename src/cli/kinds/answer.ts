import { plural } from '../../base/errors.ts'
import { isArgumentError, safely } from '../../entry/index.ts'
import { createStateVerifier, kindName } from '../../verify/state/kind.ts'
import { argumentRefused, UsageError } from '../errors.ts'
import { requireKind } from '../options/network.ts'
import { formatState, reportOnError, type VerdictReport } from '../output/report.ts'
import { formatTable } from '../output/table.ts'
import { formatVerdict } from '../output/verdict.ts'
import { type ClaimField, type ClaimWithSources, completeClaim, isProblem } from '../words/answer.ts'
import type { AnswerFile, StatedClaim } from '../words/input-file.ts'
import { show } from '../words/value.ts'
import { verdictOf } from '../words/verdict.ts'
import { existenceOf, type Row, sourceWords } from '../words/wording.ts'

const labels = { scheme: 'scheme', stateRoot: 'state root', address: 'address', storageKeys: 'slots' } as const

/** Verifies an answer alone. @throws UsageError if the claim itself is wrong, or lacks the root */
export function reportOnAnswer(stated: StatedClaim, file: AnswerFile): VerdictReport {
  const { claim, sources } = requireClaim(stated, file)
  const { scheme, ...asked } = claim
  const outcome = safely(() => createStateVerifier(scheme)(file.answer, asked))
  const parts = Object.entries({ scheme: kindName(scheme), ...asked } satisfies Partial<Record<ClaimField, unknown>>)
  // Of an answer that does not verify, nothing that it says of itself is shown.
  const shown = (parts as [ClaimField, unknown][]).filter(([name]) => outcome.ok || sources[name] !== 'answer')
  const rows = shown.map(([name, value]): Row => {
    const text = Array.isArray(value) ? plural(value.length, 'storage key') : show(value)
    return [labels[name], text, sourceWords[sources[name]]]
  })
  const json = { ...Object.fromEntries(shown), sources }
  if (!outcome.ok) {
    const { error } = outcome
    if (!isArgumentError(error)) return reportOnError(error, json, rows)
    const isOfUser = Object.entries(sources).some(([name, source]) => source === 'user' && error.path.startsWith(name))
    throw isOfUser ? argumentRefused(error) : argumentRefused(error, `${error.path} in the file`)
  }
  const state = outcome.value
  const { account, storage } = state
  const { storageKeys: _, ...others } = sources
  const verdict = verdictOf(true, storage.length > 0 ? sources : others)
  return {
    verdict,
    json: { ...json, account, storage },
    format(stream) {
      const lines = [formatVerdict(verdict, existenceOf(state), stream), formatTable(rows, stream)]
      return `${[...lines, ...formatState(state, stream)].join('\n')}\n`
    },
  }
}

/** The claim on an answer: from the options, the file and, last, the answer itself. @throws UsageError */
function requireClaim(stated: StatedClaim, file: AnswerFile): ClaimWithSources {
  const claim = completeClaim(stated, file)
  if (!isProblem(claim)) return claim
  const { problem, found } = claim
  if (problem === 'scheme') {
    if (found !== undefined) requireKind(found)
    // Whatever it is, such as an error, it has the form of no answer: verifying it says so.
    const assumed = requireClaim({ ...stated, scheme: 'poseidon2' }, file)
    return { ...assumed, sources: { ...assumed.sources, scheme: 'default' } }
  }
  if (problem === 'storageKeys') {
    const advice = 'state the keys that you asked for with --storage-key'
    throw new UsageError(`storageProofs[${found}] names no storage key: ${advice}`)
  }
  throw new UsageError('--state-root is needed: the root you trust, 32 bytes, from the rollup contract on L1')
}
