import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isProofError } from '../../src/base/errors.ts'

/** So many characters are sent to the other program at once. */
const BATCH = 2 ** 25

/** Questions that were sent, and what they were answered here. */
interface Batch {
  readonly questions: readonly string[]
  readonly answers: readonly string[]
  /** What the other program answers. */
  readonly others: Promise<string>
}

/** A question, the verdict here, and that of the other program. */
interface Difference {
  readonly question: string
  readonly here: string
  readonly there: string
}

/**
 * Asks two verifiers the same questions: one here, and the program extracted from Coq.
 *
 * @param told lines that the program reads before its questions
 */
export function besideOf(program: string, told: () => readonly string[] = () => []) {
  let questions: string[] = []
  let answers: string[] = []
  const batches: Batch[] = []
  let [waiting, asked] = [0, 0]
  const counts = new Map<string, number>()

  /** @param verify returns the verdict, or throws a ProofError. @returns the first word of the verdict, or the code */
  function ask(words: readonly string[], verify: () => string): string {
    const verdict = judge(verify)
    const question = words.join(' ')
    questions.push(question)
    answers.push(verdict)
    const [outcome = ''] = verdict.split(' ')
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
    asked += 1
    waiting += question.length
    if (waiting > BATCH) send()
    return outcome
  }

  /** The other program reads and writes files, so that it needs nothing from this one, which goes on meanwhile. */
  function send(): void {
    const folder = mkdtempSync(`${tmpdir()}/soundness-`)
    const [input, output] = [`${folder}/questions`, `${folder}/answers`]
    writeFileSync(input, `${[...told(), ...questions].join('\n')}\n`)
    const [source, target] = [openSync(input, 'r'), openSync(output, 'w')]
    const running = spawn(program, { stdio: [source, target, 'inherit'] })
    closeSync(source)
    closeSync(target)
    const others = once(running, 'close').then(([status]) => {
      const text = readFileSync(output, 'utf8')
      rmSync(folder, { recursive: true })
      if (status !== 0) throw new Error(`${program} ended with ${status}`)
      return text
    })
    batches.push({ questions, answers, others })
    questions = []
    answers = []
    waiting = 0
  }

  /** The questions with two verdicts. */
  async function differences(): Promise<Difference[]> {
    send()
    const different: Difference[] = []
    for (const { questions, answers, others } of batches) {
      const found = (await others).split('\n').slice(0, -1)
      if (found.length !== answers.length) throw new Error(`${answers.length} questions, ${found.length} answers`)
      for (const [index, here] of answers.entries()) {
        const [question = '', there = ''] = [questions[index], found[index]]
        if (here !== there) different.push({ question, here, there })
      }
    }
    return different
  }

  /** Sets the exit code if a verdict differs. */
  async function compare(title: string): Promise<void> {
    const different = await differences()
    for (const { question, here, there } of different.slice(0, 3)) {
      console.log(`${here} here, ${there} there: ${question.slice(0, 2000)}`)
    }
    console.log(`${title}: ${asked} questions, ${different.length} verdicts differ`)
    if (different.length > 0) process.exitCode = 1
  }

  /** Each of these outcomes has to be among those so far, and not by chance. Sets the exit code if one is not. */
  function expectOutcomes(expected: readonly string[]): void {
    const found = [...counts].sort(([, a], [, b]) => b - a)
    for (const [outcome, times] of found) console.log(`${String(times).padStart(6)} ${outcome}`)
    const rare = expected.filter(outcome => (counts.get(outcome) ?? 0) < asked / 2000)
    const unknown = found.flatMap(([outcome]) => (expected.includes(outcome) ? [] : [outcome]))
    if (rare.length + unknown.length === 0) return
    console.log(`rare: ${rare.join(', ')}; not expected: ${unknown.join(', ')}`)
    process.exitCode = 1
  }

  return { ask, compare, differences, expectOutcomes, asked: () => asked }
}

export type Beside = ReturnType<typeof besideOf>

function judge(verify: () => string): string {
  try {
    return verify()
  } catch (error) {
    if (isProofError(error)) return error.code
    throw error
  }
}

export const digits = (hex: string): string => hex.slice(2).toLowerCase()
export const lengthOf = (hex: string): number => hex.length / 2 - 1
export const isBytes = (text: unknown): text is string => typeof text === 'string' && /^0x([0-9a-fA-F]{2})*$/.test(text)
