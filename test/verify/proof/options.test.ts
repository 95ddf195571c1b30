import { expect, it } from 'vitest'
import { createWorld } from '../../../src/devnet/index.ts'
import { createVerifier, safely, verifyProof } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { refusal } from '../../refusal.ts'

const address = `0x${'aa'.repeat(20)}` as const
const world = createWorld(poseidon2)
world.setAccount(address, { balance: 5n })
const claim = { scheme: poseidon2, stateRoot: world.stateRoot(), address, storageKeys: [] }
const answer = world.getProof(address)

it('refuses an unknown option, because a misspelt one would be ignored', () => {
  expect(verifyProof(answer, claim).account?.balance).toBe(5n)
  for (const name of ['storagekeys', 'storageKey', 'block', 'constructor']) {
    const misspelt = { ...claim, [name]: [] }
    const { scheme: _, ...without } = misspelt
    const wanted = { code: 'ARGUMENT_INVALID', path: name }
    expect(refusal(() => verifyProof(answer, misspelt))).toMatchObject(wanted)
    expect(safely(() => verifyProof(answer, misspelt))).toMatchObject({ ok: false, error: wanted })
    expect(refusal(() => createVerifier(poseidon2).verifyProof(answer, without))).toMatchObject(wanted)
  }
})
