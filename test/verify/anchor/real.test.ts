import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { encodeHeader, verifyEthProof, verifyHeader } from '../../../src/entry/anchor.ts'
import type { Hex } from '../../../src/entry/index.ts'

/** Blocks of public L1 networks with `eth_getProof` answers, as endpoints served them. */
interface Recording {
  readonly block: { readonly hash: Hex; readonly stateRoot: Hex; readonly number: Hex; readonly timestamp: Hex }
  readonly proofs: readonly {
    readonly params: readonly [address: Hex, storageKeys: readonly Hex[], block: string]
    readonly result: {
      readonly nonce: Hex
      readonly balance: Hex
      readonly storageHash: Hex
      readonly codeHash: Hex
      readonly storageProof: readonly { readonly value: Hex }[]
    }
  }[]
}

const FOLDER = '../shared/vectors/l1'
const files = existsSync(FOLDER) ? readdirSync(FOLDER).filter(file => file.endsWith('.json')) : []
const recordings = files.map(file => ({
  file,
  recording: JSON.parse(readFileSync(`${FOLDER}/${file}`, 'utf8')) as Recording,
}))
if (files.length === 0) console.log(`skipped: all recordings of real L1 blocks, because there is none in ${FOLDER}`)

it.skipIf(files.length === 0)('verifies real L1 blocks, and the accounts and slots of their states', () => {
  let proofs = 0
  for (const { file, recording } of recordings) {
    const { block } = recording
    const { stateRoot, ...header } = verifyHeader(encodeHeader(block), block.hash)
    const expected = { hash: block.hash, number: BigInt(block.number), timestamp: BigInt(block.timestamp) }
    expect({ stateRoot, ...header }, file).toEqual({ stateRoot: block.stateRoot, ...expected })
    for (const { params, result } of recording.proofs) {
      const [address, keys] = params
      const storageKeys = keys.map((key): Hex => `0x${key.slice(2).padStart(64, '0')}`)
      const { account, storage } = verifyEthProof(result, { l1StateRoot: stateRoot, address, storageKeys })
      const nonce = BigInt(result.nonce)
      expect(account?.nonce ?? 0n, file).toBe(nonce)
      expect(account?.balance ?? 0n, file).toBe(BigInt(result.balance))
      if (account !== null) {
        expect([account.storageRoot, account.codeHash], file).toEqual([result.storageHash, result.codeHash])
      }
      expect(
        storage.map(({ value }) => BigInt(value)),
        file,
      ).toEqual(result.storageProof.map(({ value }) => BigInt(value)))
      proofs++
    }
  }
  console.log(`${recordings.length} real headers, ${proofs} real eth_getProof answers`)
  expect(proofs).toBeGreaterThanOrEqual(recordings.length)
})
