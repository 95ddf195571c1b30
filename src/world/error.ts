/** What can be wrong with a call to a world. */
export type WorldErrorCode = 'ACCOUNT_MISSING' | 'ARGUMENT_INVALID' | 'OUT_OF_RANGE' | 'TREE_FULL'

/**
 * A call that the world cannot carry out. The state is unchanged.
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createWorld, WorldError } from 'rollup-state-proof/world'
 *
 * try {
 *   createWorld(poseidon2).deleteAccount('0x00000000000000000000000000000000000000aa')
 * } catch (error) {
 *   if (error instanceof WorldError) console.log(error.code) // ACCOUNT_MISSING
 * }
 * ```
 */
export class WorldError extends Error {
  /** Always `WorldError`. */
  override readonly name = 'WorldError'
  /** What is wrong with the call. */
  readonly code: WorldErrorCode

  /**
   * Thrown by worlds; programs have no need to construct one.
   *
   * @param code what is wrong with the call
   * @param message for people
   */
  constructor(code: WorldErrorCode, message: string) {
    super(`${code}: ${message}`)
    this.code = code
  }
}
