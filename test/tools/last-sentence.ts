import type { UserConsoleLog } from 'vitest'
import type { Reporter, TestModule } from 'vitest/node'

/** What a test prints if it, or a part of it, is skipped. */
const SKIPPED = /^skipped:? (.*)$/gim

const count = (size: number, word: string): string => `${size} ${word}${size === 1 ? '' : 's'}`

/** Ends a run of the tests with a sentence: how many passed and failed, and what was skipped for which reason. */
// biome-ignore lint/style/noDefaultExport: Vitest loads it by the name of the file
export default class LastSentence implements Reporter {
  readonly #reasons = new Set<string>()

  onUserConsoleLog({ content }: UserConsoleLog): void {
    for (const [, reason = ''] of content.matchAll(SKIPPED)) this.#reasons.add(reason.replace(/\.$/, ''))
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap(({ children }) => [...children.allTests()])
    const [passed = 0, failed = 0, skipped = 0] = (['passed', 'failed', 'skipped'] as const).map(
      state => tests.filter(test => test.result().state === state).length,
    )
    const broken = modules.filter(module => module.state() === 'failed').length
    const parts = [
      `${count(passed, 'test')} in ${count(modules.length, 'file')} passed`,
      ...(failed > 0 || broken > 0 || errors.length > 0
        ? [
            `${count(failed, 'test')} failed, in ${count(broken, 'file')}; ${count(errors.length, 'error')} outside of tests`,
          ]
        : []),
      ...(skipped > 0 ? [`${skipped} ${skipped === 1 ? 'was' : 'were'} skipped`] : ['none was skipped']),
    ]
    console.log(`${parts.join('; ')}.`)
    for (const reason of this.#reasons) console.log(`Skipped: ${reason}.`)
  }
}
