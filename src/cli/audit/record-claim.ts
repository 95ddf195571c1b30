import { decodeArgument, invalid, readKeys } from '../../base/arguments.ts'
import type { Hex } from '../../base/bytes.ts'
import { readOptions, unlessLeft } from '../../base/options.ts'
import type { Rollup } from '../../verify/anchor/rollup.ts'
import { type DecodedStateClaim, decodeStateClaim } from '../../verify/evidence/kinds/state.ts'
import type { Trusted } from '../../verify/evidence/types.ts'
import { poseidon2 } from '../../verify/scheme/poseidon2.ts'
import type { KindName } from '../../verify/state/types.ts'
import { kindNamed, kindNames } from '../words/answer.ts'

/**
 * What you know about all records: about answers, about evidence bundles, or about both. It overrides what a record says.
 * Where you write `'fromRecord'`, whoever made a record chooses: check the value that its verdict names.
 */
export type RecordClaim = {
  /** The kind of every record's state; or `'fromRecord'`. */
  scheme: KindName | 'fromRecord'
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

/** A validated copy of a {@link RecordClaim}, so that nobody changes it between two records. What is left to them is undefined. */
export type DecodedRecordClaim = ReturnType<typeof readRecordClaim>

const FIELDS = ['scheme', 'stateRoot', 'address', 'storageKeys', 'rollup', 'trusted']

/** @throws ArgumentError */
export function readRecordClaim(claim: RecordClaim) {
  const { scheme, stateRoot, address, storageKeys, rollup, trusted } = readOptions('', claim, FIELDS)
  const about = {
    scheme: stated('scheme', scheme, requireScheme),
    address: stated('address', address, hexOf('address', 20)),
    storageKeys: stated('storageKeys', storageKeys, keys => readKeys(keys).map(({ text }) => text)),
  }
  const isForBundles = rollup !== undefined || trusted !== undefined
  const isForAnswers = !isForBundles || stateRoot !== undefined
  return {
    ...about,
    /** For answers; null if they are not to be judged. */
    root: isForAnswers ? { stateRoot: stated('stateRoot', stateRoot, hexOf('stateRoot', 32)) } : null,
    /** For bundles; null if they are not to be judged. */
    anchor: isForBundles ? readAnchor(rollup, trusted, about) : null,
  }
}

/** @returns undefined if it is left to the record */
const stated = <T>(path: string, value: T | 'fromRecord' | undefined, read: (value: T) => T): T | undefined =>
  unlessLeft('fromRecord', path, value, read)

function requireScheme(name: KindName): KindName {
  if (kindNamed(name) === undefined) throw invalid('scheme', `one of ${[...kindNames, 'fromRecord'].join(', ')}`, name)
  return name
}

const hexOf = (path: string, length: number) => (hex: Hex) => {
  decodeArgument(path, hex, length)
  return hex
}

/** @throws ArgumentError here and once, because each bundle would be refused otherwise */
function readAnchor(
  rollup: Rollup | undefined,
  trusted: Trusted | undefined,
  about: { readonly address: Hex | undefined; readonly storageKeys: readonly Hex[] | undefined },
): DecodedStateClaim {
  // Despite the type, either may be missing: this refuses it.
  const anchor = { rollup, trusted } as { rollup: Rollup; trusted: Trusted }
  // The scheme is that of each bundle, if the caller states none.
  return decodeStateClaim({
    ...{ scheme: poseidon2, ...anchor, l2BlockNumber: 'fromBundle' },
    ...{ address: about.address ?? 'fromBundle', storageKeys: about.storageKeys ?? 'fromBundle' },
  })
}
