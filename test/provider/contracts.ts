import { tokenSlots } from '../../src/devnet/service/demo-contracts.generated.ts'
import type { Hex } from '../../src/entry/index.ts'
import { mappingSlot } from '../../src/entry/index.ts'
import { compiledContracts } from '../contracts/compile.ts'
import { at, word } from './endpoints.ts'
import type { FullAccount, FullState } from './full-state.ts'

const { Token, Proxy: Forwarder, Multicall, Many, Surroundings } = await compiledContracts()
if (!Token || !Forwarder || !Multicall || !Many || !Surroundings) throw new Error('a contract is missing')

export const tokenAbi = Token.abi
export const manyAbi = Many.abi
export const multicallAbi = Multicall.abi
export const surroundingsAbi = Surroundings.abi

export const [ALICE, BOB, TOKEN, PROXY, MULTICALL, MANY, SURROUNDINGS] = [
  ...[at('a1'), at('b2'), at('70'), at('71'), at('72'), at('73'), at('74')],
] as [Hex, Hex, Hex, Hex, Hex, Hex, Hex]

const IMPLEMENTATION = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const balanceSlot = (owner: Hex): Hex => mappingSlot({ slot: tokenSlots.balanceOf, keys: [owner] })

const tokenStorage = (scale: number): FullAccount['storage'] => ({
  [balanceSlot(ALICE)]: word(100 * scale),
  [balanceSlot(BOB)]: word(7 * scale),
  [word(tokenSlots.totalSupply)]: word(107 * scale),
  // "Demo", as Solidity stores a short string.
  [word(tokenSlots.name)]: `0x44656d6f${'00'.repeat(27)}08`,
})

/** A token, plain and behind a proxy; a multicall contract; and contracts that read many slots or their block. */
export const demoState: FullState = new Map<Hex, FullAccount>([
  [ALICE, { nonce: 5n, balance: 10n ** 18n }],
  [BOB, { balance: 3n }],
  [TOKEN, { nonce: 1n, code: Token.code, storage: tokenStorage(1) ?? {} }],
  [PROXY, { nonce: 1n, code: Forwarder.code, storage: { ...tokenStorage(10), [IMPLEMENTATION]: word(BigInt(TOKEN)) } }],
  [MULTICALL, { nonce: 1n, code: Multicall.code }],
  [
    MANY,
    {
      nonce: 1n,
      code: Many.code,
      storage: {
        ...Object.fromEntries(Array.from({ length: 200 }, (_, index) => [word(index), word(index + 1)])),
        ...Object.fromEntries(
          Array.from({ length: 40 }, (_, index) => [
            mappingSlot({ slot: 200n, keys: [BigInt(index)] }),
            word(index + 1),
          ]),
        ),
      },
    },
  ],
  [SURROUNDINGS, { nonce: 1n, code: Surroundings.code }],
])
