/**
 * The hash scheme of the Linea networks until spring 2026. A separate entry point, so that a program that needs only the
 * other scheme does not carry this one's kernel.
 *
 * @module rollup-state-proof/mimc
 */
export { mimc } from './scheme/mimc.ts'
