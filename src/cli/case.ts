import { type Claim, type ProofError, type SafeVerifiedState, type Scheme, safeVerifyProof } from '../index.ts'
import { mimc } from '../mimc.ts'
import { poseidon2 } from '../poseidon2.ts'
import { UsageError } from './command.ts'
import { isObject, show } from './value.ts'

const schemes = new Map<unknown, Scheme>([
  ['mimc', mimc],
  ['poseidon2', poseidon2],
])

/** What was asked, unchecked: `verifyProof` is the judge. Undefined where nobody said it. */
export interface Stated {
  readonly scheme?: unknown
  readonly stateRoot?: unknown
  readonly address?: unknown
  readonly storageKeys?: unknown
}

type ClaimField = keyof Claim

/** Who said it: the user, the vector or recording, or, for want of both, the very answer that is verified. */
export type Source = 'flag' | 'file' | 'answer'

/** What a file holds. */
export interface Case {
  /** A vector has an `expected`, a recording is expected to verify, an answer is what an endpoint sent and no more. */
  readonly kind: 'valid' | 'invalid' | 'recording' | 'answer'
  readonly description: string
  readonly stated: Stated
  readonly answer: unknown
  readonly expected: Expected
}

/** The `expected` of a file, unchecked but for `valid` and `code`. */
export interface Expected {
  readonly valid?: unknown
  readonly code?: unknown
  readonly path?: unknown
  readonly account?: unknown
  readonly storage?: unknown
}

export interface Question {
  readonly claim: Claim
  readonly sources: Readonly<Record<ClaimField, Source>>
}

/** @throws UsageError when it looks like a vector but is none */
export function readCase(content: unknown): Case {
  // Something that calls itself a JSON-RPC response came from an endpoint: whatever else it says is not the user's word.
  if (!isObject(content) || Object.hasOwn(content, 'jsonrpc') || !Object.hasOwn(content, 'scheme')) {
    return { kind: 'answer', description: '', stated: {}, answer: content, expected: {} }
  }
  const { description, scheme, stateRoot, address, storageKeys, answer, result, expected } = content
  const common = {
    description: typeof description === 'string' ? description : '',
    stated: { scheme, stateRoot, address, storageKeys },
  }
  if (!Object.hasOwn(content, 'answer')) {
    if (!Object.hasOwn(content, 'result')) throw new UsageError('it has a scheme, but neither an answer nor a result')
    return { ...common, kind: 'recording', answer: result, expected: { valid: true } }
  }
  return { ...common, ...readExpected(expected), answer }
}

/** @throws UsageError when it does not say what a vector must say */
export function readExpected(expected: unknown): { kind: 'valid' | 'invalid'; expected: Expected } {
  const expectation: Expected = isObject(expected) ? expected : {}
  const { valid, code } = expectation
  if (typeof valid !== 'boolean') throw new UsageError('it is no vector: expected.valid is neither true nor false')
  if (!valid && typeof code !== 'string') throw new UsageError('it is no vector: expected.code is missing')
  return { kind: valid ? 'valid' : 'invalid', expected: expectation }
}

/** @throws UsageError */
export function schemeNamed(name: unknown): Scheme {
  if (name === undefined) {
    throw new UsageError('--scheme is needed: mimc or poseidon2, whichever the rollup used at that block')
  }
  const scheme = schemes.get(name)
  if (scheme === undefined) throw new UsageError(`the scheme is neither mimc nor poseidon2: ${show(name)}`)
  return scheme
}

/** Puts the claim together: a flag wins over the file, and the answer itself is asked last. */
export function completeClaim(flags: Stated, { stated, answer }: Case): Question {
  const pick = (name: ClaimField, fromAnswer: () => unknown): { value: unknown; source: Source } => {
    if (flags[name] !== undefined) return { value: flags[name], source: 'flag' }
    const value = stated[name]
    return value === undefined || value === null ? { value: fromAnswer(), source: 'answer' } : { value, source: 'file' }
  }
  const name = pick('scheme', () => undefined)
  const scheme = schemeNamed(name.value)
  const stateRoot = pick('stateRoot', () => {
    throw new UsageError('--state-root is needed: the root you trust, 32 bytes, from the rollup contract on L1')
  })
  const address = pick('address', () => addressIn(answer))
  const storageKeys = pick('storageKeys', () => storageKeysIn(answer))
  return {
    // Unchecked, whatever the type says: verifyProof refuses a wrong claim with CLAIM_INVALID.
    claim: {
      scheme,
      stateRoot: stateRoot.value,
      address: address.value,
      storageKeys: storageKeys.value,
    } as Claim,
    sources: {
      scheme: name.source,
      stateRoot: stateRoot.source,
      address: address.source,
      storageKeys: storageKeys.source,
    },
  }
}

/** The claim without what came from the answer: of an answer that is no good, nothing is worth repeating. */
export function statedClaim({ claim, sources }: Question): Stated {
  const { scheme, stateRoot, address, storageKeys } = claim
  return {
    scheme: scheme.name,
    stateRoot,
    ...(sources.address !== 'answer' && { address }),
    ...(sources.storageKeys !== 'answer' && { storageKeys }),
  }
}

const isHexOf = (length: number, value: unknown): value is string =>
  typeof value === 'string' && new RegExp(`^0x[0-9a-fA-F]{${2 * length}}$`).test(value)

/** The result inside a JSON-RPC response, or the answer itself when it is bare. */
function resultIn(answer: unknown): { readonly accountProof?: unknown; readonly storageProofs?: unknown } {
  const { result } = isObject(answer) ? answer : {}
  const bare = result ?? answer
  return isObject(bare) ? bare : {}
}

function keyIn(leafProof: unknown): unknown {
  const { key } = isObject(leafProof) ? leafProof : {}
  return key
}

export function storageProofsIn(answer: unknown): readonly unknown[] {
  const { storageProofs } = resultIn(answer)
  return Array.isArray(storageProofs) ? storageProofs : []
}

function addressIn(answer: unknown): string {
  const { accountProof } = resultIn(answer)
  const key = keyIn(accountProof)
  // Without a readable key any address will do: the answer is decoded, and refused, before the keys are compared.
  return isHexOf(20, key) ? key : `0x${'00'.repeat(20)}`
}

function storageKeysIn(answer: unknown): string[] {
  return storageProofsIn(answer).map((proof, index) => {
    const key = keyIn(proof)
    if (isHexOf(32, key)) return key
    throw new UsageError(`storageProofs[${index}] names no storage key: state what you asked for with --storage-key`)
  })
}

/** Verifies the answer. @throws UsageError when it is a flag that is wrong, and not what a file says */
export function verifyCase({ answer }: Case, { claim, sources }: Question): SafeVerifiedState {
  const outcome = safeVerifyProof(answer, claim)
  if (!outcome.ok && outcome.error.code === 'CLAIM_INVALID') {
    const { path, expected } = outcome.error
    for (const [name, flag] of Object.entries(flagNames)) {
      if (path.startsWith(name) && sources[name as keyof typeof flagNames] === 'flag') {
        throw new UsageError(`${flag}: expected ${expected}`)
      }
    }
  }
  return outcome
}

const flagNames = { stateRoot: '--state-root', address: '--address', storageKeys: '--storage-key' } as const

/** How the outcome differs from what the file expects; nothing when it is as expected. */
export function compareWithExpected({ kind, expected }: Case, outcome: SafeVerifiedState): string[] {
  if (!outcome.ok) return compareRefusal(expected, outcome.error)
  const { account, storage } = outcome
  return compareFields(expected, kind === 'valid' ? { account, storage } : {})
}

/** How a verdict "valid", with these fields, differs from what the file expects. */
export function compareFields({ valid, code, ...expected }: Expected, found: object): string[] {
  if (valid === false) return [`expected ${code}, but it verified`]
  return Object.entries(found).flatMap(([name, value]) => differences(name, Reflect.get(expected, name), value))
}

/** How a verdict "invalid" differs from what the file expects. */
export function compareRefusal({ valid, code: wanted, path: wantedPath }: Expected, { code, path }: ProofError) {
  if (valid !== false) return [`expected to verify, got ${placed(code, path)}`]
  const isAsExpected = code === wanted && (wantedPath === undefined || wantedPath === path)
  return isAsExpected ? [] : [`expected ${placed(wanted, wantedPath)}, got ${placed(code, path)}`]
}

const placed = (code: unknown, path: unknown): string => (path ? `${code} at ${show(path)}` : `${code}`)

/** Field by field, along the shape of `found`, which is ours: `expected` comes from a file and can be anything. */
function differences(path: string, expected: unknown, found: unknown): string[] {
  if (typeof found === 'object' && found !== null && typeof expected === 'object' && expected !== null) {
    const pairs = { ...expected, ...found }
    return Object.keys(pairs).flatMap(name =>
      differences(`${path}.${name}`, Reflect.get(expected, name), Reflect.get(found, name)),
    )
  }
  // A JSON number cannot hold every bigint: vectors write decimal strings.
  const plain = typeof found === 'bigint' ? found.toString() : found
  return plain === expected ? [] : [`${path}: expected ${show(expected)}, got ${show(plain)}`]
}
