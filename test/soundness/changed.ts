import { type Beside, besideOf } from './beside.ts'
import { PARTS, VECTORS } from './parts.ts'
import { besideCorpus } from './vectors.ts'

/** Sends its parent what notices that a verifier is changed: its model on made questions, and the corpus. */
const [, , program = '', size = '', name = ''] = process.argv

/** How a verdict differs; null if none does. */
async function noticed(beside: Beside, ask: () => void): Promise<string | null> {
  try {
    ask()
  } catch (error) {
    // A vector has another verdict than it states, or the verifier throws what is no refusal.
    return `${error}`.replace(/^Error: (vectors.*\/)?/, '').slice(0, 200)
  }
  const [first] = await beside.differences()
  if (first === undefined) return null
  const [[here = ''], [there = '']] = [first.here.split(' '), first.there.split(' ')]
  if (/^[0-9a-f]{64}$/.test(there)) return 'another root'
  return here === there ? `other values of ${here}` : `${here} for ${there}`
}

const part = PARTS[name as keyof typeof PARTS]
const [made, real] = [besideOf(program), besideCorpus(program)]
process.send?.({
  made: await noticed(made, () => part.ask(made, Number(size) * part.share)),
  corpus: await noticed(real, () => VECTORS[name as keyof typeof PARTS](real)),
})
