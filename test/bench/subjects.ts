import { createWorld, type World } from '../../src/devnet/index.ts'
import { type Claim, type Hex, type Scheme, type VerifiedState, verifyProof } from '../../src/entry/index.ts'
import type { Hasher } from '../../src/verify/hash/hasher.ts'
import { mimcKernel } from '../../src/verify/hash/mimc/kernel.ts'
import { mimcPlain } from '../../src/verify/hash/mimc/plain.ts'
import { poseidon2Kernel } from '../../src/verify/hash/poseidon2/kernel.ts'
import { poseidon2Plain } from '../../src/verify/hash/poseidon2/plain.ts'
import { plainTrees, type Trees } from '../../src/verify/proof/tree.ts'
import { verifyAnswer } from '../../src/verify/proof/verify.ts'
import { mimc } from '../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../src/verify/scheme/poseidon2.ts'
import { createScheme, type HashScheme } from '../../src/verify/scheme/scheme.ts'
import { readClaim } from '../../src/verify/verifier/verify-proof.ts'
import { addressFor, keyFor, wordFor } from '../../vectors/vector.ts'
import { mimcReference } from '../verify/hash/reference/mimc.ts'
import { poseidon2Reference } from '../verify/hash/reference/poseidon2.ts'

/** One way to verify: a scheme with one of its hashers. */
export interface Engine {
  readonly scheme: HashScheme
  verify(answer: unknown, claim: Omit<Claim, 'scheme'>): VerifiedState
}

/** `kernelAlone` hashes every node, as the reference does, to show the gain of the kernel without known empty subtrees. */
export type EngineName = 'reference' | 'fallback' | 'kernelAlone' | 'kernel'

function engineOf(
  scheme: HashScheme,
  hasher: Hasher,
  verify: (answer: unknown, claim: Claim) => VerifiedState = verifyProof,
): Engine {
  // Not a copy: copying the scheme would create its own hasher.
  const withHasher = createScheme(Object.create(scheme, { hasher: { value: hasher } }))
  return {
    scheme: withHasher,
    verify: (answer, claim) => verify(answer, { ...claim, scheme: withHasher }),
  }
}

/** `verifyProof` with other trees of the scheme. */
export function verifyWith(treesOf: (scheme: HashScheme) => Trees, answer: unknown, claim: Claim): VerifiedState {
  const { scheme, claim: decoded } = readClaim(claim)
  return verifyAnswer(treesOf(scheme), answer, decoded)
}

const hashEveryNode = (answer: unknown, claim: Claim) => verifyWith(plainTrees, answer, claim)

/** A scheme with its engines to measure. */
export interface Subject {
  readonly scheme: Scheme
  readonly engines: Readonly<Record<EngineName, Engine>>
}

/** The reference hashes every node. The fallback and the kernel know the empty subtrees, as in the package. */
export const schemes: readonly Subject[] = [
  {
    scheme: poseidon2,
    engines: {
      reference: engineOf(poseidon2, poseidon2Reference(), hashEveryNode),
      fallback: engineOf(poseidon2, poseidon2Plain()),
      kernelAlone: engineOf(poseidon2, poseidon2Kernel(), hashEveryNode),
      kernel: engineOf(poseidon2, poseidon2Kernel()),
    },
  },
  {
    scheme: mimc,
    engines: {
      reference: engineOf(mimc, mimcReference(), hashEveryNode),
      fallback: engineOf(mimc, mimcPlain()),
      kernelAlone: engineOf(mimc, mimcKernel(), hashEveryNode),
      kernel: engineOf(mimc, mimcKernel()),
    },
  },
]

/** A claim, and the JSON text of its answer. */
export interface Question {
  readonly claim: { readonly stateRoot: Hex; readonly address: Hex; readonly storageKeys: readonly Hex[] }
  readonly text: string
}

/** The measured contract. */
export const CONTRACT = addressFor('contract')
export const SLOTS = 1000

/** A state of a thousand accounts. One of them has a thousand slots. */
export function createState(scheme: Scheme): World {
  const world = createWorld(scheme)
  for (let index = 0; index < 1000; index++) world.setAccount(addressFor(`account ${index}`), { balance: 7n })
  world.setAccount(CONTRACT, { nonce: 1n, balance: 5n, codeSize: 9n, codeHash: keyFor('code') })
  for (let index = 0; index < SLOTS; index++)
    world.setStorage(CONTRACT, { key: keyFor(index), value: wordFor(index + 1) })
  return world
}

export function ask(world: World, address: Hex, storageKeys: readonly Hex[]): Question {
  const claim = { stateRoot: world.stateRoot(), address, storageKeys }
  return { claim, text: JSON.stringify(world.getProof(address, storageKeys)) }
}
