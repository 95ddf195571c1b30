import { keccak_256 } from '@noble/hashes/sha3.js'
import { expect, it } from 'vitest'
import { bytesToHex } from '../../src/base/bytes.ts'
import { demoWorld } from '../../src/devnet/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { blocksOf } from './blocks.ts'

const SIGNATURE = 'verifyProof(bytes[],uint256,bytes32)'
const word = (value: number | bigint) => value.toString(16).padStart(64, '0')

/** The ABI encoding by its definition, without the library that the guide uses. */
function encodeCall(nodes: readonly string[], leafIndex: number, root: string): string {
  const encoded = nodes.map(node => {
    const bytes = node.slice(2)
    return `${word(bytes.length / 2)}${bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0')}`
  })
  let offset = 32 * nodes.length
  const offsets = encoded.map(each => {
    const here = offset
    offset += each.length / 2
    return word(here)
  })
  const selector = bytesToHex(keccak_256(new TextEncoder().encode(SIGNATURE))).slice(0, 10)
  return `${selector}${word(96)}${word(leafIndex)}${root.slice(2)}${word(nodes.length)}${offsets.join('')}${encoded.join('')}`
}

it("encodes the guide's calldata as viem does, and decodes it to the answer", async () => {
  const { decodeFunctionData, encodeFunctionData, parseAbi } = await import('viem')
  const [text = ''] = blocksOf('docs/relayer.md').flatMap(({ text }) =>
    text.includes('encodeFunctionData') ? [text] : [],
  )
  const [, declaration = ''] = /parseAbi\(\['(function [^']+)'\]\)/.exec(text) ?? []
  const abi = parseAbi([declaration] as [
    'function verifyProof(bytes[] rawProof, uint256 leafIndex, bytes32 root) pure',
  ])
  const world = demoWorld(poseidon2)
  const address = `0x${'c0'.repeat(20)}` as const
  const storageRoot = world.getAccount(address)?.storageRoot ?? '0x'
  const { accountProof, storageProofs } = world.getProof(address, [`0x${word(0)}`, `0x${word(12345)}`])
  const [present, absent] = storageProofs
  if (!('proof' in accountProof) || !present || !('proof' in present) || !absent || 'proof' in absent)
    throw new Error('no')
  const paths = [
    [accountProof.proof, accountProof.leafIndex, world.stateRoot()],
    [present.proof, present.leafIndex, storageRoot],
    [absent.leftProof, absent.leftLeafIndex, storageRoot],
    [absent.rightProof, absent.rightLeafIndex, storageRoot],
  ] as const
  for (const [{ proofRelatedNodes }, leafIndex, root] of paths) {
    const args = [proofRelatedNodes, BigInt(leafIndex), root] as const
    const calldata = encodeFunctionData({ abi, functionName: 'verifyProof', args })
    expect(calldata).toBe(encodeCall(proofRelatedNodes, leafIndex, root))
    expect(calldata.slice(0, 10)).toBe('0xcc5c21ea')
    expect(decodeFunctionData({ abi, data: calldata }).args).toEqual([...args])
  }
  expect(paths.length).toBe(4)
})
