import { refusedFor } from './error.ts'

/** The optional peer dependencies. */
export type EvmPackages = Awaited<ReturnType<typeof loadEvm>>

/** Imports the packages on first use, because only calls need them. @throws ProviderError `EVM_MISSING` */
export async function loadEvm() {
  try {
    const [evm, common, util] = await Promise.all([
      import('@ethereumjs/evm'),
      import('@ethereumjs/common'),
      import('@ethereumjs/util'),
    ])
    return { evm, common, util }
  } catch (error) {
    throw refusedFor('EVM_MISSING', { cause: error instanceof Error ? error : undefined })
  }
}
