/** `npm run bench:beacon`: times the steps from a checkpoint to L1, beside one signature. Prints Markdown. */
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { verifyBootstrap, verifyFinality, verifyUpdate } from '../../src/beacon.ts'
import { hexToBytes } from '../../src/bytes.ts'
import { readValid } from '../beacon/vectors.ts'
import { measureInTurns } from './measure.ts'

const { longSignatures, G1 } = bls12_381
const { input } = readValid('electra')
const { bootstrap, updates, finality } = input.answers
const [update] = updates as unknown[]
const { committee } = verifyBootstrap(bootstrap, input)
const ABSENT = [3, 77, 130, 511]

const secret = hexToBytes(`0x${'17'.repeat(32)}`, 32)
const message = longSignatures.hash(new Uint8Array(32))
const signature = longSignatures.Signature.toBytes(longSignatures.sign(message, secret))
const publicKey = longSignatures.getPublicKey(secret).toBytes()
const decode = (key: string) => G1.Point.fromBytes(hexToBytes(key, 48))

const times = measureInTurns(
  {
    'one noble longSignatures.verify, message hashed': () =>
      longSignatures.verify(signature, longSignatures.hash(new Uint8Array(32)), publicKey),
    verifyBootstrap: () => verifyBootstrap(bootstrap, input),
    verifyUpdate: () => verifyUpdate(update, committee),
    verifyFinality: () => verifyFinality(finality, input.committee),
    'signers’ key: the aggregate less 4 absent keys': () =>
      ABSENT.reduce(
        (sum, index) => sum.subtract(decode(committee.pubkeys[index] ?? '')),
        decode(committee.aggregatePubkey),
      ),
    'signers’ key: adding up 508 keys': () =>
      committee.pubkeys.reduce(
        (sum, key, index) => (ABSENT.includes(index) ? sum : sum.add(decode(key))),
        G1.Point.ZERO,
      ),
  },
  { turns: 5, turnMs: 100 },
)
const [one = 1] = Object.values(times)
console.log('| step | ms | signatures |\n|---|---|---|')
for (const [name, time] of Object.entries(times)) {
  console.log(`| ${name} | ${(time / 1000).toFixed(1)} | ${(time / one).toFixed(2)} |`)
}
