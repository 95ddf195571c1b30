import { hashAccountKey } from '../../src/verify/verifier/leaf-api.ts'
import { type LooseAnswer, slice } from '../forge.ts'
import { ACCOUNTS } from '../world.ts'
import { type Forgery, type ForgeryClass, nodeOf, slotProof, type Truth } from './forgery.ts'
import { plantGap } from './planted.ts'

/** A true gap, but not the one that contains the key. */
export const ordering: ForgeryClass = truth => {
  const { scheme, absent, otherAbsent, absentSlot, otherAbsentSlot } = truth
  const reversed = plantGap(scheme, absent.address, { reversed: true })
  return [
    keyOfNeighbour(truth, 'left'),
    keyOfNeighbour(truth, 'right'),
    {
      name: 'key-in-another-gap',
      code: 'KEY_NOT_BETWEEN',
      description: 'True neighbours, but of another key.',
      from: otherAbsent,
      forge: ({ accountProof }) => {
        accountProof.key = absent.address
      },
      claim: { address: absent.address },
    },
    {
      name: 'slot-key-in-another-gap',
      code: 'KEY_NOT_BETWEEN',
      description: 'True neighbours of another absent slot.',
      from: otherAbsentSlot,
      forge: answer => {
        slotProof(answer).key = absentSlot.storageKeys[0] ?? ''
      },
      claim: { storageKeys: absentSlot.storageKeys },
    },
    {
      name: 'interval-reversed',
      code: 'KEY_NOT_BETWEEN',
      description: 'Two leaves that point at each other, the larger on the left: no key lies between.',
      from: absent,
      forge: () => reversed.answer,
      claim: { stateRoot: reversed.root },
    },
  ]
}

function keyOfNeighbour(
  { scheme, layout, world, absent, absentAddresses, ask }: Truth,
  side: 'left' | 'right',
): Forgery {
  const owners = new Map(ACCOUNTS.map(address => [hashAccountKey(scheme, address), address]))
  const neighbourOf = (answer: LooseAnswer) =>
    owners.get(slice(nodeOf(answer.accountProof[`${side}Proof`], 41), layout.hKey, 32))
  const answer = absentAddresses.map(address => ask(world, address).answer).find(neighbourOf)
  const address = answer && neighbourOf(answer)
  if (answer === undefined || address === undefined) throw new Error('no gap next to a known account')
  return {
    name: `key-equals-${side}-neighbour`,
    code: 'KEY_NOT_BETWEEN',
    description: `The key of the ${side} neighbour itself: the interval is open at both ends.`,
    from: { ...absent, answer },
    forge: ({ accountProof }) => {
      accountProof.key = address
    },
    claim: { address },
  }
}
