import type { Rollup } from '../../anchor/rollup.ts'
import { decodeArgument, decodeKeys, invalid, readOptions } from '../../arguments.ts'
import type { Hex } from '../../bytes.ts'
import { schemeNamed } from '../../document/answer.ts'
import { decodeClaim } from '../../evidence/claim.ts'
import type { Trusted } from '../../evidence/types.ts'
import { poseidon2 } from '../../scheme/poseidon2.ts'
import type { Scheme } from '../../scheme/scheme.ts'

/**
 * What you state about all records: about answers, about evidence bundles, or about both. It overrides what a record says.
 * Where you write `'fromRecord'`, whoever made a record chooses: check the value that its verdict names.
 */
export type RecordClaim = {
  /** The hash scheme of every record; or `'fromRecord'`. */
  scheme: Scheme['name'] | 'fromRecord'
  /** The address that every record is for, 20 bytes; or `'fromRecord'`. */
  address: Hex | 'fromRecord'
  /** The storage keys that every record is for, 32 bytes each; or `'fromRecord'`. */
  storageKeys: readonly Hex[] | 'fromRecord'
} & (
  | {
      /** The trusted L2 state root of every answer, 32 bytes; or `'fromRecord'`: nothing proves it then. */
      stateRoot: Hex | 'fromRecord'
      /** Without it, evidence bundles are unreadable. */
      rollup?: undefined
      /** Without it, evidence bundles are unreadable. */
      trusted?: undefined
    }
  | {
      /** The contract whose roots you trust. */
      rollup: Rollup
      /** The one value that everything in a bundle is proven from. */
      trusted: Trusted
      /** The trusted L2 state root of every answer, 32 bytes; or `'fromRecord'`. Without it, answers are unreadable. */
      stateRoot?: Hex | 'fromRecord' | undefined
    }
)

/** A validated {@link RecordClaim}. What is left to the record is undefined. */
export type DecodedRecordClaim = ReturnType<typeof readRecordClaim>

const FIELDS = ['scheme', 'stateRoot', 'address', 'storageKeys', 'rollup', 'trusted']

/** @throws ArgumentError */
export function readRecordClaim(claim: RecordClaim) {
  const { scheme, stateRoot, address, storageKeys, rollup, trusted } = readOptions('', claim, FIELDS)
  const isForBundles = rollup !== undefined || trusted !== undefined
  const isForAnswers = !isForBundles || stateRoot !== undefined
  return {
    scheme: stated('scheme', scheme, requireScheme),
    address: stated('address', address, hex => decodeArgument('address', hex, 20)),
    storageKeys: stated('storageKeys', storageKeys, keys => decodeKeys(keys)),
    /** For answers; null if they are not to be judged. */
    root: isForAnswers
      ? { stateRoot: stated('stateRoot', stateRoot, root => decodeArgument('stateRoot', root, 32)) }
      : null,
    /** For bundles; null if they are not to be judged. */
    anchor: isForBundles ? readAnchor(rollup, trusted) : null,
  }
}

/** @returns undefined if it is left to the record */
function stated<T>(path: string, value: T | 'fromRecord' | undefined, verify: (value: T) => void): T | undefined {
  if (value === 'fromRecord') return undefined
  if (value === undefined) throw invalid(path, "a value, or 'fromRecord'", value)
  verify(value)
  return value
}

function requireScheme(name: string): void {
  if (schemeNamed(name) === undefined) throw invalid('scheme', "'mimc', 'poseidon2' or 'fromRecord'", name)
}

/** @throws ArgumentError here and once, because each bundle would be refused otherwise */
function readAnchor(rollup: Rollup | undefined, trusted: Trusted | undefined) {
  // Despite the type, either may be missing: this refuses it.
  const anchor = { rollup, trusted } as { rollup: Rollup; trusted: Trusted }
  const left = { l2BlockNumber: 'fromBundle', address: 'fromBundle', storageKeys: 'fromBundle' } as const
  decodeClaim({ scheme: poseidon2, ...anchor, ...left })
  return anchor
}
