import { refusedFor } from './error.ts'

/** The optional peer dependencies. */
export interface EvmPackages {
  readonly evm: typeof import('@ethereumjs/evm')
  readonly common: typeof import('@ethereumjs/common')
  readonly util: typeof import('@ethereumjs/util')
}

const EVM = '@ethereumjs/evm'
const COMMON = '@ethereumjs/common'
const UTIL = '@ethereumjs/util'

let bundled: (() => Promise<EvmPackages>) | undefined

/** For `./evm.ts`, which bundlers follow to the packages. */
export function provideEvm(load: () => Promise<EvmPackages>): void {
  bundled = load
}

/** Imports the packages on first use, because only calls need them. @throws ProviderError `EVM_MISSING` */
export async function loadEvm(): Promise<EvmPackages> {
  try {
    if (bundled !== undefined) return await bundled()
    // Bundlers fail or warn if packages are missing. Rollup overlooks names in constants, the comments are for others, and Metro
    // lets imports fail that stand in a `try` block.
    return {
      evm: await import(/* webpackIgnore: true */ /* @vite-ignore */ EVM),
      common: await import(/* webpackIgnore: true */ /* @vite-ignore */ COMMON),
      util: await import(/* webpackIgnore: true */ /* @vite-ignore */ UTIL),
    }
  } catch (error) {
    throw refusedFor('EVM_MISSING', { cause: error instanceof Error ? error : undefined })
  }
}
