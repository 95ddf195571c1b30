import { describe, expect, it } from 'vitest'
import { hexToBytes } from '../../src/bytes.ts'
import { createVerifier, type Hex, ProofError, type Scheme, verifyExistence } from '../../src/index.ts'
import { mimc } from '../../src/mimc.ts'
import { poseidon2 } from '../../src/poseidon2.ts'
import { knownEmptyNodes, rememberNodes } from '../../src/proof/known-nodes.ts'
import { decodeNodes } from '../../src/proof/nodes.ts'
import { type InnerNode, NOT_HASHED } from '../../src/tree/path.ts'
import { createWorld } from '../../src/world.ts'
import { addressFor } from '../../vectors/vector.ts'

const address = addressFor('account 5')
const nothingKnown = { find: () => undefined, add: () => {} }

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
    const { top, inner, siblingLeaf, opening } = decodeNodes({ scheme, known: nothingKnown }, nodes)
    expect([top, ...inner.map(({ preimage }) => preimage), siblingLeaf, opening]).toEqual(nodes.map(bytesOf))
    expect(inner.length).toBe(39)
  })

  it('asks for the inner nodes and no others, takes what is known and hands over what is new', () => {
    const own: InnerNode = { preimage: new Uint8Array(64), digest: NOT_HASHED }
    const [found, added]: [[number, string][], [number, string, InnerNode][]] = [[], []]
    const known = {
      find: (entry: number, text: string) => {
        found.push([entry, text])
        return entry % 3 === 0 ? own : undefined
      },
      add: (...node: [number, string, InnerNode]) => {
        added.push(node)
      },
    }
    const { inner, top, siblingLeaf, opening } = decodeNodes({ scheme, known }, nodes)
    expect(found).toEqual([...nodes.entries()].slice(1, 40))
    expect(added.map(([entry, text]) => [entry, text])).toEqual(found.filter(([entry]) => entry % 3 !== 0))
    for (const [entry, , node] of added) expect(inner[entry - 1]).toBe(node)
    for (const [index, node] of inner.entries()) {
      const entry = index + 1
      if (entry % 3 === 0) expect(node).toBe(own)
      else expect(node.preimage).toEqual(bytesOf(nodes[entry] ?? '0x'))
    }
    expect([top, siblingLeaf, opening]).toEqual([nodes[0], nodes[40], nodes[41]].map(hex => bytesOf(hex ?? '0x')))
  })

  it('judges all inner nodes at once', () => {
    const lengths: number[] = []
    const isCanonical = (bytes: Uint8Array) => {
      lengths.push(bytes.length)
      return scheme.isCanonical(bytes)
    }
    decodeNodes({ scheme: { ...scheme, isCanonical }, known: nothingKnown }, nodes)
    expect(lengths).toEqual([39 * 64])
  })

  it.each(['nothing is known', 'others are known'])('names the entry that it refuses when %s', how => {
    const known = how === 'nothing is known' ? nothingKnown : knownEmptyNodes(scheme)
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

  it('knows the nodes without leaves, each in its place', () => {
    const known = knownEmptyNodes(scheme)
    const founds = nodes.map((text, entry) => known.find(entry, text))
    // Leaves 0 to 10: the lowest four levels hold leaves beside the path, the 35 siblings above them hold none.
    const emptyEntries = founds.flatMap((node, entry) => (node === undefined ? [] : [entry]))
    expect(emptyEntries.slice(0, 36)).toEqual(Array.from({ length: 36 }, (_, index) => index + 1))
    for (const entry of emptyEntries) {
      expect(founds[entry]?.preimage).toEqual(bytesOf(nodes[entry] ?? '0x'))
      expect(founds[entry]?.digest).toEqual(scheme.hasher.hash(bytesOf(nodes[entry] ?? '0x')))
    }
    expect(known.find(1, nodes[2] ?? '')).toBeUndefined()
    expect(known.find(2, nodes[1] ?? '')).toBeUndefined()
    expect(known.find(1, nodes[1] ?? '')).toBe(knownEmptyNodes(scheme).find(1, nodes[1] ?? ''))
  })

  it('hashes no inner node whose digest is known', () => {
    const counts: number[] = []
    const hashEach = (messages: Uint8Array, length: number) => {
      counts.push(messages.length / length)
      return scheme.hasher.hashEach(messages, length)
    }
    const counting = { ...scheme, hasher: { ...scheme.hasher, hashEach } }
    verifyExistence(accountProof, { scheme: counting, stateRoot, address })
    // Of 39, those that hold leaves: see above.
    expect(counts).toEqual([3])
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

it('remembers by the whole text, wherever it stands, and what is known without memory', () => {
  const known = rememberNodes(poseidon2, 9)
  const empty = proven(poseidon2).nodes[1] ?? ''
  const [a, b] = [1, 2].map((byte): InnerNode => ({ preimage: new Uint8Array(64).fill(byte), digest: NOT_HASHED }))
  if (!a || !b) throw new Error('two nodes')
  expect(known.find(1, empty)?.preimage).toEqual(hexToBytes(empty, 64))
  known.add(1, '0xaa', a)
  known.add(1, '0xbb', b)
  expect([known.find(1, '0xaa'), known.find(1, '0xbb'), known.find(1, '0xab')]).toEqual([a, b, undefined])
  expect([known.find(4, '0xaa'), known.find(1, empty)?.preimage]).toEqual([a, hexToBytes(empty, 64)])
})

it('holds as many nodes as its limit says', () => {
  const known = rememberNodes(poseidon2, 3)
  const node: InnerNode = { preimage: new Uint8Array(64), digest: NOT_HASHED }
  // Each at an entry of its own that is not asked for again, so that no entry's last text helps.
  for (const text of ['0x1', '0x2', '0x3']) known.add(1, text, node)
  expect(['0x1', '0x2', '0x3'].map(text => known.find(9, text))).toEqual([node, node, node])
  known.add(1, '0x4', node)
  expect(['0x1', '0x2', '0x4'].map(text => known.find(8, text))).toEqual([undefined, undefined, node])
})
