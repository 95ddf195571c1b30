import type { FailureCode } from '../../../src/base/errors.ts'
import { encodeHeader } from '../../../src/entry/anchor.ts'
import { makeConsensus } from '../consensus.ts'
import type { Forgery, ForgeryClass } from './forgery.ts'

/** The link from a beacon block to the L1 block: the checks of the bundle, not those of the consensus layer. */
export const consensus: ForgeryClass = ({ bundle, blockHash, proof, l1, judge }) => {
  const { trusted, consensus } = makeConsensus(blockHash)
  const forged = (
    name: string,
    code: FailureCode,
    flag: Forgery['flag'],
    description: string,
    changed: object,
    claim: object = { trusted },
  ): Forgery => ({ name, code, flag, description, input: judge({ ...bundle, ...changed }, claim) })
  const malformed = (name: string, part: unknown): Forgery =>
    forged(`consensus-${name}`, 'EVIDENCE_MALFORMED', 'Shape', 'Not the shape of a consensus part.', {
      consensus: part,
    })
  const otherHeader = encodeHeader({ ...l1.block, timestamp: '0x69000001' })
  return [
    forged('consensus-missing', 'EVIDENCE_CONSENSUS_MISSING', 'Shape', 'No consensus part.', {}),
    malformed('string', 'x'),
    malformed('no-bootstrap', { network: consensus.network, updates: [] }),
    malformed('no-updates', { network: consensus.network, bootstrap: { data: {} } }),
    malformed('network-number', { network: 1, bootstrap: { data: {} }, updates: [] }),
    forged('consensus-bootstrap-empty', 'BEACON_MALFORMED', 'Shape', 'A consensus part that holds nothing.', {
      consensus: { bootstrap: {}, updates: [] },
    }),
    forged(
      'consensus-network-of-another',
      'EVIDENCE_NETWORK_MISMATCH',
      'Binding',
      'The label is of another network than the one that the caller trusts.',
      { consensus: { ...consensus, network: 'mainnet' } },
    ),
    forged(
      'consensus-l1-block-of-another',
      'EVIDENCE_L1_BLOCK_MISMATCH',
      'Binding',
      'The header is of another L1 block than the one that is finalized.',
      { consensus, l1: { header: otherHeader, proof } },
    ),
    forged(
      'consensus-l1-header-missing',
      'EVIDENCE_L1_MISSING',
      'Shape',
      'A finalized L1 block, and no header of it.',
      { consensus, l1: { proof } },
    ),
    forged(
      'trusted-beacon-block-alone',
      'ARGUMENT_INVALID',
      'Root',
      'The caller trusts a beacon block root, and says nothing of its network: nothing can verify the consensus part.',
      {},
      { trusted: { beaconBlockRoot: trusted.beaconBlockRoot } },
    ),
    forged(
      'trusted-beacon-block-and-hash',
      'ARGUMENT_INVALID',
      'Root',
      'The caller names a beacon block root and an L1 block hash.',
      {},
      { trusted: { ...trusted, l1BlockHash: blockHash } },
    ),
  ]
}
