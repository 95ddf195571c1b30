/**
 * `npm run test:rules`: takes each rule out of the verifier in turn, and runs the vectors that it refuses. One of them at least
 * must then be accepted, or leave the code behind the rule unable to go on. Otherwise nothing shows that the rule is needed, and
 * `test/tools/rules/README.md` has to say why.
 *
 * The rules are not listed: they are all places that throw a ProofError in the layers of `test/tools/rules/sites.ts`.
 */
import { readFileSync } from 'node:fs'
import { LAYERS, layerOfFile, type Site } from './rules/sites.ts'
import type { Run } from './rules/worker.ts'
import { runAll, startWorkers, type Workers } from './rules/workers.ts'

/** What becomes of the vectors of a rule without it. */
interface Tally {
  readonly site: Site
  readonly codes: readonly string[]
  readonly count: number
  readonly accepted: number
  /** The code behind the rule ends with an error of the platform. */
  readonly stuck: number
  /** What refuses the others. */
  readonly others: readonly string[]
}

/** The vectors that a rule refuses are those for which it throws last, or calls what does. */
async function tallyOf(workers: Workers, site: Site, baseline: readonly Run[]): Promise<Tally> {
  const own = baseline.filter(({ hits }) => {
    const last = hits.at(-1)
    return last?.id === site.id || last?.open.includes(site.id)
  })
  const files = own.map(({ file }) => file)
  const runs = files.length === 0 ? [] : await workers.run({ off: site.id, files })
  const outcomes = runs?.map(({ outcome }) => outcome) ?? files.map(() => 'stuck: does not end')
  const isStuck = (outcome: string) => outcome.startsWith('stuck: ')
  const isCode = (outcome: string) => /^[A-Z0-9]+_[A-Z0-9_]+$/.test(outcome)
  return {
    ...{ site, count: files.length, codes: [...new Set(own.map(({ outcome }) => outcome))] },
    accepted: outcomes.filter(outcome => !isStuck(outcome) && !isCode(outcome)).length,
    stuck: outcomes.filter(isStuck).length,
    others: [...new Set(outcomes.filter(isCode))],
  }
}

/** How the document spells a rule. */
const spell = ({ name, file, text }: Site): string => `\`${name}\` in \`${file}\`: \`${text}\``

const began = performance.now()
const workers = await startWorkers()
const baseline = await runAll(workers)
const rules = workers.sites.filter(({ kind }) => kind === 'rule')
const tallies = await Promise.all(rules.map(site => tallyOf(workers, site, baseline)))
workers.stop()

const explained = new Set(
  [...readFileSync('test/tools/rules/README.md', 'utf8').matchAll(/^- (`\w+` in `src\/[\w/.-]+`: `.+`)$/gm)].map(
    ([, rule = '']) => rule,
  ),
)
const problems: string[] = []
const summary: string[] = []
for (const layer of Object.keys(LAYERS)) {
  const own = tallies.filter(({ site }) => layerOfFile.get(site.file) === layer)
  console.log(`\n${layer}\n  accepted without it / refused by it / code / rule`)
  for (const { site, codes, count, accepted, stuck, others } of own) {
    const note =
      accepted > 0 ? '' : stuck > 0 ? ' - cannot go on' : others.length > 0 ? ` - ${others.join(', ')}` : ' - no vector'
    console.log(`  ${accepted}/${count} ${codes.join(', ')} ${site.file}:${site.line} ${site.text}${note}`)
    const isHeld = accepted > 0 || stuck > 0
    if (!isHeld && !explained.has(spell(site))) problems.push(`no vector isolates ${spell(site)}`)
    if (accepted > 0 && explained.has(spell(site)))
      problems.push(`a vector isolates ${spell(site)}: the document says otherwise`)
  }
  const holding = own.filter(({ accepted }) => accepted > 0).length
  const stuck = own.filter(({ accepted, stuck }) => accepted === 0 && stuck > 0).length
  summary.push(`${layer}: ${own.length} rules, ${holding} isolated, ${stuck} without which the code cannot go on`)
}
const known = new Set(rules.map(spell))
for (const rule of explained) if (!known.has(rule)) problems.push(`there is no such rule: ${rule}`)
const seconds = Math.round((performance.now() - began) / 1000)
console.log(`\n${summary.join('\n')}\n${baseline.length} vectors, ${seconds} s`)
for (const problem of problems) console.error(problem)
if (problems.length > 0 || rules.length < 200 || baseline.length < 1200) process.exitCode = 1
