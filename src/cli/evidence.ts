import {
  type EvidenceClaim,
  lineaLayout,
  lineaMainnet,
  lineaSepolia,
  type Rollup,
  type Trusted,
  type VerifiedEvidence,
  verifyEvidence,
} from '../anchor.ts'
import { ProofError } from '../index.ts'
import { schemeNamed } from './case.ts'
import { UsageError } from './command.ts'
import { isObject } from './value.ts'

/** The options that only an evidence bundle has; those that it shares with an answer are in the command. */
export const evidenceOptions = {
  'l1-block-hash': { type: 'string' },
  'l1-state-root': { type: 'string' },
  rollup: { type: 'string' },
  'l2-block': { type: 'string' },
  'layout-roots-slot': { type: 'string' },
  'layout-current-slot': { type: 'string' },
} as const

export interface EvidenceFlags extends Readonly<Partial<Record<keyof typeof evidenceOptions, string>>> {
  readonly scheme?: string
  readonly 'state-root'?: string
  readonly address?: string
  readonly 'storage-key'?: readonly string[]
}

export const isBundle = (content: unknown): boolean =>
  isObject(content) && ['version', 'rollup', 'request', 'answer'].every(name => Object.hasOwn(content, name))

export type EvidenceOutcome = { ok: true; evidence: VerifiedEvidence } | { ok: false; error: ProofError }

/** {@link verifyEvidence} for those who rather look at `ok` than catch. */
export function safeVerifyEvidence(bundle: unknown, claim: EvidenceClaim): EvidenceOutcome {
  try {
    return { ok: true, evidence: verifyEvidence(bundle, claim) }
  } catch (error) {
    if (error instanceof ProofError) return { ok: false, error }
    throw error
  }
}

/** What the user states. The bundle is not asked: it could only say what suits it. @throws UsageError */
export function claimOfFlags(flags: EvidenceFlags): EvidenceClaim {
  const { address, 'storage-key': storageKeys, 'l2-block': l2Block } = flags
  return {
    scheme: schemeNamed(flags.scheme),
    trusted: trustedOf(flags),
    rollup: rollupOf(flags),
    ...(l2Block !== undefined && { l2BlockNumber: toInteger('--l2-block', l2Block, 64) }),
    ...(address !== undefined && { address }),
    ...(storageKeys !== undefined && { storageKeys }),
    // The hexadecimal is unchecked, whatever the type says: verifyEvidence refuses with CLAIM_INVALID.
  } as EvidenceClaim
}

/** Exactly one: with two, nobody could say which of them the verdict rests on. */
function trustedOf(flags: EvidenceFlags): Trusted {
  const given = Object.entries({
    l1BlockHash: flags['l1-block-hash'],
    l1StateRoot: flags['l1-state-root'],
    l2StateRoot: flags['state-root'],
  }).filter(([, value]) => value !== undefined)
  if (given.length !== 1) {
    throw new UsageError('exactly one of --l1-block-hash, --l1-state-root and --state-root is needed: what you trust')
  }
  // Of one entry, with a name from above.
  return Object.fromEntries(given) as Trusted
}

const knownRollups = new Map([
  ['mainnet', lineaMainnet],
  ['sepolia', lineaSepolia],
])

/** @throws UsageError */
export function rollupOf(flags: EvidenceFlags): Rollup {
  const { rollup, 'layout-roots-slot': rootsSlot, 'layout-current-slot': currentSlot } = flags
  if (rollup === undefined) {
    throw new UsageError('--rollup is needed: mainnet, sepolia, or the address of the rollup contract on L1')
  }
  const known = knownRollups.get(rollup)
  if (rootsSlot === undefined && currentSlot === undefined) return known ?? { address: rollup as Rollup['address'] }
  if (known) throw new UsageError(`--layout-...: the layout of ${rollup} is known`)
  const layout = { ...lineaLayout }
  if (rootsSlot !== undefined) layout.stateRootHashes = toInteger('--layout-roots-slot', rootsSlot, 256)
  if (currentSlot !== undefined) layout.currentL2BlockNumber = toInteger('--layout-current-slot', currentSlot, 256)
  return { address: rollup as Rollup['address'], layout }
}

/** Decimal, or hexadecimal after 0x. @throws UsageError */
export function toInteger(name: string, text: unknown, bits: number): bigint {
  const isNumber = typeof text === 'string' && /^([0-9]{1,78}|0x[0-9a-fA-F]{1,64})$/.test(text)
  const value = isNumber ? BigInt(text) : -1n
  if (value < 0n || value >= 1n << BigInt(bits)) throw new UsageError(`${name}: expected a number below 2^${bits}`)
  return value
}

const flagNames = [
  ['trusted.l1BlockHash', '--l1-block-hash'],
  ['trusted.l1StateRoot', '--l1-state-root'],
  ['trusted.l2StateRoot', '--state-root'],
  ['stateRoot', '--state-root'],
  ['rollup', '--rollup'],
  ['address', '--address'],
  ['storageKeys', '--storage-key'],
] as const

/** @throws UsageError when it is a flag that is wrong, and not the bundle */
export function refuseWrongFlags({ code, path, expected }: ProofError): void {
  const [, flag] = (code === 'CLAIM_INVALID' && flagNames.find(([start]) => path.startsWith(start))) || []
  if (flag !== undefined) throw new UsageError(`${flag}: expected ${expected}`)
}

/** The links of the chain of evidence, in the order in which they are verified. */
export const links = {
  bundle: 'the bundle is for what you stated',
  l1Header: 'L1 block hash -> L1 header',
  rollupContract: 'L1 state root -> rollup contract -> L2 state root',
  answer: 'L2 state root -> account and slots',
} as const

export type Link = keyof typeof links

/** The links that lead away from the trusted input. */
export function linksFrom(trusted: Trusted): Link[] {
  const skipped = 'l1BlockHash' in trusted ? 0 : 'l1StateRoot' in trusted ? 1 : 2
  const [bundle, l1Header, rollupContract, answer] = Object.keys(links) as [Link, Link, Link, Link]
  return [bundle, ...[l1Header, rollupContract].slice(skipped), answer]
}

/** The link that broke; null when it is the claim that is wrong. */
export function linkOf({ code, path }: ProofError): Link | null {
  if (code === 'CLAIM_INVALID') return null
  if (path.startsWith('l1.header')) return 'l1Header'
  if (path.startsWith('l1.proof')) return 'rollupContract'
  return path.startsWith('answer') ? 'answer' : 'bundle'
}
