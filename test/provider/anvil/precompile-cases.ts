import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bn254 } from '@noble/curves/bn254.js'
import { p256 } from '@noble/curves/nist.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import type { Hardfork } from '../../../src/client/network/network.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { word } from '../endpoints.ts'
import { bytesOf } from '../full-state.ts'
import { BLS_ORDER, BN254_ORDER, bn1, bn2, digits, g1, g2, precompile } from '../precompile-inputs.ts'
import { join } from './assemble.ts'
import { type Case, meter, type Scene } from './scene.ts'

/** Inputs by name, as digits. */
type Inputs = Readonly<Record<string, string>>
const HASH = digits(0x1234567n, 32)
const MAX = 'ff'.repeat(32)
const bytes = (text: string): Uint8Array => bytesOf(`0x${text}`)

function signatures(): Inputs {
  const { n } = secp256k1.Point.CURVE()
  const signed = secp256k1.sign(bytes(HASH), bytes(digits(77, 32)), { prehash: false, format: 'recovered' })
  const { r, s, recovery = 0 } = secp256k1.Signature.fromBytes(signed, 'recovered')
  const input = (v: bigint | number, rs: readonly bigint[]) =>
    HASH + digits(v, 32) + rs.map(part => digits(part, 32)).join('')
  const valid = input(27 + recovery, [r, s])
  return {
    ...{ valid, 'the other key': input(28 - recovery, [r, s]), 'the other s': input(28 - recovery, [r, n - s]) },
    ...{
      'another hash': MAX + valid.slice(64),
      nothing: '',
      'one byte too few': valid.slice(0, -2),
      'more bytes': `${valid}ff`,
    },
    ...{ 'v of 0': input(0, [r, s]), 'v of 29': input(29, [r, s]), 'a large v': input(2n ** 200n + 27n, [r, s]) },
    ...{
      'r of 0': input(27, [0n, s]),
      's of 0': input(27, [r, 0n]),
      'r of the order': input(27, [n, s]),
      's of the order': input(27, [r, n]),
    },
    ...{ 'r that is no x': input(27, [5n, s]), 'all ones': 'ff'.repeat(128) },
  }
}

function powers(): Inputs {
  const power = (base: string, exponent: string, modulus: string) =>
    [base, exponent, modulus].map(part => digits(part.length / 2, 32)).join('') + base + exponent + modulus
  const long = (end: string) => end.padStart(1024, '0')
  return {
    ...{
      small: power('03', '05', '07'),
      'nothing at all': '',
      'no lengths': digits(0, 96),
      'a modulus of 0': power('03', '05', '00'),
    },
    ...{
      'a modulus of 1': power('03', '05', '01'),
      'an exponent of 0': power('03', '00', '07'),
      '0 to the power of 0': power('00', '00', '07'),
    },
    ...{ 'no base': power('', '05', '07'), 'no exponent': power('03', '', '07'), 'no modulus': power('03', '05', '') },
    ...{ 'neither base nor modulus': power('', 'ff'.repeat(40), ''), 'an even modulus': power('05', '03', '10') },
    ...{
      'a 256-bit prime': power(digits(3, 32), MAX, `${'ff'.repeat(28)}fffffc2f`),
      'input that ends early': power('03', MAX, MAX).slice(0, 220),
    },
    ...{
      'an exponent of 40 bytes': power('02', `01${'00'.repeat(39)}`, MAX),
      'one with zeros before it': power('02', `${'00'.repeat(39)}01`, MAX),
    },
    ...{
      'a base of 33 bytes': power(`01${MAX}`, '03', MAX),
      '64 bytes': power('ab'.repeat(64), '11', 'cd'.repeat(64)),
    },
    ...{
      '65 bytes': power('ab'.repeat(65), '11', 'cd'.repeat(65)),
      '512 bytes': power('ab'.repeat(512), '03', 'cd'.repeat(512)),
    },
    ...{
      '512 bytes with zeros': power(long('03'), long('04'), long('50')),
      'bytes after the end': `${power('03', '05', '07')}ffff`,
    },
  }
}

const wrong = digits(1, 32) + digits(1, 32)
const LIGHT_BN: readonly [Inputs, Inputs] = [
  {
    ...{ sum: bn1(2n) + bn1(3n), double: bn1(5n) + bn1(5n), opposites: bn1(1n) + bn1(BN254_ORDER - 1n), nothing: '' },
    ...{
      'with infinity': bn1(2n) + digits(0, 64),
      'one point': bn1(2n),
      'half a point': bn1(2n).slice(0, 70),
      'more bytes': `${bn1(2n)}${bn1(3n)}ff`,
    },
    ...{
      'no point': wrong + bn1(1n),
      'no second point': bn1(1n) + wrong,
      'outside the field': digits(bn254.fields.Fp.ORDER + 1n, 32) + digits(2, 32),
    },
  },
  {
    ...{
      product: bn1(2n) + digits(9, 32),
      'by 0': bn1(2n) + digits(0, 32),
      'by the order': bn1(2n) + digits(BN254_ORDER, 32),
      'by the most': bn1(2n) + MAX,
    },
    ...{
      infinity: digits(0, 64) + digits(9, 32),
      nothing: '',
      'a short factor': `${bn1(2n)}01`,
      'more bytes': `${bn1(2n)}${MAX}ff`,
      'no point': wrong + digits(1, 32),
    },
  },
]

/** Points on the curves that are not in the groups. */
function outsiders(): { g1: string; g2: string; bn2: string } {
  const [x, y] = [4n, bls12_381.fields.Fp.sqrt(4n ** 3n + 4n)]
  type Twist = Pick<typeof bn254, 'G2' | 'fields'> | Pick<typeof bls12_381, 'G2' | 'fields'>
  const onTwist = ({ G2, fields: { Fp2 } }: Twist) => {
    for (let c0 = 1n; ; c0++) {
      const x = { c0, c1: 0n }
      const square = Fp2.add(Fp2.mul(Fp2.sqr(x), x), G2.Point.CURVE().b)
      try {
        return { x, y: Fp2.sqrt(square) }
      } catch {}
    }
  }
  const [bls, bn] = [onTwist(bls12_381), onTwist(bn254)]
  return {
    g1: digits(x, 64) + digits(y, 64),
    g2: [bls.x.c0, bls.x.c1, bls.y.c0, bls.y.c1].map(part => digits(part, 64)).join(''),
    bn2: [bn.x.c1, bn.x.c0, bn.y.c1, bn.y.c0].map(part => digits(part, 32)).join(''),
  }
}

const [NO1, NO2] = ['00'.repeat(128), '00'.repeat(256)]
const FIELD = bls12_381.fields.Fp.ORDER
const wrong1 = digits(1, 64) + digits(1, 64)
const wrong2 = digits(1, 256)

function blsSums(out: ReturnType<typeof outsiders>): readonly [Inputs, Inputs] {
  return [
    {
      ...{
        sum: g1(1n) + g1(2n),
        double: g1(3n) + g1(3n),
        opposites: g1(1n) + g1(BLS_ORDER - 1n),
        'with infinity': g1(1n) + NO1,
        infinities: NO1 + NO1,
      },
      ...{
        'no point': wrong1 + g1(1n),
        'no points': wrong1 + wrong1,
        'outside the group': out.g1 + g1(1n),
        nothing: '',
        'one point': g1(1n),
        'more bytes': `${g1(1n)}${g1(2n)}00`,
      },
      ...{
        'outside the field': digits(FIELD, 64) + digits(2, 64) + g1(1n),
        'more than 48 bytes': `01${g1(1n).slice(2)}${g1(1n)}`,
      },
    },
    {
      ...{
        sum: g2(1n) + g2(2n),
        double: g2(3n) + g2(3n),
        opposites: g2(1n) + g2(BLS_ORDER - 1n),
        'with infinity': g2(1n) + NO2,
      },
      ...{
        'no point': wrong2 + g2(1n),
        'outside the group': out.g2 + g2(1n),
        nothing: '',
        'one byte too few': (g2(1n) + g2(2n)).slice(2),
      },
      ...{ 'outside the field': digits(FIELD, 64) + g2(1n).slice(128) + g2(1n) },
    },
  ]
}

function blsProducts(out: ReturnType<typeof outsiders>): readonly [Inputs, Inputs] {
  const scalars = [1n, 2n, BLS_ORDER - 1n, BLS_ORDER + 3n, 0n, 77n].map(scalar => digits(scalar, 32))
  const sum1 = scalars.map((scalar, index) => g1(BigInt(index + 1)) + scalar)
  const sum2 = scalars.map((scalar, index) => g2(BigInt(index + 1)) + scalar)
  const some = (all: readonly string[], counts: readonly number[]): Inputs =>
    Object.fromEntries(counts.map(count => [`${count} products`, all.slice(0, count).join('')]))
  const one = digits(1, 32)
  return [
    {
      ...some(sum1, [0, 1, 2, 3, 6]),
      'a sum of nothing': g1(1n) + digits(0, 32),
      'points that cancel out': g1(1n) + one + NO1 + one + g1(BLS_ORDER - 1n) + one,
      'a point that is none, in the second slice': sum1.slice(0, 3).join('') + wrong1 + one,
      'a point outside the group': out.g1 + one,
      'one byte too many': `${sum1[0]}00`,
      'more than 48 bytes of a coordinate': `01${sum1[0]?.slice(2)}`,
    },
    { ...some(sum2, [0, 1, 3]), 'a point outside the group': out.g2 + one, 'a point that is none': wrong2 + one },
  ]
}

function pairings(out: ReturnType<typeof outsiders>): readonly [Inputs, Inputs] {
  const blsPairs = [g1(6n) + g2(5n), g1(BLS_ORDER - 10n) + g2(3n)]
  const bnPairs = [bn1(6n) + bn2(5n), bn1(BN254_ORDER - 10n) + bn2(3n)]
  return [
    {
      ...{
        'no pairs': '',
        'pairs that cancel out': bnPairs.join(''),
        'pairs that do not': `${bnPairs[0]}${bnPairs[0]}${bnPairs[1]}`,
      },
      'points at infinity': '00'.repeat(64) + bn2(1n) + bn1(1n) + '00'.repeat(128) + '00'.repeat(192),
      'infinity beside a point that is none': wrong + '00'.repeat(128),
      'a coordinate outside the field': digits(2n ** 255n, 32) + digits(2, 32) + bn2(1n),
      ...{ 'one byte too many': `${bnPairs.join('')}00`, 'a point outside the group': bn1(1n) + out.bn2 },
    },
    {
      ...{
        'no pairs': '',
        'pairs that cancel out': blsPairs.join(''),
        'pairs that do not': `${blsPairs[0]}${blsPairs[0]}${blsPairs[1]}`,
      },
      'three pairs that cancel out': g1(2n) + g2(3n) + g1(4n) + g2(1n) + g1(BLS_ORDER - 10n) + g2(1n),
      'points at infinity': NO1 + g2(1n) + g1(1n) + NO2 + NO1 + NO2,
      'infinity beside a point that is none': wrong1 + NO2,
      'a coordinate outside the field': g1(1n) + digits(BLS_ORDER * BLS_ORDER, 64) + g2(1n).slice(128),
      'a point that is none': `${blsPairs.join('')}${wrong1}${g2(1n)}`,
      ...{
        'a point outside G1': out.g1 + g2(1n),
        'a point outside G2': g1(1n) + out.g2,
        'one byte too many': `${blsPairs.join('')}00`,
      },
    },
  ]
}

/** EIP-7951. */
function p256Signatures(): Inputs {
  const key = bytes(digits(99, 32))
  const { r, s } = p256.Signature.fromBytes(p256.sign(bytes(HASH), key, { prehash: false, lowS: false }))
  const { x, y } = p256.Point.BASE.multiply(99n).toAffine()
  const { n } = p256.Point.CURVE()
  const input = (...rest: readonly bigint[]) => HASH + rest.map(part => digits(part, 32)).join('')
  const valid = input(r, s, x, y)
  return {
    ...{
      valid,
      'the other s': input(r, n - s, x, y),
      'another hash': MAX + valid.slice(64),
      'r of 0': input(0n, s, x, y),
      's of 0': input(r, 0n, x, y),
    },
    ...{
      'r of the order': input(n, s, x, y),
      's of the order': input(r, n, x, y),
      'no point': input(r, s, x, y + 1n),
      'the point at infinity': input(r, s, 0n, 0n),
    },
    ...{
      'the other key': input(r, s, x, p256.Point.Fp.ORDER - y),
      nothing: '',
      'one byte too few': valid.slice(2),
      'one byte too many': `${valid}00`,
    },
    'a coordinate outside the field': input(r, s, p256.Point.Fp.ORDER, y),
  }
}

const lengths = (...all: number[]): Inputs =>
  Object.fromEntries(all.map(length => [`${length} bytes`, 'a7'.repeat(length)]))
const field = (value: bigint) => digits(value, 64)

/** Each precompile that the rollup has: its address, the first hard fork that has it, and inputs. */
function precompiles(): readonly (readonly [number, Hardfork, Inputs])[] {
  const out = outsiders()
  const [[sum1, sum2], [products1, products2], [bnPairings, blsPairings]] = [
    blsSums(out),
    blsProducts(out),
    pairings(out),
  ]
  const maps1 = {
    'a number': field(7n),
    zero: field(0n),
    'the order': field(FIELD),
    'the most': field(FIELD - 1n),
    nothing: '',
    'more than 48 bytes': `01${'00'.repeat(63)}`,
    'one byte too many': `${field(7n)}00`,
  }
  const maps2 = {
    'a number': field(7n) + field(8n),
    'the order': field(8n) + field(FIELD),
    'one byte too few': (field(7n) + field(8n)).slice(2),
  }
  return [
    [1, 'london', signatures()],
    [2, 'london', lengths(0, 1, 31, 32, 33, 64, 1000)],
    [4, 'london', lengths(0, 1, 31, 32, 33, 64, 1000)],
    [5, 'london', powers()],
    [6, 'london', LIGHT_BN[0]],
    [7, 'london', LIGHT_BN[1]],
    [8, 'london', bnPairings],
    [0x0b, 'prague', sum1],
    [0x0c, 'prague', products1],
    [0x0d, 'prague', sum2],
    [0x0e, 'prague', products2],
    [0x0f, 'prague', blsPairings],
    [0x10, 'prague', maps1],
    [0x11, 'prague', maps2],
    [0x100, 'osaka', p256Signatures()],
    // Addresses without one.
    [0x12, 'london', lengths(0, 32)],
    [0x101, 'london', lengths(0, 32)],
  ]
}

/** Called by transactions, and by a contract with exactly enough gas and with one less. */
export function addPrecompiles(scene: Scene): void {
  const to = scene.program(...meter())
  for (const [number, first, inputs] of precompiles()) {
    const address = precompile(number)
    for (const [index, [name, input]] of Object.entries(inputs).entries()) {
      const what = `0x${number.toString(16)}: ${name}`
      const data: Hex = `0x${input}`
      const direct = { what, to: address, data }
      if (index % 4 === 0) scene.ask('precompiles', [first === 'osaka' ? first : 'prague'], direct)
      // The forks before the first have nothing there.
      if (index === 0) scene.ask('precompiles', ['london', 'shanghai', 'cancun', 'osaka'], direct)
      const probe = { what, to, data: callOf(1_500_000n, address, data), probe: { address, input: data } }
      scene.ask('precompiles', number === 5 ? ['london', 'osaka'] : ['osaka'], probe)
    }
  }
}

/** A probe shows how much gas a call takes. @returns the call with exactly that, and with one less */
export function withExactGas({ probe, ...one }: Case, gas: bigint | undefined): Case[] {
  if (probe === undefined || gas === undefined) return []
  return [gas, gas - 1n]
    .filter(limit => limit >= 0n)
    .map(limit => ({ ...one, what: `${one.what}, with ${limit}`, data: callOf(limit, probe.address, probe.input) }))
}

const callOf = (gas: bigint, address: Hex, input: Hex): Hex => join(word(gas), word(BigInt(address)), input)
