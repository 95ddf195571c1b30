import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import * as worlds from '../../src/devnet/index.ts'
import * as core from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { DEVNET_PACKAGE, PACKAGE } from './build.ts'

// Bundlers and package managers may install two copies. Whatever one of them makes, the other one understands.

const loadFile = (...path: [string, string]) => import(/* @vite-ignore */ pathToFileURL(resolve(...path)).href)
const load = (name: string) => loadFile(PACKAGE, `dist/entry/${name}.js`)
const copy: typeof core = await load('index')
const { poseidon2: otherScheme }: { poseidon2: core.Scheme } = await load('poseidon2')
const { createWorld }: typeof worlds = await loadFile(DEVNET_PACKAGE, 'dist/index.js')

const address = `0x${'aa'.repeat(20)}` as const
const stateOf = (world: worlds.World) => {
  world.setAccount(address, { balance: 5n })
  return { answer: world.getProof(address), stateRoot: world.stateRoot() }
}

it('is another copy', () => {
  expect(copy.verifyProof).not.toBe(core.verifyProof)
  expect(copy.ProofError).not.toBe(core.ProofError)
  expect(otherScheme).not.toBe(poseidon2)
})

it.each([
  ['the scheme of a copy', core, otherScheme, createWorld],
  ['a copy with this scheme', copy, poseidon2, worlds.createWorld],
  ['a world of the devnet with this scheme', copy, poseidon2, createWorld],
])('verifies with %s', (_, { verifyProof, createVerifier }, scheme, create) => {
  const { answer, stateRoot } = stateOf(create(scheme))
  expect(verifyProof(answer, { scheme, stateRoot, address }).account?.balance).toBe(5n)
  expect(createVerifier(scheme).verifyProof(answer, { stateRoot, address }).account?.balance).toBe(5n)
})

it('recognizes the errors of the other copy', async () => {
  const claim = { scheme: poseidon2, stateRoot: `0x${'00'.repeat(32)}`, address } as const
  for (const [one, other] of [
    [core, copy],
    [copy, core],
  ] as const) {
    const proof = one.safely(() => other.verifyProof({}, claim))
    if (proof.ok) throw new Error('accepted')
    expect(proof.error).toBeInstanceOf(other.ProofError)
    expect(proof.error).not.toBeInstanceOf(one.ProofError)
    expect([one.isProofError(proof.error), one.isArgumentError(proof.error)]).toEqual([true, false])

    const argument = one.safely(() => other.verifyProof({}, { ...claim, scheme: { ...poseidon2 } }))
    if (argument.ok) throw new Error('accepted')
    expect(argument.error).toMatchObject({ code: 'ARGUMENT_INVALID', path: 'scheme' })
    expect([one.isProofError(argument.error), one.isArgumentError(argument.error)]).toEqual([false, true])
    expect(await one.safely(async () => other.verifyProof({}, claim))).toMatchObject({ ok: false })
  }
})
