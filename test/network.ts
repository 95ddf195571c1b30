import { expect } from 'vitest'
import type { Rollup } from '../src/entry/anchor.ts'
import type { Hex } from '../src/entry/index.ts'
import type { Network } from '../src/entry/networks.ts'

/** The parts of a network, as the claims of verifiers have them. */
export interface Parts {
  rollup?: Rollup | undefined
  scheme?: Network['scheme'] | undefined
  messageService?: Hex | undefined
  chainId?: number | bigint | undefined
  hardfork?: Network['hardfork']
}

/** The options of what records or follows, with the parts of its network: tests share them with what they verify. */
export type InParts<Options> = Omit<Options, 'network'> & Parts

/** The parts as one network. */
export function withNetwork<const T extends object>(
  options: T & Parts,
): Omit<T, keyof Parts | 'network'> & { network: Network } {
  // A test may pass what are no options at all.
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return options as never
  const { rollup, scheme, messageService, chainId, hardfork, ...rest } = options
  const contract = chainId === undefined ? rollup : { ...rollup, chainId }
  // A test may leave out a part, or pass a wrong one.
  const network = {
    rollup: contract,
    scheme,
    ...(messageService && { messageService }),
    ...(hardfork && { hardfork }),
  } as Network
  return { ...rest, network } as Omit<T, keyof Parts | 'network'> & { network: Network }
}

/** The place of a wrong option, which may be a part of the network. */
export const asOfNetwork = (path: string): string =>
  expect.stringMatching(new RegExp(`^(network\\.)?(rollup\\.)?${path.replaceAll(/[.[\]]/g, '\\$&')}(\\.|$)`))
