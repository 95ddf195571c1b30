/**
 * The hash scheme of the Linea networks since spring 2026. A separate entry point, so that a program that needs only the
 * other scheme does not carry this one's kernel.
 *
 * @module rollup-state-proof/poseidon2
 */

import { poseidon2 as scheme } from '../verify/scheme/poseidon2.ts'
import type { Scheme } from '../verify/scheme/scheme.ts'

/**
 * Poseidon2 over KoalaBear: the Linea networks since the "small fields" upgrade of spring 2026.
 * A digest is eight field elements of 4 bytes.
 *
 * @example
 * ```ts
 * import { createVerifier } from 'rollup-state-proof'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 *
 * console.log(poseidon2.name, Object.keys(createVerifier(poseidon2)).join()) // poseidon2 verifyProof
 * ```
 */
export const poseidon2: Scheme = scheme
