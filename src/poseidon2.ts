/**
 * The hash scheme of the Linea networks since spring 2026. A separate entry point, so that a program that needs only the
 * other scheme does not carry this one's kernel.
 *
 * @module rollup-state-proof/poseidon2
 */
export { poseidon2 } from './scheme/poseidon2.ts'
