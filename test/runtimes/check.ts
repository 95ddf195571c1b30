import type { Case, Tally } from './corpus.ts'

/** What one runtime made of the corpus. */
export interface Report extends Tally {
  /**
   * `used`: the kernels of both hashes were started. `refused`: both were asked for, and the runtime compiled none.
   * `missing`: there is no WebAssembly. The verdicts of the last two come from the fallback. Anything else is a mistake.
   */
  readonly webAssembly: string
  readonly seconds: number
}

/**
 * Loads the package, and watches from outside what does the hashing. Import nothing of the package before.
 *
 * @returns what runs the corpus
 */
export async function loadCheck(): Promise<(cases: readonly Case[]) => Report> {
  const webAssembly = watchWebAssembly()
  const { runCorpus } = await import('./corpus.ts')
  return cases => {
    const start = performance.now()
    const tally = runCorpus(cases)
    return { ...tally, webAssembly: webAssembly(), seconds: (performance.now() - start) / 1000 }
  }
}

type Constructor = new (argument: object) => object

/** Replaces the two constructors that the package uses by ones that count. */
function watchWebAssembly(): () => string {
  const theirs: { Module: Constructor; Instance: Constructor } | undefined = Reflect.get(globalThis, 'WebAssembly')
  if (theirs === undefined) return () => 'missing'
  const counts = { asked: 0, started: 0 }
  class Module extends theirs.Module {
    constructor(binary: object) {
      counts.asked++
      super(binary)
    }
  }
  class Instance extends theirs.Instance {
    constructor(module: object) {
      super(module)
      counts.started++
    }
  }
  Reflect.set(globalThis, 'WebAssembly', { Module, Instance })
  return () => {
    if (counts.asked === 2 && counts.started === 2) return 'used'
    if (counts.asked === 2 && counts.started === 0) return 'refused'
    return `${counts.asked} asked for, ${counts.started} started`
  }
}
