/**
 * The endpoint itself, embedded: a chain of in-memory states that is finalized on a simulated L1. For devnets and tests;
 * needs Node (`node:http`).
 *
 * @module rollup-state-proof/service
 */
export type { Chain } from './rpc/service/chain.ts'
export { addDemoBlocks, demoWorld, readGenesis } from './rpc/service/genesis.ts'
export type { SimulatedL1 } from './rpc/service/l1.ts'
export { createService, type Service, type ServiceOptions } from './rpc/service/service.ts'
