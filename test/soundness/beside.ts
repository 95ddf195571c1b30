import { spawnSync } from 'node:child_process'
import { isProofError } from '../../src/errors.ts'

/** Asks two verifiers the same questions: one here, and the program extracted from Coq. */
export function besideOf(program: string) {
  const questions: string[] = []
  const answers: string[] = []
  const counts = new Map<string, number>()

  /** @param verify returns the verdict, or throws a ProofError. @returns the first word of the verdict, or the code */
  function ask(question: readonly string[], verify: () => string): string {
    const verdict = judge(verify)
    questions.push(question.join(' '))
    answers.push(verdict)
    const [outcome = ''] = verdict.split(' ')
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
    return outcome
  }

  /**
   * Runs the program. Sets the exit code if a verdict differs.
   *
   * @param told lines that it reads before the questions
   */
  function compare(title: string, told: readonly string[]): void {
    const input = `${[...told, ...questions].join('\n')}\n`
    const { stdout, stderr, status } = spawnSync(program, { input, encoding: 'utf8', maxBuffer: 2 ** 30 })
    if (status !== 0) throw new Error(stderr)
    const others = stdout.split('\n').slice(0, -1)
    const different = answers.flatMap((answer, index) => (answer === others[index] ? [] : [index]))
    for (const index of different.slice(0, 3)) {
      console.log(`${answers[index]} here, ${others[index]} there: ${questions[index]?.slice(0, 2000)}`)
    }
    console.log(`${title}: ${answers.length} questions, ${different.length} verdicts differ`)
    if (different.length > 0 || others.length !== answers.length) process.exitCode = 1
  }

  /** Each of these outcomes has to be among those so far, and not by chance. Sets the exit code if one is not. */
  function expectOutcomes(expected: readonly string[]): void {
    const found = [...counts].sort(([, a], [, b]) => b - a)
    for (const [outcome, times] of found) console.log(`${String(times).padStart(6)} ${outcome}`)
    const rare = expected.filter(outcome => (counts.get(outcome) ?? 0) < answers.length / 2000)
    const unknown = found.flatMap(([outcome]) => (expected.includes(outcome) ? [] : [outcome]))
    if (rare.length + unknown.length === 0) return
    console.log(`rare: ${rare.join(', ')}; not expected: ${unknown.join(', ')}`)
    process.exitCode = 1
  }

  return { ask, compare, counts, expectOutcomes, asked: () => answers.length }
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
