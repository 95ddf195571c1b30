import { expect, it } from 'vitest'
import { createBundle, verifyEvidence } from '../src/anchor.ts'
import { createVerifier, isArgumentError, isProofError, verifyProof } from '../src/index.ts'
import { poseidon2 } from '../src/poseidon2.ts'
import { createVerifiedProvider } from '../src/provider.ts'
import { followFinalizations } from '../src/rpc.ts'
import { sampleOf } from './cli/io.ts'

/** What people do wrong at first, and the message that sets them right. */

const { result: answer, stateRoot, storageKeys, address } = sampleOf(poseidon2)
const claim = { scheme: poseidon2, stateRoot, address, storageKeys }
const rollup = { address: `0x${'ff'.repeat(20)}` } as const
const bundle = createBundle({ scheme: poseidon2, rollup, l2BlockNumber: 7n, address, storageKeys, answer })
const evidence = {
  ...{ scheme: poseidon2, rollup, trusted: { l2StateRoot: stateRoot } },
  ...{ l2BlockNumber: 7n, address, storageKeys },
} as const

/** As a program in JavaScript, which no compiler checks. */
const untyped = (work: (...args: never[]) => unknown, ...args: unknown[]) => Reflect.apply(work, undefined, args)
const proof = (wrong: object, given: unknown = answer) => untyped(verifyProof, given, { ...claim, ...wrong })
const provider = (wrong: object) => {
  const l1BlockHash = () => stateRoot
  return untyped(createVerifiedProvider, {
    ...{ l1: 'http://127.0.0.1:1', l2: 'http://127.0.0.1:1', rollup: { ...rollup, chainId: 1 } },
    ...{ scheme: poseidon2, l1BlockHash, ...wrong },
  })
}

const IMPORT_SCHEME = "the object poseidon2 of 'rollup-state-proof/poseidon2' or mimc of 'rollup-state-proof/mimc'"
const IMPORT_ROLLUP = "lineaRollup or lineaSepoliaRollup of 'rollup-state-proof/anchor'"
const HASH = "expected a function: () => hash, or one of 'rollup-state-proof/rpc'"

const inPrograms: [what: string, work: () => unknown, message: string][] = [
  ['the name of a scheme', () => proof({ scheme: 'poseidon2' }), IMPORT_SCHEME],
  ['the module of a scheme', () => proof({ scheme: { poseidon2 } }), IMPORT_SCHEME],
  ['a verifier of a name', () => untyped(createVerifier, 'mimc'), IMPORT_SCHEME],
  ['the name of a rollup', () => untyped(verifyEvidence, bundle, { ...evidence, rollup: 'mainnet' }), IMPORT_ROLLUP],
  ['the name of a rollup for a provider', () => provider({ rollup: 'linea' }), IMPORT_ROLLUP],
  ['JSON text for an answer', () => proof({}, JSON.stringify(answer)), 'found JSON text: parse it first'],
  [
    'indented JSON text for a bundle',
    () => untyped(verifyEvidence, JSON.stringify(bundle, null, 2), evidence),
    'found JSON text: parse it first',
  ],
  ['JSON text for a claim', () => untyped(verifyProof, answer, '{"scheme":"mimc"}'), 'found JSON text: parse it first'],
  ['an answer that was not awaited', () => proof({}, Promise.resolve(answer)), 'found a promise: await it first'],
  [
    'a bundle that was not awaited',
    () => untyped(verifyEvidence, Promise.resolve(bundle), evidence),
    'found a promise: await it first',
  ],
  [
    'a root that was not awaited',
    () => proof({ stateRoot: Promise.resolve(stateRoot) }),
    'stateRoot: expected 0x-prefixed hexadecimal of 32 bytes, found a promise: await it first',
  ],
  [
    'a claim that was not awaited',
    () => untyped(verifyProof, answer, Promise.resolve(claim)),
    'found a promise: await it first',
  ],
  ['the L1 block hash itself', () => provider({ l1BlockHash: stateRoot }), HASH],
  [
    'the L1 block hash itself, to follow',
    () =>
      untyped(followFinalizations, {
        l1: 'http://127.0.0.1:1',
        l2: 'http://127.0.0.1:1',
        rollup,
        scheme: poseidon2,
        requests: [{ address, storageKeys }],
        l1BlockHash: stateRoot,
      }),
    HASH,
  ],
  [
    'an answer for a bundle',
    () => untyped(verifyEvidence, answer, evidence),
    'expected an evidence bundle, found an answer alone: use verifyProof, with its state root',
  ],
  [
    'a response for a bundle',
    () => untyped(verifyEvidence, { jsonrpc: '2.0', id: 1, result: answer }, evidence),
    'found an answer alone: use verifyProof',
  ],
  ['a bundle for an answer', () => proof({}, bundle), 'expected an answer, found a bundle: use verifyEvidence'],
  [
    'an eth_getProof answer',
    () => proof({}, { accountProof: [], storageProof: [], storageHash: stateRoot }),
    'FOREIGN_PROOF: expected linea_getProof, found eth_getProof',
  ],
  [
    'an address without 0x',
    () => proof({ address: 'aa'.repeat(20) }),
    'address: expected 0x-prefixed hexadecimal of 20 bytes, found 20 bytes (an address?) without 0x',
  ],
  ['a root without 0x', () => proof({ stateRoot: stateRoot.slice(2) }), 'found 32 bytes (a hash?) without 0x'],
  ['a digit that is missing', () => proof({ stateRoot: stateRoot.slice(0, -1) }), 'found an odd number of digits'],
  [
    'an address and a root that are swapped',
    () => proof({ stateRoot: address, address: stateRoot }),
    'stateRoot: expected 0x-prefixed hexadecimal of 32 bytes, found 20 bytes (an address?)',
  ],
  [
    'a root in the place of an address',
    () => proof({ address: stateRoot }),
    'address: expected 0x-prefixed hexadecimal of 20 bytes, found 32 bytes (a hash?)',
  ],
  [
    'bytes instead of hexadecimal',
    () => proof({ stateRoot: new Uint8Array(32) }),
    'stateRoot: expected 0x-prefixed hexadecimal of 32 bytes, found bytes, not hexadecimal text',
  ],
  [
    'a Buffer instead of hexadecimal',
    () => proof({ storageKeys: [Buffer.alloc(32)] }),
    'storageKeys[0]: expected 0x-prefixed hexadecimal of 32 bytes, found bytes, not hexadecimal text',
  ],
]

it.each(inPrograms)('in a program: %s', (_, work, message) => {
  const error = errorOf(work)
  expect(isArgumentError(error) || isProofError(error), String(error)).toBe(true)
  expect(error).toMatchObject({ message: expect.stringContaining(message) })
})

function errorOf(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}
