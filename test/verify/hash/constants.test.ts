import { expect, it } from 'vitest'
import { BLS12377_ORDER } from '../../../src/verify/field/bls12377.ts'
import { KOALABEAR_ORDER } from '../../../src/verify/field/koalabear.ts'
import { mimcConstants } from '../../../src/verify/hash/mimc/constants.ts'
import { poseidon2Constants } from '../../../src/verify/hash/poseidon2/constants.ts'
import { roundConstants } from '../../tools/round-constants.ts'

it('has the constants of the keccak chain', () => {
  const mimc = roundConstants('seed', BLS12377_ORDER)
  expect(mimcConstants).toEqual(Array.from({ length: 62 }, () => mimc.next().value))
  const poseidon2 = roundConstants('Poseidon2-koalabear[t=16,rF=6,rP=21,d=3]', BigInt(KOALABEAR_ORDER))
  expect(poseidon2Constants).toEqual(Array.from({ length: 117 }, () => Number(poseidon2.next().value)))
})
