import type { Case, Tally } from './corpus.ts'

/** Those of Keccak and of the two schemes. */
const KERNELS = 3

/** The result of the corpus in one runtime. */
export interface Report extends Tally {
  /**
   * `used`: the kernels of both hashes were compiled and instantiated. `loaded`: both were instantiated, and the runtime had
   * compiled them. `refused`: the runtime compiled neither. `missing`: the runtime has no WebAssembly. In the last two cases
   * the fallback does the hashing. Any other value is an error.
   */
  readonly webAssembly: string
  readonly seconds: number
}

/**
 * Loads the package, and observes its use of WebAssembly. Call this before importing anything from the package.
 *
 * @returns a function that runs the corpus
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

/** Replaces the two WebAssembly constructors that the package uses with ones that count calls. */
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
    if (counts.asked === KERNELS && counts.started === KERNELS) return 'used'
    if (counts.asked === 0 && counts.started === KERNELS) return 'loaded'
    if (counts.asked === KERNELS && counts.started === 0) return 'refused'
    return `${counts.asked} asked for, ${counts.started} started`
  }
}
