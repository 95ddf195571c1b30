/**
 * The endpoint itself, embedded: a chain of in-memory states that is finalized on a simulated L1. For devnets and tests;
 * needs Node (`node:http`).
 *
 * @module rollup-state-proof/service
 */
export type { Chain } from './service/chain.ts'
export { addDemoBlocks, demoWorld, readGenesis } from './service/genesis.ts'
export { createService, type Service, type ServiceOptions } from './service/service.ts'
export type { SimulatedL1 } from './service/simulated-l1.ts'
