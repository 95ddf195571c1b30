export { poseidon2 } from './scheme/poseidon2.ts'
