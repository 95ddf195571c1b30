import type { FailureCode } from '../../../src/base/errors.ts'
import type { Flag } from '../../vector.ts'
import type { Truth } from '../truth.ts'
import type { VectorInput } from '../vector.ts'

/** A row in the table of a class: a wrong input, and the verdict that a verifier must give. */
export interface Forgery {
  /** The name of the file. */
  name: string
  code: FailureCode
  flag: Flag
  description: string
  input: VectorInput
}

/** All forgeries of one link of the chain from L1 to the answer. */
export type ForgeryClass = (truth: Truth) => Forgery[] | Promise<Forgery[]>

/** Hex with its last bit changed. */
export const flipLast = (hex: string): string => `${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}`
