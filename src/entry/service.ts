/**
 * An embeddable endpoint for devnets and tests: a chain of in-memory states, finalized on a simulated L1 with a consensus
 * layer. Needs Node (`node:http`).
 *
 * @module rollup-state-proof/service
 */
export type { SimulatedBeacon } from '../devnet/service/beacon.ts'
export type { ServiceChain, ServiceChainOptions } from '../devnet/service/chain.ts'
export type { BeaconAnswer } from '../devnet/service/consensus.ts'
export type { ChainLog, ChainTransaction } from '../devnet/service/content.ts'
export type { ContractVersion, Finalization } from '../devnet/service/contract.ts'
export type { Fault, FaultFunction, FaultRequest } from '../devnet/service/faults.ts'
export type { MessageContent, ServiceMessages } from '../devnet/service/messages.ts'
export type {
  AccessListBlock,
  AccessListCall,
  AccessListFunction,
  AccessListResult,
} from '../devnet/service/methods/access-list.ts'
export type { ServiceOptions } from '../devnet/service/options.ts'
export { type CloseOptions, createService, type Service } from '../devnet/service/service.ts'
export type { L1Options, SimulatedL1 } from '../devnet/service/simulated-l1.ts'
