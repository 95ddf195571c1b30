import type { ProofErrorCode } from './error-meanings.ts'

/**
 * What to do about an error.
 *
 * - `wait`: the same request may succeed later
 * - `change`: use another endpoint, or another answer
 * - `stop`: two sources contradict each other. Find out which of them is wrong
 * - `renew`: what you trust is too old. Get a new one
 * - `fix`: the program, or its configuration, is wrong
 * - `none`: nothing went wrong that could be mended
 */
export type ErrorAction = 'wait' | 'change' | 'stop' | 'renew' | 'fix' | 'none'

/** What {@link ProofError} and {@link ArgumentError} say about the place. */
export interface ErrorDetails {
  /** Where inside the answer or argument, e.g. `storageProofs[2].leftProof.proofRelatedNodes[17]`; empty for the whole. */
  path?: string | undefined
  /** What the check requires, in words. Not stable. */
  expected?: string | undefined
  /** What was there instead, shortened to fit a line. Not stable. */
  found?: string | undefined
}

/** Under this name, an error says what it is. Two copies of this package share it, but not their classes. */
const brand: unique symbol = /* @__PURE__ */ Symbol.for('rollup-state-proof/error')

export const brandError = (error: Error, name: string): Error => Object.defineProperty(error, brand, { value: name })

export function hasBrand(error: unknown, name: string): boolean {
  try {
    return Object(error)[brand] === name
  } catch {
    // A proxy may throw anything.
    return false
  }
}

/** A copy with the own fields alone: a polluted Object.prototype must not supply a missing one. */
export const own = <T extends object>(fields: T): T => Object.assign(Object.create(null), fields)

function messageOf(code: string, details: ErrorDetails): string {
  const { path, expected, found } = own(details)
  const reason = [expected && `expected ${expected}`, found && `found ${found}`].filter(Boolean).join(', ')
  // The message leaves out the meaning of the code, so that programs need not bundle all meanings with this class.
  return `${code}${path ? ` at ${path}` : ''}${reason && `: ${reason}`}`
}

/** Fills in the details of an error. Its class declares them, because a polluted Object.prototype may forbid new fields. */
function complete(error: Error, details: ErrorDetails): void {
  const { path = '', expected, found } = own(details)
  Object.assign(brandError(error, error.name), { path, expected, found })
}

/**
 * What was sent does not verify: verification throws this, and {@link ArgumentError} for the caller's own mistakes, and
 * nothing else. The message holds the code, the path and the details. Programs should test `code`, because the wording may
 * change. Recognize it with {@link isProofError}.
 *
 * @example
 * ```ts
 * import { ProofError } from 'rollup-state-proof'
 *
 * const error = new ProofError('KEY_MISMATCH', { path: 'accountProof.key' })
 * console.log(error.message, error.action) // KEY_MISMATCH at accountProof.key change
 * ```
 */
export class ProofError extends Error {
  /** Always `ProofError`. */
  override readonly name = 'ProofError'
  /** Which check failed. */
  readonly code: ProofErrorCode
  /** Get another answer, from another endpoint. */
  readonly action: 'change' = 'change'
  /** Where inside the answer, e.g. `storageProofs[2].leftProof.proofRelatedNodes[17]`; empty for the answer as a whole. */
  readonly path: string = ''
  /** What the check requires, in words. */
  readonly expected: string | undefined
  /** What was there instead, in words. */
  readonly found: string | undefined

  /**
   * For programs that add checks of their own under the same codes.
   *
   * @param code which check failed
   * @param details where, and what was expected and found
   */
  constructor(code: ProofErrorCode, details: ErrorDetails = {}) {
    super(messageOf(code, details))
    this.code = code
    complete(this, details)
  }
}

/**
 * One of the caller's own arguments is wrong: missing, misspelt, of the wrong type or length, or out of range. Nothing was
 * examined and no request sent. Recognize it with {@link isArgumentError}.
 *
 * @example
 * ```ts
 * import { ArgumentError } from 'rollup-state-proof'
 *
 * const error = new ArgumentError({ path: 'storageKeys[2]', found: '31 bytes' })
 * console.log(error.message, error.action) // ARGUMENT_INVALID at storageKeys[2]: found 31 bytes fix
 * ```
 */
export class ArgumentError extends Error {
  /** Always `ArgumentError`. */
  override readonly name = 'ArgumentError'
  /** Always `ARGUMENT_INVALID`. */
  readonly code = 'ARGUMENT_INVALID'
  /** Correct the program. */
  readonly action: 'fix' = 'fix'
  /** Which argument, e.g. `storageKeys[2]`. */
  readonly path: string = ''
  /** What is required, in words. */
  readonly expected: string | undefined
  /** What was there instead, in words; never its content, which may be a secret. */
  readonly found: string | undefined

  /** Thrown by this package; programs have no need to construct one. @param details which argument, and what was expected and found */
  constructor(details: ErrorDetails) {
    super(messageOf('ARGUMENT_INVALID', details))
    complete(this, details)
  }
}

/**
 * Whether an error says that something does not verify. Unlike `instanceof`, it also recognizes the errors of another copy of
 * this package, which bundlers and package managers may install.
 *
 * @param error anything that was thrown
 * @returns false for anything else. It never throws
 *
 * @example
 * ```ts
 * import { isProofError, verifyProof } from 'rollup-state-proof'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 *
 * const stateRoot = '0x2fa0344a2fab2b310d2af3155c330261263f887379aef18b4941e3ea1cc59df7'
 * const address = '0x0000000000000000000000000000000000000001'
 * try {
 *   verifyProof({}, { scheme: poseidon2, stateRoot, address, storageKeys: [] })
 * } catch (error) {
 *   if (isProofError(error)) console.log(error.code) // MALFORMED_RESPONSE
 * }
 * ```
 */
export const isProofError = (error: unknown): error is ProofError => hasBrand(error, 'ProofError')

/**
 * Whether an error says that one of the caller's own arguments is wrong, in any copy of this package.
 *
 * @param error anything that was thrown
 * @returns false for anything else. It never throws
 *
 * @example
 * ```ts
 * import { isArgumentError, slotKey } from 'rollup-state-proof'
 *
 * try {
 *   slotKey(-1n)
 * } catch (error) {
 *   if (isArgumentError(error)) console.log(error.code, error.path) // ARGUMENT_INVALID slot
 * }
 * ```
 */
export const isArgumentError = (error: unknown): error is ArgumentError => hasBrand(error, 'ArgumentError')

export type Refusal = ProofError | ArgumentError

export const isRefusal = (error: unknown): error is Refusal => isProofError(error) || isArgumentError(error)

/** The code with which a reader refuses. Each kind of document has its own; the caller's arguments have the last one. */
export type FailureCode = ProofErrorCode | 'ARGUMENT_INVALID'

export const failure = (code: FailureCode, details: ErrorDetails): Refusal =>
  code === 'ARGUMENT_INVALID' ? new ArgumentError(details) : new ProofError(code, details)

export const refusal = (code: ProofErrorCode, expected: string, found: string | number | bigint) =>
  new ProofError(code, { expected, found: `${found}` })

/** Runs `work`, and puts `segment` in front of the path of its error. If `segment` is a function, it is called only then. */
export function atPath<T>(segment: string | (() => string), work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isRefusal(error)) throw error
    const { code, path, expected, found } = error
    const place = typeof segment === 'string' ? segment : segment()
    throw failure(code, {
      path: place === '' || path === '' || path.startsWith('[') ? place + path : `${place}.${path}`,
      expected,
      found,
    })
  }
}

/** Names the kind of a value, without its content. JSON text and promises are what newcomers pass most. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  if (typeof value === 'string') return isJsonText(value) ? JSON_TEXT : 'a string'
  if (typeof value !== 'object') return `a ${typeof value}`
  if (ArrayBuffer.isView(value)) return 'bytes, not hexadecimal text'
  return isPromise(value) ? 'a promise: await it first' : 'an object'
}

const JSON_TEXT = 'JSON text: parse it first'
const isJsonText = (text: string): boolean => /^\s{0,9}[[{]/.test(text.slice(0, 10))

/** Whether it is a promise of this realm, which has no field of its own that could be missing. A proxy can throw anything. */
export function isPromise(value: object): boolean {
  try {
    return Reflect.getPrototypeOf(value) === Promise.prototype
  } catch {
    return false
  }
}

export const plural = (n: number | bigint, one: string, many = `${one}s`) => `${n} ${Number(n) === 1 ? one : many}`

/** The length of hexadecimal, and what may have been passed: arguments are easily swapped. */
export const describeLength = (bytes: number): string =>
  `${plural(bytes, 'byte')}${bytes === 20 ? ' (an address?)' : bytes === 32 ? ' (a hash?)' : ''}`

/** Describes text that is not hexadecimal, without its content: by what is missing, or by its length. */
export function describeText(text: string): string {
  const digits = text.startsWith('0x') ? text.length - 2 : text.length
  // The length comes first, so that a huge text costs nothing.
  const isDigits = digits >= 40 && digits <= 128 && /^(0x)?[0-9a-fA-F]+$/.test(text)
  if (isDigits && digits % 2 === 1) return 'an odd number of digits'
  if (isDigits) return `${describeLength(digits / 2)} without 0x`
  return isJsonText(text) ? JSON_TEXT : `a string of ${plural(text.length, 'character')}`
}

/** The beginning of untrusted text, without control characters. */
export const printable = (text: string): string => text.slice(0, 80).replace(/[^\x20-\x7e]/g, '?')

export const excerpt = (text: string): string =>
  text.length > 80 ? `"${printable(text)}…" (${text.length} characters)` : `"${printable(text)}"`
