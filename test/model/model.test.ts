import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { strided } from '../size.ts'
import { hex, integer, type SchemeName, schemes, slice, ZERO } from './hash.ts'
import { emptyDigest, emptyTree, type Leaf, prove, put, root, type Tree } from './tree.ts'
import { type Question, verify } from './verify.ts'
import { type Answer, createWorld, emptyRoot, hashAccount, hashAddress, type World } from './world.ts'

const { mimc, poseidon2 } = schemes
const bytes32 = (x: number): string => `0x${hex(BigInt(x), 32)}`

it('hashes the published known answers', () => {
  expect(mimc.H(ZERO)).toBe('0134373b65f439c874734ff51ea349327c140cde2e47a933146e6f9f2ad8eb17')
  expect(emptyDigest(mimc, 40)).toBe('09c43afd684b1243cc64af08b18565a71a7f504ecf9721f3c1cd3704f71bdff6')
  expect(emptyRoot(mimc)).toBe('07977874126658098c066972282d4c85f230520af3847e297fe7524f976873e5')
  expect(emptyRoot(poseidon2)).toBe('2fa0344a2fab2b310d2af3155c330261263f887379aef18b4941e3ea1cc59df7')
  const zeroAddress = hashAddress(poseidon2, '00'.repeat(20))
  expect(zeroAddress).toBe('225471e76dca970375f18cc4222539bf1893f40b2c28b7d62119af207704c426')
})

it('refuses to hash a non-canonical element, anywhere in a node', () => {
  const mimcModulus = hex(integer(mimc.TAIL) + 1n, 32)
  for (const bad of [mimcModulus, 'ff'.repeat(32), '00']) {
    for (const node of [bad, ZERO + bad]) expect(() => mimc.H(node)).toThrow()
  }
  for (const bad of ['7f000001', 'ffffffff', '00']) {
    for (const node of [bad, ZERO + bad]) expect(() => poseidon2.H(node)).toThrow()
  }
  expect(() => poseidon2.readWord('00010000'.repeat(16))).toThrow()
})

const shared = '../shared/vectors'
const hasShared = existsSync(shared)
const recorded = hasShared ? readdirSync(`${shared}/recorded`) : []
if (!hasShared) console.warn(`SKIPPED 2 tests of the model: the folder ${shared} is not here`)

type Recorded = Question & { result: Answer; stateRoot: string | null }
type KnownAnswers = {
  mimc: { blocks: string[]; digest: string }[]
  poseidon2: { message: string; digest: string }[]
  poseidon2AccountKey: { address: string; hKey: string }[]
}

describe.runIf(hasShared)('against the shared vectors', () => {
  it('hashes every known answer', () => {
    const known: KnownAnswers = JSON.parse(readFileSync(`${shared}/known-answers.json`, 'utf8'))
    const bare = (x: string): string => x.slice(2)
    const expected = [
      ...known.mimc.map(({ blocks, digest }) => [mimc.H(blocks.map(bare).join('')), digest]),
      ...known.poseidon2.map(({ message, digest }) => [poseidon2.H(bare(message)), digest]),
      ...known.poseidon2AccountKey.map(({ address, hKey }) => [hashAddress(poseidon2, bare(address)), hKey]),
    ]
    expect(expected.length).toBe(5 + 8 + 8)
    for (const [digest = '', known] of expected) expect(`0x${digest}`).toBe(known)
  })

  it('verifies the recorded proofs', () => {
    const verdicts = recorded.map(file => {
      const recorded: Recorded = JSON.parse(readFileSync(`${shared}/recorded/${file}`, 'utf8'))
      const stateRoot = recorded.stateRoot ?? hashFirstNode(recorded.scheme, recorded.result)
      const verdict = verify(recorded.result, { ...recorded, stateRoot })
      return [file, verdict === 'invalid' ? verdict : [verdict.account?.leafIndex, verdict.storage.map(s => s.exists)]]
    })
    expect(Object.fromEntries(verdicts)).toEqual({
      'mimc-contract-one-slot.json': [106, [true]],
      'mimc-mainnet-account.json': [1688375, []],
      'mimc-mainnet-missing-account.json': [undefined, []],
      'poseidon2-contract-one-slot.json': [3, [true]],
      'poseidon2-devnet-missing-account.json': [undefined, []],
    })
  })
})

function hashFirstNode(name: SchemeName, { accountProof }: Answer): string {
  const proof = 'proof' in accountProof ? accountProof.proof : accountProof.leftProof
  return `0x${schemes[name].H(String(proof.proofRelatedNodes[0]).slice(2))}`
}

const alice = `0x${'a1'.repeat(20)}`
const bob = `0x${'b2'.repeat(20)}`
const carol = `0x${'c3'.repeat(20)}`
const dave = `0x${'d4'.repeat(20)}`
const absent = (key: string) => ({ key, value: bytes32(0), exists: false, leafIndex: null })

const fieldsOf = (name: SchemeName, nonce: bigint) => ({
  nonce,
  balance: 10n ** 20n,
  snarkCodeHash: `0x${schemes[name].H(ZERO)}`,
  keccakCodeHash: `0x${'ff'.repeat(32)}`,
  codeSize: 2n ** 64n - 1n,
})

// Alice has slots 1, 3 (overwritten) and 4; slot 2 was deleted. Bob never had a slot. Carol and Dave's only slot were deleted.
function populate(name: SchemeName): World {
  const world = createWorld(name)
  for (const address of [alice, bob, carol, dave]) world.setAccount(address, fieldsOf(name, 1n))
  for (const slot of [1, 2, 3, 4]) world.setStorage(alice, bytes32(slot), bytes32(10 * slot))
  world.setStorage(alice, bytes32(2), bytes32(0))
  world.setStorage(alice, bytes32(3), `0x${'ff'.repeat(32)}`)
  world.setStorage(carol, bytes32(1), bytes32(1))
  world.deleteAccount(carol)
  world.setStorage(dave, bytes32(1), bytes32(1))
  world.setStorage(dave, bytes32(1), bytes32(0))
  world.setAccount(alice, fieldsOf(name, 2n))
  return world
}

/** Every copy of an answer with one part replaced, removed, shortened or lengthened. */
function* mutate(part: unknown): Generator<unknown> {
  yield null
  if (typeof part === 'number') yield* [part + 1, part - 1, part + 0.5, part + 2 ** 40, -1 - part, `${part}`]
  if (typeof part === 'string') {
    yield* [part.slice(2), part.slice(0, -1), part.slice(0, -2), `${part}00`, part.replace('0x', '0x00')]
    for (const at of [2, part.length >> 1, part.length - 1]) {
      const digit = (Number.parseInt(part.charAt(at), 16) ^ 1).toString(16)
      yield part.slice(0, at) + digit + part.slice(at + 1)
    }
  }
  if (Array.isArray(part)) {
    yield* [{ ...part }, [...part, null], [...part, part[0]]]
    for (const [i, item] of part.entries()) {
      yield part.toSpliced(i, 1)
      for (const mutated of mutate(item)) yield part.with(i, mutated)
    }
  } else if (typeof part === 'object' && part !== null) {
    for (const [name, item] of Object.entries(part)) {
      yield Object.fromEntries(Object.entries(part).filter(([other]) => other !== name))
      for (const mutated of mutate(item)) yield { ...part, [name]: mutated }
    }
  }
}

describe.each<SchemeName>(['mimc', 'poseidon2'])('a small world of %s', name => {
  const scheme = schemes[name]
  const populated = populate(name)
  const stateRoot = populated.stateRoot()
  const ask = (address: string, storageKeys: string[], answer: unknown, root = stateRoot) =>
    verify(answer, { scheme: name, stateRoot: root, address, storageKeys })

  it('proves presence and absence', () => {
    const keys = [4, 2, 3, 1, 9].map(bytes32)
    const { keccakCodeHash: codeHash, ...fields } = fieldsOf(name, 2n)
    const verdict = ask(alice, keys, populated.getProof(alice, keys))
    expect(verdict).toEqual({
      account: { ...fields, codeHash, leafIndex: 2, storageRoot: expect.any(String) },
      storage: [
        { key: bytes32(4), value: bytes32(40), exists: true, leafIndex: expect.any(Number) },
        absent(bytes32(2)),
        { key: bytes32(3), value: `0x${'ff'.repeat(32)}`, exists: true, leafIndex: expect.any(Number) },
        { key: bytes32(1), value: bytes32(10), exists: true, leafIndex: expect.any(Number) },
        absent(bytes32(9)),
      ],
    })
    expect(ask(carol, keys, populated.getProof(carol, keys))).toEqual({ account: null, storage: keys.map(absent) })
  })

  it('serves no storage proofs from an unused storage tree, and real ones from an emptied one', () => {
    const keys = [bytes32(1)]
    expect(populated.getProof(bob, keys).storageProofs).toEqual([])
    expect(ask(bob, keys, populated.getProof(bob, keys))).toMatchObject({ storage: keys.map(absent) })
    expect(populated.getProof(dave, keys).storageProofs).toMatchObject([{ leftLeafIndex: 0, rightLeafIndex: 1 }])
    expect(ask(dave, keys, populated.getProof(dave, keys))).toMatchObject({ storage: keys.map(absent) })
  })

  it('gives a new leaf a new index, and a recreated account an empty storage tree', () => {
    const world = populate(name)
    world.setAccount(carol, fieldsOf(name, 1n))
    const verdict = ask(carol, [], world.getProof(carol, []), world.stateRoot())
    expect(verdict).toMatchObject({ account: { leafIndex: 6, storageRoot: `0x${emptyRoot(scheme)}` } })
  })

  it('reads nulls and missing entries as absent only where the account proves it', () => {
    const keys = [bytes32(1), bytes32(2)]
    const served = (address: string, storageProofs: unknown) =>
      ask(address, keys, { ...populated.getProof(address, keys), storageProofs })
    const aSlot = prove(emptyTree(scheme), keys[0]?.slice(2) ?? '', scheme.H(scheme.full(hex(1n, 32))))
    for (const address of [bob, carol]) {
      expect(served(address, [null, null])).toMatchObject({ storage: keys.map(absent) })
      expect(served(address, [null])).toBe('invalid')
      expect(served(address, [null, null, null])).toBe('invalid')
    }
    expect(served(bob, [aSlot, null])).toMatchObject({ storage: keys.map(absent) })
    for (const proofs of [[aSlot, null], undefined, null, {}]) expect(served(carol, proofs)).toBe('invalid')
    for (const proofs of [[], [null, null], undefined]) expect(served(alice, proofs)).toBe('invalid')
  })

  it('refuses every small change', () => {
    const keys = [bytes32(1), bytes32(9)]
    const answers: [string, Answer][] = [alice, carol].map(address => [address, populated.getProof(address, keys)])
    // A prime that does not divide the number of changes per part, so that every kind of part and change is tried.
    const stride = strided(7)
    let [seen, refused] = [0, 0]
    for (const [address, answer] of answers) {
      expect(ask(address, keys, answer)).not.toBe('invalid')
      expect(ask(address, keys, answer, bytes32(1))).toBe('invalid')
      for (const mutated of mutate(answer)) {
        if (seen++ % stride !== 0) continue
        expect(ask(address, keys, mutated)).toBe('invalid')
        refused++
      }
    }
    expect(seen).toBeGreaterThan(2000)
    expect(refused).toBe(Math.ceil(seen / stride))
  })

  it('refuses a true proof of something else', () => {
    const of = (address: string) => populated.getProof(address, []).accountProof
    const claim = (accountProof: object) => ask(alice, [], { accountProof, storageProofs: [] })
    const keys = [bytes32(1), bytes32(9)]
    const { accountProof, storageProofs } = populated.getProof(alice, keys)
    expect(claim(of(alice))).not.toBe('invalid')
    expect(claim({ ...of(bob), key: alice })).toBe('invalid')
    expect(claim({ ...of(carol), key: alice })).toBe('invalid')
    expect(claim({ ...of(carol), ...of(alice) })).toBe('invalid')
    expect(ask(alice, keys, { accountProof, storageProofs: storageProofs.toReversed() })).toBe('invalid')
  })

  it('refuses unreduced elements, though a silent reduction would give the same hash', () => {
    const modulus = name === 'mimc' ? integer(scheme.TAIL) + 1n : 0x7f000001n
    const [unit, limbs] = name === 'mimc' ? [32, 1] : [4, 8]
    const { accountProof } = populated.getProof(alice, [])
    if (!('proof' in accountProof)) throw new Error('alice exists')
    const nodes = accountProof.proof.proofRelatedNodes.map(node => node.slice(2))
    const inflate = (node: string, from: number) => {
      const inflated = hex(integer(slice(node, from, unit)) + modulus, unit)
      return slice(node, 0, from) + inflated + node.slice(2 * (from + unit))
    }
    let refused = 0
    for (const [i, node] of nodes.entries()) {
      const lastDigest = node.length / 2 - 32
      for (let limb = 0; limb < limbs; limb++) {
        const inflated = inflate(node, lastDigest + limb * unit)
        const proofRelatedNodes = nodes.with(i, inflated).map(node => `0x${node}`)
        const mutated = { ...accountProof, proof: { ...accountProof.proof, proofRelatedNodes } }
        expect(ask(alice, [], { accountProof: mutated, storageProofs: [] })).toBe('invalid')
        refused++
      }
    }
    expect(refused).toBe(42 * limbs)
  })

  // The attacker chose the root and every hash matches, so only the rule under test can refuse the tree.
  it.each<[string, (tree: Tree) => void]>([
    ['a leaf index not below nextFreeNode', tree => Object.assign(tree, { nextFreeNode: 1 })],
    ['left.next elsewhere', tree => forge(tree, 0, { next: 7 })],
    ['right.prev elsewhere', tree => forge(tree, 1, { prev: 7 })],
    ['HEAD with a value hash', tree => forge(tree, 0, { hVal: scheme.TAIL })],
    ['HEAD with a served value', tree => forge(tree, 0, { value: scheme.TAIL })],
    ['HEAD with another key', tree => forge(tree, 0, { hKey: hex(1n, 32) })],
    ['TAIL with another key', tree => forge(tree, 1, { hKey: hex(integer(scheme.TAIL) - 1n, 32) })],
    ['TAIL at another index', moveTail],
  ])('refuses a forged tree: %s', (_, change) => {
    const tree = emptyTree(scheme)
    const askTree = () => {
      const accountProof = prove(tree, carol.slice(2), hashAddress(scheme, carol.slice(2)))
      return ask(carol, [], { accountProof, storageProofs: [] }, `0x${root(tree)}`)
    }
    expect(askTree()).toEqual({ account: null, storage: [] })
    change(tree)
    expect(askTree()).toBe('invalid')
  })

  it.each([
    ['the first node', 0, alice],
    ['an inner node', 7, alice],
    ['the sibling leaf', 40, alice],
    ['a leaf beside a leaf', 41, alice],
    ['a leaf beside a missing one', 41, dave],
  ])('refuses an extra or missing element in %s, though the path hashes to the root', (_, place, address) => {
    const { accountProof } = populated.getProof(address, [])
    if (!('proof' in accountProof)) throw new Error(`${address} exists`)
    const { value, proofRelatedNodes } = accountProof.proof
    const nodes = proofRelatedNodes.map(node => node.slice(2))
    const node = nodes[place] ?? ''
    const askAbout = (changed: string) => {
      const sealed = seal(name, accountProof.leafIndex, nodes.with(place, changed))
      const proof = { value, proofRelatedNodes: sealed.map(sealedNode => `0x${sealedNode}`) }
      const sealedRoot = `0x${scheme.H(sealed[0] ?? '')}`
      return ask(address, [], { accountProof: { ...accountProof, proof }, storageProofs: [] }, sealedRoot)
    }
    expect(askAbout(node)).not.toBe('invalid')
    expect(askAbout(node + ZERO)).toBe('invalid')
    // Sealing would restore a shortened first node.
    if (place > 0) expect(askAbout(node.slice(0, -64))).toBe('invalid')
  })

  it.each([
    [0, 2n ** 64n - 1n, 2],
    [0, 2n ** 64n, undefined],
    [5, 2n ** 64n - 1n, 2],
    [5, 2n ** 64n, undefined],
    [1, 2n ** 250n, 2],
    [1, 2n ** 255n, name === 'mimc' ? undefined : 2],
  ])('bounds the numbers of an account: field %i with %i', (field, number, leafIndex) => {
    const value = Array(6).fill(ZERO).with(field, hex(number, 32)).join('')
    const tree = emptyTree(scheme)
    const hVal = leafIndex === undefined && field === 1 ? ZERO : hashAccount(scheme, value)
    put(tree, hashAddress(scheme, carol.slice(2)), hVal, value)
    const accountProof = prove(tree, carol.slice(2), hashAddress(scheme, carol.slice(2)))
    const verdict = ask(carol, [], { accountProof, storageProofs: [] }, `0x${root(tree)}`)
    if (leafIndex === undefined) expect(verdict).toBe('invalid')
    else expect(verdict).toMatchObject({ account: { leafIndex } })
  })
})

function forge(tree: Tree, index: number, change: Partial<Leaf>): void {
  const leaf = tree.leaves.get(index)
  if (!leaf) throw new Error(`no leaf ${index}`)
  tree.leaves.set(index, { ...leaf, ...change })
}

function moveTail(tree: Tree): void {
  const tail = tree.leaves.get(1)
  if (!tail) throw new Error('no TAIL')
  tree.leaves.delete(1)
  tree.leaves.set(2, tail)
  tree.nextFreeNode = 3
  forge(tree, 0, { next: 2 })
}

/** The nodes with a recomputed sub-root, so that the path matches whatever the nodes contain. */
function seal(name: SchemeName, leafIndex: number, nodes: string[]): string[] {
  const { H, wordLength } = schemes[name]
  const [firstNode = '', ...path] = nodes
  const [leaf = '', ...siblings] = path.reverse().map((node, i) => (i === 1 && node === ZERO ? ZERO : H(node)))
  const subRoot = siblings.reduce((running, sibling, level) => {
    return Math.floor(leafIndex / 2 ** level) % 2 === 1 ? H(sibling + running) : H(running + sibling)
  }, leaf)
  return [slice(firstNode, 0, wordLength) + subRoot + slice(firstNode, wordLength + 32, 32), ...nodes.slice(1)]
}
