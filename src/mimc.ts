export { mimc } from './scheme/mimc.ts'
