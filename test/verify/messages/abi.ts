import { parseAbi } from 'viem'

/** The function of the contract on L1 that a claim calls. */
export const claimAbi = parseAbi([
  'struct Claim { bytes32[] proof; uint256 messageNumber; uint32 leafIndex; address from; address to; uint256 fee; uint256 value; address feeRecipient; bytes32 merkleRoot; bytes data; }',
  'function claimMessageWithProof(Claim params)',
])
