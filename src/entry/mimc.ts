/**
 * The hash scheme of the Linea networks until spring 2026. A separate entry point, so that a program that needs only the
 * other scheme does not carry this one's kernel.
 *
 * @module rollup-state-proof/mimc
 */

import { mimc as scheme } from '../verify/scheme/mimc.ts'
import type { Scheme } from '../verify/scheme/scheme.ts'

/**
 * MiMC over the scalar field of BLS12-377: Linea mainnet until about 2026-04-01, Sepolia until about 2026-03-24.
 * A digest is one field element of 32 bytes.
 *
 * @example
 * ```ts
 * import { hashAccountKey } from 'rollup-state-proof'
 * import { mimc } from 'rollup-state-proof/mimc'
 *
 * const address = '0x0000000000000000000000000000000000000000'
 * console.log(mimc.name, hashAccountKey(mimc, address).length) // mimc 66
 * ```
 */
export const mimc: Scheme = scheme

export type { Scheme }
