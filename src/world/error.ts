/** What can be wrong with a call to a world, beside hexadecimal that is none. */
export type WorldErrorCode = 'ACCOUNT_MISSING' | 'OUT_OF_RANGE' | 'TREE_FULL'

/** A write that the state cannot take. Nothing was changed. */
export class WorldError extends Error {
  override readonly name = 'WorldError'
  readonly code: WorldErrorCode

  constructor(code: WorldErrorCode, message: string) {
    super(`${code}: ${message}`)
    this.code = code
  }
}
