import { describe, expect, it } from 'vitest'
import { bytesToHex, concatBytes, hexToBytes } from '../../src/bytes.ts'
import { createVerifier, type Hex, ProofError, type Scheme, verifyExistence } from '../../src/index.ts'
import { mimc } from '../../src/mimc.ts'
import { poseidon2 } from '../../src/poseidon2.ts'
import {
  type KnownNodes,
  type KnownTexts,
  knownEmptyNodes,
  noNodes,
  rememberLastNodes,
} from '../../src/proof/known-nodes.ts'
import { decodeNodes } from '../../src/proof/nodes.ts'
import { accountEntry } from '../../src/tree/entry.ts'
import { indexWord } from '../../src/tree/leaf.ts'
import { NOT_HASHED, type TreeNode } from '../../src/tree/path.ts'
import { createWorld } from '../../src/world.ts'
import { addressFor } from '../../vectors/vector.ts'

const address = addressFor('account 5')

/** A state of a few accounts, and the nodes that prove the one at {@link address}. */
function proven(scheme: Scheme) {
  const world = createWorld(scheme)
  for (let index = 0; index < 9; index++) world.setAccount(addressFor(`account ${index}`))
  const { accountProof } = world.getProof(address)
  if (!('proof' in accountProof)) throw new Error('the account exists')
  return { world, stateRoot: world.stateRoot(), accountProof, nodes: accountProof.proof.proofRelatedNodes }
}

describe.each([mimc, poseidon2])('$name', scheme => {
  const { world, stateRoot, accountProof, nodes } = proven(scheme)
  const bytesOf = (hex: Hex) => hexToBytes(hex, hex.length / 2 - 1)

  it('decodes each entry into its place', () => {
    const { top, inner, siblingLeaf, leafNode } = decodeNodes({ scheme, known: noNodes }, nodes)
    expect([top, ...inner, siblingLeaf, leafNode].map(node => node?.preimage)).toEqual(nodes.map(bytesOf))
    expect(inner.length).toBe(39)
    expect(top).toMatchObject({ nextFreeNode: 11, subRoot: bytesOf(nodes[0] ?? '0x').slice(-32) })
    expect(leafNode.leaf.hKey).toEqual(accountEntry.hashKey(scheme, hexToBytes(address, 20)))
  })

  it('takes what is known and hands over what is new, each kind of entry for itself', () => {
    const own: TreeNode = { preimage: new Uint8Array(64), digest: NOT_HASHED }
    const [found, added]: [[string, number, string][], [string, number, string, TreeNode][]] = [[], []]
    const spy = <Node>(kind: string, known?: Node): KnownTexts<Node> => ({
      find: (entry, text) => {
        found.push([kind, entry, text])
        return entry % 3 === 0 ? known : undefined
      },
      add: (entry, text, node) => {
        added.push([kind, entry, text, node as TreeNode])
      },
    })
    const known: KnownNodes = { top: spy('top'), inner: spy('inner', own), leaf: spy('leaf'), value: spy('value') }
    const { inner, top, siblingLeaf, leafNode } = decodeNodes({ scheme, known }, nodes)
    const kindOf = (entry: number) => (entry === 0 ? 'top' : entry < 40 ? 'inner' : 'leaf')
    expect(found).toEqual(nodes.map((text, entry) => [kindOf(entry), entry, text]))
    const isKnown = (entry: number) => entry % 3 === 0 && kindOf(entry) === 'inner'
    expect(added.map(([kind, entry, text]) => [kind, entry, text])).toEqual(
      found.filter(([, entry]) => !isKnown(entry)),
    )
    const decoded = [top, ...inner, siblingLeaf, leafNode]
    for (const [, entry, , node] of added) expect(decoded[entry]).toBe(node)
    for (const [entry, node] of decoded.entries()) if (isKnown(entry)) expect(node).toBe(own)
  })

  it.each(['nothing is known', 'others are known'])('names the entry that it refuses when %s', how => {
    const known = how === 'nothing is known' ? noNodes : knownEmptyNodes(scheme)
    const refusal = (entry: number, hex: string): string => {
      try {
        decodeNodes({ scheme, known }, nodes.with(entry, hex as Hex))
      } catch (error) {
        if (error instanceof ProofError) return `${error.code} at ${error.path}`
        throw error
      }
      return 'accepted'
    }
    for (const entry of nodes.keys()) {
      const { length } = nodes[entry] ?? ''
      expect(refusal(entry, `0x${'0g'.repeat(length / 2 - 1)}`)).toBe(`BAD_HEX at [${entry}]`)
      expect(refusal(entry, '0x00')).toBe(`WRONG_LENGTH at [${entry}]`)
      expect(refusal(entry, '00')).toBe(`BAD_HEX at [${entry}]`)
      if (entry < 1 || entry > 39) continue
      for (const half of [0, 1]) {
        const lifted = `0x${['00', '00']
          .with(half, 'ff')
          .map(byte => byte.repeat(32))
          .join('')}`
        expect(refusal(entry, lifted)).toBe(`NON_CANONICAL at [${entry}]`)
      }
    }
  })

  it('takes a nextFreeNode of up to 2^40: a tree that is full', () => {
    const decode = (nextFreeNode: number) => {
      const top = concatBytes(indexWord(scheme, nextFreeNode), new Uint8Array(32))
      return decodeNodes({ scheme, known: noNodes }, nodes.with(0, bytesToHex(top))).top.nextFreeNode
    }
    expect(decode(2 ** 40)).toBe(2 ** 40)
    expect(() => decode(2 ** 40 + 1)).toThrow('INDEX_OUT_OF_RANGE at [0]')
  })

  it('takes 32 bytes for a missing leaf when all are zero', () => {
    const missing = new Uint8Array(32)
    const decode = (bytes: Uint8Array) => decodeNodes({ scheme, known: noNodes }, nodes.with(40, bytesToHex(bytes)))
    expect(decode(missing).siblingLeaf).toBeNull()
    for (const index of missing.keys()) expect(() => decode(missing.with(index, 1))).toThrow('WRONG_LENGTH at [40]')
  })

  it('knows the nodes without leaves, each in its place', () => {
    const known = knownEmptyNodes(scheme)
    const founds = nodes.map((text, entry) => known.inner.find(entry, text))
    // Leaves 0 to 10: the lowest four levels hold leaves beside the path, the 35 siblings above them hold none.
    const emptyEntries = founds.flatMap((node, entry) => (node === undefined ? [] : [entry]))
    expect(emptyEntries.slice(0, 36)).toEqual(Array.from({ length: 36 }, (_, index) => index + 1))
    for (const entry of emptyEntries) {
      expect(founds[entry]?.preimage).toEqual(bytesOf(nodes[entry] ?? '0x'))
      expect(founds[entry]?.digest).toEqual(scheme.hasher.hash(bytesOf(nodes[entry] ?? '0x')))
    }
    expect(known.inner.find(1, nodes[2] ?? '')).toBeUndefined()
    expect(known.inner.find(2, nodes[1] ?? '')).toBeUndefined()
    expect(known.inner.find(1, nodes[1] ?? '')).toBe(knownEmptyNodes(scheme).inner.find(1, nodes[1] ?? ''))
  })

  it('hashes no inner node whose digest is known', () => {
    const counts: number[] = []
    const hashEach = (messages: readonly Uint8Array[]) => {
      counts.push(messages.length)
      return scheme.hasher.hashEach(messages)
    }
    const counting = { ...scheme, hasher: { ...scheme.hasher, hashEach } }
    verifyExistence(accountProof, { scheme: counting, stateRoot, address })
    // Of 39, those that hold leaves: see above.
    expect(counts).toEqual([3])
  })

  it('is not convinced by a hasher that gives out too few digests', () => {
    const lazy = { ...scheme, hasher: { ...scheme.hasher, hashEach: () => [] } }
    expect(() => verifyExistence(accountProof, { scheme: lazy, stateRoot, address })).toThrow('SUB_ROOT_MISMATCH')
  })

  it('takes an inner node that it remembers for nothing but an inner node', () => {
    const verifier = createVerifier(scheme)
    const verify = (proofRelatedNodes: Hex[]) => {
      const proof = { ...accountProof.proof, proofRelatedNodes }
      const outcome = verifier.safeVerifyProof(
        { accountProof: { ...accountProof, proof }, storageProofs: [] },
        { stateRoot, address },
      )
      return outcome.ok ? 'accepted' : `${outcome.error.code} at ${outcome.error.path.replace(/^.*\./, '')}`
    }
    expect(verify(nodes)).toBe('accepted')
    for (const inner of [nodes[5], nodes[39]]) {
      // In mimc entry 0 has the length of an inner node; a digest where a word belongs is no index.
      const atTop = scheme === mimc ? /^INDEX_OUT_OF_RANGE at proofRelatedNodes\[0\]/ : /^WRONG_LENGTH/
      expect(verify(nodes.with(0, inner ?? '0x'))).toMatch(atTop)
      for (const entry of [40, 41]) {
        expect(verify(nodes.with(entry, inner ?? '0x'))).toBe(`WRONG_LENGTH at proofRelatedNodes[${entry}]`)
      }
    }
    expect(verify(nodes)).toBe('accepted')
    expect(verifier.verifyProof(world.getProof(address), { stateRoot, address }).account?.leafIndex).toBe(7)
  })
})

it('remembers every kind of entry', () => {
  const known: { [kind in keyof KnownNodes]: KnownTexts<unknown> } = rememberLastNodes(poseidon2)
  const kinds = Object.entries(known)
  for (const [kind, texts] of kinds) texts.add(7, kind, texts)
  expect(kinds.map(([kind, texts]) => texts.find(7, kind))).toEqual(kinds.map(([, texts]) => texts))
  expect(kinds.length).toBe(4)
})

it('remembers the last text of each entry, all of it, and what is known without memory', () => {
  const known = rememberLastNodes(poseidon2).inner
  const empty = proven(poseidon2).nodes[1] ?? ''
  const [a, b] = [1, 2].map((byte): TreeNode => ({ preimage: new Uint8Array(64).fill(byte), digest: NOT_HASHED }))
  if (!a || !b) throw new Error('two nodes')
  expect(known.find(1, empty)?.preimage).toEqual(hexToBytes(empty, 64))
  known.add(1, '0xaa', a)
  expect([known.find(1, '0xaa'), known.find(1, '0xab'), known.find(2, '0xaa')]).toEqual([a, undefined, undefined])
  known.add(2, '0xbb', b)
  expect([known.find(1, '0xaa'), known.find(2, '0xbb'), known.find(1, '0xbb')]).toEqual([a, b, undefined])
  known.add(1, '0xbb', b)
  expect([known.find(1, '0xaa'), known.find(1, '0xbb')]).toEqual([undefined, b])
  expect(known.find(1, empty)?.preimage).toEqual(hexToBytes(empty, 64))
})
