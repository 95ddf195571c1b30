import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bytesToHex, hexToBytes } from '../../src/base/bytes.ts'
import type { FailureCode } from '../../src/base/errors.ts'
import type { Hex } from '../../src/entry/index.ts'
import { difference, type Patch } from '../patch.ts'
import { bytesFor, type Flag } from '../vector.ts'
import {
  createCommittee,
  createHeader,
  FORKS,
  type ForkName,
  firstPeriodOf,
  forgetStates,
  type Made,
  network,
  type Signers,
  type Signing,
  sign,
} from './chain.ts'
import { convertHeader } from './converted.ts'
import { ssz } from './lodestar.ts'
import type { ApiCommittee, Input, InvalidVector, ValidVector } from './vector.ts'

const PERIOD = 8192
/** A valid vector whose headers are of two forks. */
const BETWEEN = 'fork-between-finalized-and-attested'
const ABSENT = [3, 77, 130, 511]
const signersA = createCommittee('a')
const signersB = createCommittee('b')
const { G1, G2 } = bls12_381

/** What a case may change in the chain it starts from. */
interface Options {
  readonly a?: Signers
  readonly b?: Signers
  /** The first period. Default: the first period of the fork. */
  readonly period?: number
  /** The forks of the two headers of the finality update. */
  readonly finalityForks?: { readonly finalized: ForkName; readonly attested: ForkName }
  /** This slot and those of `update` are counted from the start of the first period. */
  readonly bootstrapSlot?: number
  readonly update?: Partial<Slots>
  /** Slots, counted from the start of the second period. */
  readonly finality?: Partial<Slots>
  readonly updateSigning?: Partial<Signing>
  readonly finalitySigning?: Partial<Signing>
  readonly finalitySigners?: Signers
}
interface Slots {
  readonly attested: number
  readonly finalized: number
  readonly signature: number
}

const toBootstrap = (fork: ForkName, header: Made, keys: ApiCommittee) => ({
  version: fork,
  data: {
    header: header.json,
    current_sync_committee: keys,
    current_sync_committee_branch: header.branches.current,
  },
})

/** From a checkpoint in the first period to a finalized block in the second: one update. */
function createInput(fork: ForkName, options: Options = {}) {
  const { a = signersA, b = signersB, period = firstPeriodOf(fork), finalityForks } = options
  const start = period * PERIOD
  const header = createHeader(fork, start + (options.bootstrapSlot ?? 320), { current: a.keys, next: b.keys })
  const bootstrap = toBootstrap(fork, header, a.keys)

  const signed = (
    first: number,
    slots: Slots,
    signers: Signers,
    signing: Partial<Signing> | undefined,
    forks = { finalized: fork, attested: fork },
  ) => {
    const finalized = createHeader(forks.finalized, first + slots.finalized)
    const attested = createHeader(forks.attested, first + slots.attested, {
      next: b.keys,
      finalizedRoot: finalized.root,
    })
    const data = {
      attested_header: attested.json,
      finalized_header: finalized.json,
      finality_branch: attested.branches.finality,
      ...sign(attested, signers, { fork: forks.attested, slot: first + slots.signature, absent: ABSENT, ...signing }),
    }
    return { finalized, attested, data }
  }
  const updateSlots = { attested: 1000, finalized: 928, signature: 1001, ...options.update }
  const update = signed(start, updateSlots, a, options.updateSigning)
  const nextKeys = { next_sync_committee: b.keys, next_sync_committee_branch: update.attested.branches.next }
  const finalitySlots = { attested: 103, finalized: 32, signature: 105, ...options.finality }
  const signers = options.finalitySigners ?? b
  const finality = signed(start + PERIOD, finalitySlots, signers, options.finalitySigning, finalityForks)
  const input = {
    network,
    blockRoot: bytesToHex(header.root),
    answers: {
      bootstrap,
      updates: [{ version: fork, data: { ...update.data, ...nextKeys } }],
      finality: { version: finalityForks?.attested ?? fork, data: finality.data },
    },
  }
  return { input, start: header, finalized: finality.finalized, attested: finality.attested }
}

const rootOf = ({ pubkeys, aggregate_pubkey }: ApiCommittee): Hex =>
  bytesToHex(
    ssz.altair.SyncCommittee.hashTreeRoot({
      pubkeys: pubkeys.map(key => hexToBytes(key, 48)),
      aggregatePubkey: hexToBytes(aggregate_pubkey, 48),
    }),
  )

const toStored = (period: number, { pubkeys, aggregate_pubkey }: ApiCommittee) => ({
  network,
  period,
  root: rootOf({ pubkeys, aggregate_pubkey }),
  pubkeys,
  aggregatePubkey: aggregate_pubkey,
})

function createFull(fork: ForkName, options: Options = {}): Input {
  const { input } = createInput(fork, options)
  // Cloned, because objects made by the types are shared.
  return structuredClone({ ...input, committee: toStored(firstPeriodOf(fork) + 1, (options.b ?? signersB).keys) })
}

function createValid(
  fork: ForkName,
  description = `${fork}: a checkpoint, one update, and finality in the period after.`,
  options: Options = {},
): ValidVector {
  const { input, start, finalized } = createInput(fork, options)
  const period = (options.period ?? firstPeriodOf(fork)) + 1
  const { execution, execution_block_hash } = finalized.json as {
    execution?: { block_hash: Hex; block_number: string; timestamp: string }
    execution_block_hash?: Hex
  }
  return {
    description,
    operation: 'verifyConsensus',
    // As read from a file, so that no two parts share an object.
    input: JSON.parse(JSON.stringify({ ...input, committee: toStored(period, signersB.keys) })),
    expected: {
      valid: true,
      l1BlockHash: execution_block_hash ?? execution?.block_hash ?? '0x',
      l1BlockNumber: execution?.block_number,
      l1Timestamp: execution?.timestamp,
      blockRoot: bytesToHex(finalized.root),
      slot: `${finalized.slot}`,
      slotTimestamp: `${network.genesisTime + 12 * finalized.slot}`,
      trustedSlotTimestamp: `${network.genesisTime + 12 * start.slot}`,
      signers: 512 - (options.finalitySigning?.absent ?? ABSENT).length,
      period,
      committeeRoot: rootOf(signersB.keys),
    },
  }
}

/** The parts of an input as a forger sees them, without types. */
// biome-ignore lint/suspicious/noExplicitAny: types do not constrain a forger
type Loose = any

interface Case {
  readonly name: string
  readonly code: FailureCode
  readonly flag: Flag
  readonly description: string
  readonly base?: ForkName | typeof BETWEEN
  readonly operation?: 'verifyFinality'
  /** Another chain, with its own true proofs and signatures. */
  readonly options?: Options
  readonly change?: (input: Loose) => void
}

const flipLast = (hex: string): string => `${hex.slice(0, -1)}${(Number.parseInt(hex.slice(-1), 16) ^ 1).toString(16)}`
const ZERO = `0x${'00'.repeat(32)}`

/** The point of the curve outside the subgroup with the least x, and its negative. */
function strayPoints(): [Hex, Hex] {
  for (let x = 1; ; x++) {
    const digits = x.toString(16).padStart(94, '0')
    const point = decodeAnywhere(`0x80${digits}`)
    if (point === 'outside') return [`0x80${digits}`, `0xa0${digits}`]
  }
}

function decodeAnywhere(key: Hex): 'inside' | 'outside' | 'nowhere' {
  try {
    G1.Point.fromBytes(hexToBytes(key, 48))
    return 'inside'
  } catch (error) {
    return /subgroup/.test(String(error)) ? 'outside' : 'nowhere'
  }
}

function offCurve(): Hex {
  for (let x = 1; ; x++) {
    const key: Hex = `0x80${x.toString(16).padStart(94, '0')}`
    if (decodeAnywhere(key) === 'nowhere') return key
  }
}

/** A committee with some keys replaced but the given secrets and aggregate. */
function withKeys(
  replaced: Readonly<Record<number, Hex>>,
  { pubkeys, aggregate_pubkey }: ApiCommittee,
  secrets: readonly bigint[],
): Signers {
  return {
    secrets,
    keys: { pubkeys: pubkeys.map((key, index) => replaced[index] ?? key), aggregate_pubkey },
  }
}

/** A committee whose members at these places have no secret, so that their keys do not count in the aggregate. */
function withoutSecrets(replaced: Readonly<Record<number, Hex>>): Signers {
  const secrets = signersB.secrets.map((secret, index) => (index in replaced ? 0n : secret))
  const total = secrets.reduce((sum, secret) => sum + secret, 0n) % G1.Point.Fn.ORDER
  const aggregate_pubkey = bytesToHex(G1.Point.BASE.multiply(total).toBytes())
  return withKeys(replaced, { pubkeys: signersB.keys.pubkeys, aggregate_pubkey }, secrets)
}

const INFINITE_KEY: Hex = `0xc0${'00'.repeat(47)}`
const INFINITE_SIGNATURE: Hex = `0xc0${'00'.repeat(95)}`
const finalityOf = (input: Loose) => input.answers.finality.data
const updateOf = (input: Loose) => input.answers.updates[0].data
const bootstrapOf = (input: Loose) => input.answers.bootstrap.data
const swapFirst = (keys: Loose) => {
  ;[keys.pubkeys[0], keys.pubkeys[1]] = [keys.pubkeys[1], keys.pubkeys[0]]
}

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

function cases(): Case[] {
  const [stray, negativeStray] = strayPoints()
  const [notSigning, second] = [77, 130] as const
  const c = (
    name: string,
    code: FailureCode,
    flag: Flag,
    description: string,
    change: (input: Loose) => void,
    more: Partial<Case> = {},
  ): Case => ({ name, code, flag, description, change, ...more })
  const made = (
    name: string,
    code: FailureCode,
    flag: Flag,
    description: string,
    options: Options,
    change: (input: Loose) => void = () => {},
    more: Partial<Case> = {},
  ): Case => ({ name, code, flag, description, options, change, ...more })
  const signature = (input: Loose, value: string) => {
    finalityOf(input).sync_aggregate.sync_committee_signature = value
  }
  return [
    c('bootstrap-null', 'BEACON_MALFORMED', 'Shape', 'No bootstrap.', input => (input.answers.bootstrap = null)),
    c(
      'updates-object',
      'BEACON_MALFORMED',
      'Shape',
      'One update instead of an array.',
      input => (input.answers.updates = { length: 0 }),
    ),
    c(
      'update-bare',
      'BEACON_MALFORMED',
      'Shape',
      'An update without its envelope.',
      input => (input.answers.updates[0].data = null),
    ),
    c(
      'header-no-beacon',
      'BEACON_MALFORMED',
      'Shape',
      'A header without its beacon part.',
      input => (finalityOf(input).attested_header.beacon = null),
    ),
    c(
      'slot-number',
      'BEACON_MALFORMED',
      'Encoding',
      'A slot as a JSON number.',
      input => (finalityOf(input).signature_slot = Number(finalityOf(input).signature_slot)),
    ),
    c(
      'execution-of-another-fork',
      'BEACON_MALFORMED',
      'Shape',
      'Gloas: an execution header where the block hash should be.',
      input => {
        finalityOf(input).finalized_header.execution = {}
        finalityOf(input).finalized_header.execution_block_hash = null
      },
      { base: 'gloas' },
    ),
    c(
      'slot-leading-zero',
      'BEACON_INTEGER',
      'Canonicity',
      'A slot with a leading zero.',
      input => (finalityOf(input).signature_slot = `0${finalityOf(input).signature_slot}`),
    ),
    c(
      'slot-hexadecimal',
      'BEACON_INTEGER',
      'Encoding',
      'A slot in hexadecimal.',
      input => (finalityOf(input).signature_slot = '0x41000'),
    ),
    c(
      'slot-negative',
      'BEACON_INTEGER',
      'Encoding',
      'A negative slot.',
      input => (finalityOf(input).finalized_header.beacon.slot = '-1'),
    ),
    c(
      'slot-plus-2-64',
      'BEACON_INTEGER',
      'Encoding',
      'A slot raised by 2^64, which is the same in 64 bits.',
      input => (finalityOf(input).signature_slot = `${BigInt(finalityOf(input).signature_slot) + 2n ** 64n}`),
    ),
    c(
      'proposer-plus-2-256',
      'BEACON_INTEGER',
      'Encoding',
      'The index of a proposer raised by 2^256: it fills the same chunk, and so the root of the header is the same.',
      input => {
        const { beacon } = finalityOf(input).attested_header
        beacon.proposer_index = `${BigInt(beacon.proposer_index) + 2n ** 256n}`
      },
    ),
    c(
      'base-fee-2-256',
      'BEACON_INTEGER',
      'Encoding',
      'A base fee of 2^256.',
      input => (finalityOf(input).finalized_header.execution.base_fee_per_gas = `${2n ** 256n}`),
    ),
    c(
      'slot-before-capella',
      'BEACON_FORK_UNKNOWN',
      'Index',
      'A checkpoint before Capella.',
      input => (bootstrapOf(input).header.beacon.slot = `${10 * PERIOD - 1}`),
    ),
    c(
      'fork-not-known',
      'BEACON_FORK_UNKNOWN',
      'Index',
      'The network has a fork of another name at these slots.',
      input => {
        input.network.forks[2].name = 'heze'
        input.answers.bootstrap.version = 'deneb'
      },
    ),
    c(
      'version-not-known',
      'BEACON_FORK_UNKNOWN',
      'Index',
      'The endpoint names a fork that the network has no epoch for.',
      input => (input.answers.finality.version = 'heze'),
    ),
    c(
      'committee-of-511',
      'BEACON_COMMITTEE_SIZE',
      'Shape',
      'A committee with one key less.',
      input => (bootstrapOf(input).current_sync_committee.pubkeys.length = 511),
    ),
    c('committee-of-513', 'BEACON_COMMITTEE_SIZE', 'Shape', 'A committee with one key more.', input =>
      updateOf(input).next_sync_committee.pubkeys.push(signersA.keys.pubkeys[0]),
    ),
    made(
      'key-infinity',
      'BEACON_KEY_ENCODING',
      'Value',
      'A proven committee in which a member’s key is infinity. It adds nothing, so that the aggregate is right.',
      { b: withoutSecrets({ 9: INFINITE_KEY }) },
    ),
    c('key-uncompressed', 'BEACON_KEY_ENCODING', 'Encoding', 'A key without the bit for compression.', input => {
      const { pubkeys } = updateOf(input).next_sync_committee
      pubkeys[9] = `0x${(Number.parseInt(pubkeys[9].slice(2, 4), 16) & 0x7f).toString(16).padStart(2, '0')}${pubkeys[9].slice(4)}`
    }),
    made(
      'key-not-reduced',
      'BEACON_KEY_ENCODING',
      'Canonicity',
      'A proven committee in which the coordinate of a key is the modulus.',
      {
        b: withoutSecrets({
          9: `0x9a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab`,
        }),
      },
    ),
    made(
      'key-outside-subgroup',
      'BEACON_KEY_POINT',
      'Value',
      'A proven committee with two keys outside the subgroup that cancel out. Both are absent.',
      { b: withoutSecrets({ [notSigning]: stray, [second]: negativeStray }) },
    ),
    made(
      'key-not-on-curve',
      'BEACON_KEY_POINT',
      'Value',
      'A proven committee in which the key of an absent member is no point.',
      { b: withoutSecrets({ [notSigning]: offCurve() }) },
    ),
    made(
      'aggregate-outside-subgroup',
      'BEACON_KEY_POINT',
      'Value',
      'A proven committee whose aggregate is outside the subgroup.',
      {
        b: { ...signersB, keys: { ...signersB.keys, aggregate_pubkey: stray } },
      },
    ),
    c(
      'stored-key-altered',
      'BEACON_COMMITTEE_ROOT',
      'Binding',
      'A stored committee with two keys swapped.',
      input => swapFirst(input.committee),
      { operation: 'verifyFinality' },
    ),
    c(
      'stored-root-of-another',
      'BEACON_COMMITTEE_ROOT',
      'Binding',
      'A stored committee with the root of another.',
      input => (input.committee.root = rootOf(signersA.keys)),
      { operation: 'verifyFinality' },
    ),
    c('finality-branch-short', 'BEACON_BRANCH_LENGTH', 'Path', 'The finality branch has the length of Deneb.', input =>
      finalityOf(input).finality_branch.pop(),
    ),
    c(
      'finality-branch-zeros',
      'BEACON_BRANCH_LENGTH',
      'Path',
      'The finality branch is led by a hash of zeros.',
      input => finalityOf(input).finality_branch.unshift(ZERO),
    ),
    c('finality-branch-long', 'BEACON_BRANCH_LENGTH', 'Path', 'The finality branch ends with a hash too many.', input =>
      finalityOf(input).finality_branch.push(ZERO),
    ),
    c(
      'committee-branch-short',
      'BEACON_BRANCH_LENGTH',
      'Path',
      'The committee branch has the length of Deneb.',
      input => bootstrapOf(input).current_sync_committee_branch.pop(),
    ),
    c(
      'next-branch-empty',
      'BEACON_BRANCH_LENGTH',
      'Path',
      'No branch for the next committee.',
      input => (updateOf(input).next_sync_committee_branch.length = 0),
    ),
    c(
      'execution-branch-long',
      'BEACON_BRANCH_LENGTH',
      'Path',
      'The execution branch is led by a hash of zeros.',
      input => finalityOf(input).finalized_header.execution_branch.unshift(ZERO),
    ),
    c(
      'branch-of-fulu-in-gloas',
      'BEACON_BRANCH_LENGTH',
      'Path',
      'Gloas: the finality branch is cut to that of Fulu.',
      input => (finalityOf(input).finality_branch.length = 7),
      { base: 'gloas' },
    ),
    c(
      'branch-of-converted-not-zeros',
      'BEACON_BRANCH_LENGTH',
      'Path',
      'Gloas: a finalized header of Fulu has the form of Gloas, and another hash where the specification puts zeros.',
      input => {
        const { data } = input.answers.finality
        const { execution_branch, ...header } = convertHeader(data.finalized_header, ssz as never)
        data.finalized_header = { ...header, execution_branch: execution_branch.with(1, flipLast(ZERO)) }
      },
      { base: BETWEEN },
    ),
    c(
      'root-of-another-block',
      'BEACON_ROOT_MISMATCH',
      'Root',
      'The trusted root is that of another block.',
      input => (input.blockRoot = flipLast(input.blockRoot)),
    ),
    c(
      'bootstrap-proposer',
      'BEACON_ROOT_MISMATCH',
      'Root',
      'The header has another proposer.',
      input => (bootstrapOf(input).header.beacon.proposer_index = '5'),
    ),
    c('l1-block-hash', 'BEACON_EXECUTION_MISMATCH', 'Value', 'Another L1 block hash.', input => {
      const { execution } = finalityOf(input).finalized_header
      execution.block_hash = flipLast(execution.block_hash)
    }),
    c(
      'bootstrap-l1-block-hash',
      'BEACON_EXECUTION_MISMATCH',
      'Value',
      'Another L1 block hash in the checkpoint’s header.',
      input => {
        const { execution } = bootstrapOf(input).header
        execution.block_hash = flipLast(execution.block_hash)
      },
    ),
    c(
      'l1-block-hash-gloas',
      'BEACON_EXECUTION_MISMATCH',
      'Value',
      'Gloas: another L1 block hash.',
      input => {
        const header = finalityOf(input).finalized_header
        header.execution_block_hash = flipLast(header.execution_block_hash)
      },
      { base: 'gloas' },
    ),
    c(
      'extra-data-padded',
      'BEACON_EXECUTION_MISMATCH',
      'Canonicity',
      'The extra data has a zero byte more: the same chunk, another length.',
      input => (finalityOf(input).finalized_header.execution.extra_data += '00'),
    ),
    c(
      'blob-gas-used',
      'BEACON_EXECUTION_MISMATCH',
      'Value',
      'Another amount of blob gas.',
      input => (finalityOf(input).attested_header.execution.blob_gas_used = '0'),
    ),
    c(
      'bootstrap-committee-altered',
      'BEACON_COMMITTEE_MISMATCH',
      'Value',
      'Two members of the checkpoint’s committee have changed places.',
      input => swapFirst(bootstrapOf(input).current_sync_committee),
    ),
    c(
      'bootstrap-aggregate',
      'BEACON_COMMITTEE_MISMATCH',
      'Value',
      'The aggregate is that of another committee.',
      input => (bootstrapOf(input).current_sync_committee.aggregate_pubkey = signersB.keys.aggregate_pubkey),
    ),
    c(
      'finality-missing',
      'BEACON_FINALITY_MISSING',
      'Shape',
      'An update without finality: header and branch are zero.',
      input => {
        const data = updateOf(input)
        data.finalized_header.beacon = {
          slot: '0',
          proposer_index: '0',
          parent_root: ZERO,
          state_root: ZERO,
          body_root: ZERO,
        }
        data.finality_branch.fill(ZERO)
      },
    ),
    c(
      'finality-header-null',
      'BEACON_FINALITY_MISSING',
      'Shape',
      'An update whose finalized header is null.',
      input => (updateOf(input).finalized_header = null),
    ),
    c('nothing-but-the-bootstrap', 'BEACON_FINALITY_MISSING', 'Shape', 'Neither updates nor finality.', input => {
      input.answers.updates.length = 0
      input.answers.finality = null
    }),
    made('signature-slot-not-after', 'BEACON_SLOT_ORDER', 'Ordering', 'Signed in the attested slot itself.', {
      finality: { signature: 103 },
    }),
    made(
      'finalized-after-attested',
      'BEACON_SLOT_ORDER',
      'Ordering',
      'The finalized block is newer than the attested one.',
      { finality: { finalized: 104 } },
    ),
    made(
      'update-signature-slot-not-after',
      'BEACON_SLOT_ORDER',
      'Ordering',
      'An update signed in the attested slot itself.',
      {
        update: { signature: 1000 },
      },
    ),
    made(
      'update-signed-in-next-period',
      'BEACON_SIGNATURE_PERIOD',
      'Binding',
      'An update of the last slot of a period, signed in the first of the next by the committee whose period is over.',
      { update: { attested: PERIOD - 1, finalized: PERIOD - 64, signature: PERIOD } },
    ),
    c(
      'old-committee',
      'BEACON_SIGNATURE_PERIOD',
      'Binding',
      'The update is left out: the finality is of a period that the committee does not sign.',
      input => (input.answers.updates.length = 0),
    ),
    made('old-committee-signs', 'BEACON_SIGNATURE_MISMATCH', 'Binding', 'The committee of the period before signs.', {
      finalitySigners: signersA,
    }),
    made(
      'attested-in-another-period',
      'BEACON_ATTESTED_PERIOD',
      'Binding',
      'Attested in the last slot of a period, signed in the first of the next: the next committee is the one that signs.',
      { bootstrapSlot: PERIOD + 320, update: { attested: PERIOD - 1, finalized: PERIOD - 64, signature: PERIOD } },
    ),
    made(
      'finalized-in-another-period',
      'BEACON_FINALIZED_PERIOD',
      'Binding',
      'The finalized block of an update is of the period before: the next committee may still change.',
      {
        // The committee of that period signs both, so that nothing else is wrong.
        ...{ bootstrapSlot: PERIOD + 8, finalitySigners: signersA },
        update: { attested: PERIOD + 10, finalized: PERIOD - 64, signature: PERIOD + 11 },
      },
    ),
    c(
      'finalized-of-another',
      'BEACON_FINALITY_MISMATCH',
      'Binding',
      'A true header of another block as the finalized one.',
      input => (finalityOf(input).finalized_header = structuredClone(updateOf(input).finalized_header)),
    ),
    c(
      'finality-branch-altered',
      'BEACON_FINALITY_MISMATCH',
      'Path',
      'A bit of the finality branch is flipped.',
      input => {
        const { finality_branch } = finalityOf(input)
        finality_branch[2] = flipLast(finality_branch[2])
      },
    ),
    c(
      'update-finality-branch-altered',
      'BEACON_FINALITY_MISMATCH',
      'Path',
      'A bit of the finality branch of an update is flipped.',
      input => {
        const { finality_branch } = updateOf(input)
        finality_branch[2] = flipLast(finality_branch[2])
      },
    ),
    c(
      'update-l1-block-hash',
      'BEACON_EXECUTION_MISMATCH',
      'Value',
      'Another L1 block hash in the finalized header of an update.',
      input => {
        const { execution } = updateOf(input).finalized_header
        execution.block_hash = flipLast(execution.block_hash)
      },
    ),
    made('update-signers-341', 'BEACON_TOO_FEW_SIGNERS', 'Value', '341 true signatures of an update.', {
      updateSigning: { absent: range(171) },
    }),
    c(
      'update-signature-of-another-header',
      'BEACON_SIGNATURE_MISMATCH',
      'Binding',
      'The signature of the finality update in place of that of the update.',
      input => {
        const { sync_committee_signature } = finalityOf(input).sync_aggregate
        updateOf(input).sync_aggregate.sync_committee_signature = sync_committee_signature
      },
    ),
    c(
      'next-committee-altered',
      'BEACON_NEXT_COMMITTEE_MISMATCH',
      'Value',
      'Two members of the next committee have changed places. Nothing that it would have to sign follows.',
      input => {
        swapFirst(updateOf(input).next_sync_committee)
        input.answers.finality = null
      },
    ),
    c(
      'next-committee-branch-altered',
      'BEACON_NEXT_COMMITTEE_MISMATCH',
      'Path',
      'A bit of the branch is flipped.',
      input => {
        const { next_sync_committee_branch } = updateOf(input)
        next_sync_committee_branch[0] = flipLast(next_sync_committee_branch[0])
      },
    ),
    made('signers-341', 'BEACON_TOO_FEW_SIGNERS', 'Value', '341 true signatures.', {
      finalitySigning: { absent: range(171) },
    }),
    c('signers-none', 'BEACON_TOO_FEW_SIGNERS', 'Value', 'Nobody has signed, and the signature is infinity.', input => {
      finalityOf(input).sync_aggregate = {
        sync_committee_bits: `0x${'00'.repeat(64)}`,
        sync_committee_signature: INFINITE_SIGNATURE,
      }
    }),
    c('signature-infinity', 'BEACON_SIGNATURE_POINT', 'Value', 'The signature is infinity.', input =>
      signature(input, INFINITE_SIGNATURE),
    ),
    c('signature-not-on-curve', 'BEACON_SIGNATURE_POINT', 'Value', 'The signature is no point.', input =>
      signature(input, `0x80${'00'.repeat(94)}01`),
    ),
    c(
      'signature-outside-subgroup',
      'BEACON_SIGNATURE_POINT',
      'Value',
      'The signature is outside the subgroup.',
      input => signature(input, straySignature()),
    ),
    c('signature-of-another-header', 'BEACON_SIGNATURE_MISMATCH', 'Binding', 'The signature of the update.', input =>
      signature(input, updateOf(input).sync_aggregate.sync_committee_signature),
    ),
    c('signer-denied', 'BEACON_SIGNATURE_MISMATCH', 'Value', 'A signer is said to be absent.', input => {
      const aggregate = finalityOf(input).sync_aggregate
      aggregate.sync_committee_bits = `0xf6${aggregate.sync_committee_bits.slice(4)}`
    }),
    made(
      'signers-cancel-out',
      'BEACON_SIGNATURE_MISMATCH',
      'Value',
      'A proven committee whose aggregate is the key of the only absent member, so that the keys of the signers cancel out.',
      {
        b: { ...signersB, keys: { ...signersB.keys, aggregate_pubkey: signersB.keys.pubkeys[notSigning] ?? '0x' } },
        finalitySigning: { absent: [notSigning] },
      },
    ),
    made('fork-version-wrong', 'BEACON_SIGNATURE_MISMATCH', 'Binding', 'Signed with the version of the fork before.', {
      finalitySigning: { fork: 'deneb' },
    }),
    made('network-wrong', 'BEACON_SIGNATURE_MISMATCH', 'Binding', 'Signed on another network.', {
      finalitySigning: { genesisValidatorsRoot: bytesFor('another network', 32) },
    }),
    c(
      'updates-513',
      'BEACON_TOO_MANY_UPDATES',
      'Shape',
      'More updates than anybody verifies.',
      input => (input.answers.updates = Array(513).fill(null)),
    ),
    made(
      'older-than-checkpoint',
      'BEACON_OLDER_THAN_CHECKPOINT',
      'Ordering',
      'True finality of the checkpoint’s period, before the checkpoint.',
      { bootstrapSlot: PERIOD + 5000, finalitySigners: signersA },
      input => (input.answers.updates.length = 0),
    ),
    c(
      'bits-65-bytes',
      'WRONG_LENGTH',
      'Encoding',
      'Bits beyond the 512th.',
      input => (finalityOf(input).sync_aggregate.sync_committee_bits += '00'),
    ),
    c('root-not-hexadecimal', 'BAD_HEX', 'Encoding', 'A root without its prefix.', input => {
      const { beacon } = finalityOf(input).attested_header
      beacon.parent_root = `00${beacon.parent_root.slice(2)}`
    }),
    c(
      'network-version-short',
      'ARGUMENT_INVALID',
      'Shape',
      'A fork version of 3 bytes.',
      input => (input.network.forks[0].version = '0x030000'),
    ),
    c(
      'network-forks-disordered',
      'ARGUMENT_INVALID',
      'Ordering',
      'The forks are not in the order of their epochs.',
      input => (input.network.forks[0].epoch = 2 ** 40),
    ),
  ]
}

function straySignature(): Hex {
  for (let x = 1; ; x++) {
    const text: Hex = `0x80${x.toString(16).padStart(190, '0')}`
    try {
      G2.Point.fromBytes(hexToBytes(text, 96))
    } catch (error) {
      if (/subgroup/.test(String(error))) return text
    }
  }
}

/** A fault in the finality update alone needs no chain to show. */
const operationFor = (patches: readonly Patch[]): InvalidVector['operation'] =>
  patches.every(({ path }) => path.startsWith('answers.finality.')) ? 'verifyFinality' : 'verifyConsensus'

/** The vectors: path below this folder -> content. */
export function generateBeacon(): Map<string, string> {
  forgetStates()
  const files = new Map<string, string>()
  const add = (path: string, content: unknown) => {
    if (files.has(path)) throw new Error(`two vectors are named ${path}`)
    files.set(path, `${JSON.stringify(content, null, 1)}\n`)
  }
  const bases = new Map<string, ValidVector>()
  const addBase = (name: string, vector: ValidVector) => {
    bases.set(name, vector)
    add(`valid/${name}.json`, vector)
  }
  for (const fork of FORKS) addBase(fork, createValid(fork))
  const electra = firstPeriodOf('electra')
  add(
    'valid/signers-342.json',
    createValid('capella', 'Exactly two thirds of the committee have signed, rounded up.', {
      finalitySigning: { absent: range(170) },
    }),
  )
  add(
    'valid/fork-between.json',
    createValid('deneb', 'The update is of Deneb, the finality of Electra, whose state is laid out otherwise.', {
      period: electra - 1,
      finalityForks: { finalized: 'electra', attested: 'electra' },
    }),
  )
  addBase(
    BETWEEN,
    createValid('fulu', 'A block of Fulu is finalized in the state of a block of Gloas.', {
      period: firstPeriodOf('gloas') - 1,
      finality: { finalized: -32, attested: 40, signature: 41 },
      finalityForks: { finalized: 'fulu', attested: 'gloas' },
    }),
  )
  add(
    'valid/first-slot-of-a-fork.json',
    createValid(
      'deneb',
      'Signed in the first slot of a period and of a fork: by the new committee, for the old fork.',
      {
        period: electra - 1,
        finality: { finalized: -64, attested: -1, signature: 0 },
      },
    ),
  )
  for (const { name, code, flag, description, base = 'electra', operation, options, change } of cases()) {
    const before: unknown = bases.get(base)?.input
    const after: Loose = options && base !== BETWEEN ? createFull(base, options) : structuredClone(before)
    change?.(after)
    const patches = difference(before, after)
    const vector: InvalidVector = {
      ...{ description, flag, operation: operation ?? operationFor(patches), base, patches },
      expected: { valid: false, code },
    }
    add(`invalid/${name}.json`, vector)
  }
  return files
}
