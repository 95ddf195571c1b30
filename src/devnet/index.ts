/**
 * A devnet in this process, for experiments and tests: a state in memory that builds the trees of the rollup, and a service
 * over a chain of such states, finalized on a simulated L1 with a consensus layer. It never calls the verifier. Needs Node
 * (`node:http`).
 *
 * @module rollup-state-proof-devnet
 */
export type { SimulatedBeacon } from './service/beacon.ts'
export type { ServiceChain, ServiceChainOptions } from './service/chain.ts'
export type { ChainTransaction } from './service/content.ts'
export type { Finalization } from './service/contract.ts'
export { addDemoBlocks, demoWorld } from './service/demo-chain.ts'
export type { Fault, FaultFunction, FaultRequest } from './service/handler.ts'
export type { MessageContent, ServiceMessages } from './service/messages.ts'
export { createService, type Service, type ServiceOptions } from './service/service.ts'
export type { L1Options, SimulatedL1 } from './service/simulated-l1.ts'
export type { AccountChanges } from './world/account.ts'
export type { BlockAccess, Trace } from './world/block.ts'
export { type AccountState, createWorld, type World } from './world/world.ts'
