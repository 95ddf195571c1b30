/**
 * A small state and a chain over it, for experiments and tests with `rollup-state-proof/service`.
 *
 * @module rollup-state-proof/service/demo
 */
export { addDemoBlocks, type DemoBlocksOptions, demoWorld } from '../../devnet/service/demo-chain.ts'
