import { type Hex, isHex } from '../../src/base/bytes.ts'
import { kindNamed, kindNames } from '../../src/cli/words/answer.ts'
import { parseNumber } from '../../src/cli/words/evidence.ts'
import type { EvidenceVector } from '../../src/cli/words/input-file.ts'
import { attempt } from '../../src/cli/words/layout.ts'
import { DocumentError, type Fields, fieldsOf, isObject, show } from '../../src/cli/words/value.ts'
import type { BeaconNetwork } from '../../src/verify/beacon/network.ts'
import { trustBeaconBlock } from '../../src/verify/beacon/trusted-block.ts'
import type { EvidenceClaim } from '../../src/verify/evidence/kinds/state.ts'
import { evidenceVectors } from './spelling.ts'

/** The claim that a vector states. */

/** The fields of a message that are quantities. */
export const MESSAGE_NUMBERS = ['fee', 'value', 'number']

/** The claim of an evidence vector, whose numbers are quantities. @throws DocumentError */
export function claimOfVector({
  evidence,
  scheme,
  claim,
}: Pick<EvidenceVector, 'evidence' | 'scheme' | 'claim'>): EvidenceClaim {
  const kind = kindNamed(scheme)
  if (kind === undefined && evidence !== 'message') {
    throw new DocumentError(`the scheme is neither ${kindNames.join(' nor ')}: ${show(scheme)}`)
  }
  const { rollup, trusted, message, call, ...rest } = fieldsOf(claim)
  const { kind: named } = evidenceVectors[evidence]
  return {
    // What is as long as an address or a hash is none of its numbers.
    ...toNumbers(
      rest,
      Object.keys(rest).filter(name => !isHex(rest[name], 20) && !isHex(rest[name], 32)),
    ),
    ...(named && { kind: named }),
    ...(kind && evidence !== 'message' && { scheme: kind.scheme }),
    ...(rollup !== undefined && { rollup: rollupOfVector(rollup) }),
    ...(trusted !== undefined && { trusted: trustedOfVector(trusted) }),
    ...(message !== undefined && { message: isObject(message) ? toNumbers(message, MESSAGE_NUMBERS) : message }),
    ...(call !== undefined && { call: isObject(call) ? toNumbers(call, ['value', 'gas']) : call }),
    // Despite the type, it is unchecked, and may be of another kind: the verifier refuses a wrong claim with an ArgumentError.
  } as unknown as EvidenceClaim
}

function rollupOfVector(rollup: unknown): unknown {
  const { layout, ...contract } = fieldsOf(rollup)
  return { ...contract, ...(layout !== undefined && { layout: toNumbers(layout, Object.keys(fieldsOf(layout))) }) }
}

/** The fields with these quantities as numbers. What is none, such as 'fromBundle', is left to the verifier. */
export const toNumbers = (fields: unknown, names: readonly string[]): Fields =>
  Object.fromEntries(
    Object.entries(fieldsOf(fields)).map(([name, text]) => [
      name,
      names.includes(name) ? (parseNumber(text, 256) ?? text) : text,
    ]),
  )

/** Being JSON, a vector can only name a beacon block and its network. This adds the function that verifies the consensus. */
export function trustedOfVector(trusted: unknown): unknown {
  const { beaconBlockRoot, network, ...others } = fieldsOf(trusted)
  if (beaconBlockRoot === undefined || !isObject(network)) return trusted
  // Despite the types, both are unchecked: trustBeaconBlock refuses malformed ones with an ArgumentError.
  const block = { network: network as unknown as BeaconNetwork, blockRoot: beaconBlockRoot as Hex }
  const checked = attempt(() => trustBeaconBlock(block))
  return { ...others, ...(checked ?? { beaconBlockRoot }) }
}
