/**
 * An embeddable endpoint for devnets and tests: a chain of in-memory states, finalized on a simulated L1 with a consensus
 * layer. Needs Node (`node:http`).
 *
 * @module rollup-state-proof/service
 */
export type { SimulatedBeacon } from './service/beacon.ts'
export type { ServiceChain, ServiceChainOptions } from './service/chain.ts'
export type { BeaconAnswer } from './service/consensus.ts'
export type { ChainLog, ChainTransaction } from './service/content.ts'
export type { ContractVersion, Finalization } from './service/contract.ts'
export type { Fault, FaultFunction, FaultRequest } from './service/faults.ts'
export type { MessageContent, ServiceMessages } from './service/messages.ts'
export type {
  AccessListBlock,
  AccessListCall,
  AccessListFunction,
  AccessListResult,
} from './service/methods/access-list.ts'
export type { ServiceOptions } from './service/options.ts'
export { type CloseOptions, createService, type Service } from './service/service.ts'
export type { L1Options, SimulatedL1 } from './service/simulated-l1.ts'
