/** `npm run bench:beacon`: times the steps from a checkpoint to L1, beside one signature. Prints Markdown. */
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { hexToBytes } from '../../src/base/bytes.ts'
import { verifyBootstrap, verifyFinality, verifyUpdate } from '../../src/entry/beacon.ts'
import { decodeCommittee, signersKey } from '../../src/verify/beacon/committee.ts'
import { readValid, trustedIn } from '../verify/beacon/vectors.ts'
import { measureInTurns } from './measure.ts'

const { longSignatures, G1 } = bls12_381
const { input } = readValid('electra')
const { bootstrap, updates, finality } = input.answers
const [update] = updates as unknown[]
const { committee } = verifyBootstrap(bootstrap, trustedIn(input))
const stored = structuredClone(committee)
const ABSENT = [3, 77, 130, 511]
const { keys, root } = decodeCommittee(committee)
/** 62 of 512 do not sign. */
const bits = new Uint8Array(64).fill(0xff, 8)
bits[0] = 0xc0
let turn = 0

const secret = hexToBytes(`0x${'17'.repeat(32)}`, 32)
const message = longSignatures.hash(new Uint8Array(32))
const signature = longSignatures.Signature.toBytes(longSignatures.sign(message, secret))
const publicKey = longSignatures.getPublicKey(secret).toBytes()
const decode = (key: string) => G1.Point.fromBytes(hexToBytes(key, 48))

const how = { turns: 5, turnMs: 100 }
const first = measureInTurns(
  {
    'one noble longSignatures.verify, message hashed': () =>
      longSignatures.verify(signature, longSignatures.hash(new Uint8Array(32)), publicKey),
    verifyBootstrap: () => verifyBootstrap(bootstrap, trustedIn(input)),
    'verifyUpdate, committee just proven': () => verifyUpdate(update, committee),
    'verifyUpdate, stored committee': () => verifyUpdate(update, stored),
    verifyFinality: () => verifyFinality(finality, input.committee),
    'signers’ key: the aggregate less 4 absent keys': () =>
      ABSENT.reduce(
        (sum, index) => sum.subtract(decode(committee.pubkeys[index] ?? '')),
        decode(committee.aggregatePubkey),
      ),
    'signers’ key: 62 absent, for the first time': () => signersKey(keys, `0x${turn++}`, bits),
    'signers’ key: adding up 508 keys': () =>
      committee.pubkeys.reduce(
        (sum, key, index) => (ABSENT.includes(index) ? sum : sum.add(decode(key))),
        G1.Point.ZERO,
      ),
  },
  how,
)
// In turns with the above, others would take its place in the memory.
const again = measureInTurns({ 'signers’ key: 62 absent, again': () => signersKey(keys, root, bits) }, how)
const times = { ...first, ...again }
const [one = 1] = Object.values(times)
console.log('| step | ms | signatures |\n|---|---|---|')
for (const [name, time] of Object.entries(times)) {
  console.log(`| ${name} | ${(time / 1000).toFixed(1)} | ${(time / one).toFixed(2)} |`)
}
