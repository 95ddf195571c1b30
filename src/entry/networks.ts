/**
 * The networks that the package knows, each as one object: what recorders, followers and providers have to know of a rollup and its
 * L1. Programs that only verify do not need it: it holds the kernel of `poseidon2`.
 *
 * @module rollup-state-proof/networks
 */
export * from '../client/network/linea.ts'
export type { Network } from '../client/network/network.ts'
