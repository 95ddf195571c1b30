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
 * import { createVerifier } from 'rollup-state-proof'
 * import { mimc } from 'rollup-state-proof/mimc'
 *
 * console.log(mimc.name, Object.keys(createVerifier(mimc)).join()) // mimc verifyProof
 * ```
 */
export const mimc: Scheme = scheme
