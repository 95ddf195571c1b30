import { invalid } from '../../base/arguments.ts'
import type { Hex } from '../../base/bytes.ts'
import { atPath } from '../../base/errors.ts'
import { readHex, readOptions } from '../../base/options.ts'
import { type Rollup, readRollup, readText, verifyHasHashes } from '../../verify/anchor/rollup.ts'
import type { BeaconNetwork } from '../../verify/beacon/network.ts'
import type { Scheme } from '../../verify/scheme/scheme.ts'
import { type StateScheme, stateKind } from '../../verify/state/kind.ts'

export const HARDFORKS = ['london', 'paris', 'shanghai', 'cancun', 'prague', 'osaka'] as const
export type Hardfork = (typeof HARDFORKS)[number]
/** Linea has run it since 28 October 2025. */
export const DEFAULT_HARDFORK: Hardfork = 'prague'

export function verifyHardfork(hardfork: Hardfork): Hardfork {
  if (HARDFORKS.includes(hardfork)) return hardfork
  throw invalid('hardfork', `one of ${HARDFORKS.join(', ')}`, hardfork)
}

export const isSince = (first: Hardfork, hardfork: Hardfork): boolean =>
  HARDFORKS.indexOf(hardfork) >= HARDFORKS.indexOf(first)

/** A rollup and the L1 on which it is finalized: all that clients have to know of them. */
export interface Network {
  /** A label for people, such as `linea`. It proves nothing. */
  name?: string | undefined
  /** Its contract on L1, whose roots and hashes you trust; the chain ids; the method that serves proofs. */
  rollup: Rollup
  /**
   * The hash scheme of its state roots. Where L1 holds the hash of a block in place of a root, its state is one of Ethereum, whatever
   * this says. With the name of that kind, L1 has to hold hashes, and no root is believed.
   */
  scheme: StateScheme
  /** The message service on L2, 20 bytes: for messages. */
  messageService?: Hex | undefined
  /**
   * The hard fork of the rollup: the instructions of calls, and their gas costs. Default: `prague`, on Linea since 28 October 2025.
   * State a later one as soon as the rollup runs it.
   */
  hardfork?: Hardfork | undefined
  /** The consensus layer of L1: for `trustBeaconBlock`. */
  beacon?: BeaconNetwork | undefined
}

/** A network of which all is known. */
export interface KnownNetwork extends Network {
  name: string
  scheme: Scheme
  messageService: Hex
  beacon: BeaconNetwork
}

const KNOWN = "an object of 'rollup-state-proof/networks', such as lineaMainnet, or { rollup, scheme } of your own"

/** What the caller's argument `network` says. @throws ArgumentError */
export function readNetwork(network: Network) {
  if (typeof network !== 'object' || network === null) throw invalid('network', KNOWN, network)
  return atPath('network', () => {
    const own = readOptions('', network, ['name', 'rollup', 'scheme', 'messageService', 'hardfork', 'beacon'])
    const { scheme, messageService, hardfork = DEFAULT_HARDFORK } = own
    readText('name', own.name)
    const rollup = readRollup(own.rollup)
    if (stateKind(scheme).held === 'blockHash') verifyHasHashes(rollup.layout)
    return {
      rollup,
      hardfork: verifyHardfork(hardfork),
      scheme,
      messageService: messageService && readHex('messageService', messageService, 20),
    }
  })
}

export function serviceOf({ messageService }: ReturnType<typeof readNetwork>): Hex {
  if (messageService !== undefined) return messageService
  throw invalid('network.messageService', 'the message service on L2, 20 bytes', messageService)
}
