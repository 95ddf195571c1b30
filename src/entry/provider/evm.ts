/**
 * Puts the EVM into a program that a bundler builds, if the program makes calls: `import 'rollup-state-proof/provider/evm'`. It
 * exports nothing. Where no bundler is at work, the provider finds the packages by itself.
 *
 * @module rollup-state-proof/provider/evm
 */
import { provideEvm } from '../../provider/evm-packages.ts'

provideEvm(async () => {
  const packages = [import('@ethereumjs/evm'), import('@ethereumjs/common'), import('@ethereumjs/util')] as const
  const [evm, common, util] = await Promise.all(packages)
  return { evm, common, util }
})
