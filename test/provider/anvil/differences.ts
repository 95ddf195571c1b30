import { getContractAddress } from 'viem'
import type { Hex } from '../../../src/entry/index.ts'
import { word } from '../endpoints.ts'
import { digits, precompile } from '../precompile-inputs.ts'
import { join, RETURN } from './assemble.ts'
import type { Case, Scene } from './scene.ts'

/** A call whose result differs on purpose: what anvil returns, and the reason with which we refuse, or what we return. */
export interface Difference {
  readonly one: Case
  readonly theirs: Hex
  readonly ours: Hex | 'ROLLUP_DIFFERS' | 'VALUE_UNPROVEN'
}

/** All differences that are known. */
export function addDifferences(scene: Scene): Difference[] {
  const inPrague = { category: 'differences', hardfork: 'prague' } as const
  const ofPrecompile = (what: string, number: number, data: Hex, theirs: Hex): Difference => ({
    one: { ...inPrague, what, to: precompile(number), data },
    ...{ theirs, ours: 'ROLLUP_DIFFERS' },
  })
  // EIP-152, the fourth example; EIP-7610, which holds for all blocks, and which anvil leaves out.
  const rounds = `${digits(12, 4)}48c9bdf267e6096a3ba7ca8485ae67bb2bf894fe72f36e3cf1361d5f3af54fa5d182e6ad7f520e511f6c3e2b8c68059b6bbd41fbabd9831f79217e1319cde05b616263${'00'.repeat(125)}0300000000000000000000000000000001`
  const mixed =
    '0xba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923'
  const creator = scene.program(0, 0, 0, 'CREATE', ...RETURN)
  const created = getContractAddress({ from: creator, nonce: 1n }).toLowerCase() as Hex
  scene.set(created, { storage: { [word(1)]: word(1) } })
  return [
    ofPrecompile('RIPEMD-160', 3, '0x', '0x0000000000000000000000009c1185a5c5e9fc54612808977ee8f548b2258d31'),
    ofPrecompile('BLAKE2F', 9, `0x${rounds}`, mixed),
    ofPrecompile('MODEXP of 513 bytes', 5, join(word(513), word(0), word(1), `0x${'00'.repeat(513)}07`), '0x01'),
    {
      one: {
        category: 'differences',
        hardfork: 'london',
        what: 'DIFFICULTY',
        to: scene.program('PREVRANDAO', ...RETURN),
      },
      ...{ theirs: word(0), ours: 'VALUE_UNPROVEN' },
    },
    // Without a tip, geth pays none, and anvil pays as much as it may.
    {
      one: { ...inPrague, what: 'a fee without a tip', to: scene.program('GASPRICE', ...RETURN), maxFeePerGas: 9n },
      ...{ theirs: word(9), ours: word(7) },
    },
    // For a call that pays nothing, geth and Besu take 0. See `base-fee.test.ts`.
    {
      one: { ...inPrague, what: 'the base fee of a call that pays nothing', to: scene.program('BASEFEE', ...RETURN) },
      ...{ theirs: word(7), ours: word(0) },
    },
    {
      one: { ...inPrague, what: 'storage in the way of a contract', to: creator },
      ...{ theirs: word(BigInt(created)), ours: word(0) },
    },
  ]
}
