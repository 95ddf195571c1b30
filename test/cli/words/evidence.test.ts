import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { partsOf } from '../../../src/cli/kinds/evidence.ts'
import {
  nameOfRollup,
  networkNamed,
  networkNames,
  parseNumber,
  rollupNamed,
  rollupNames,
} from '../../../src/cli/words/evidence.ts'
import { type EvidenceVector, readInputFile } from '../../../src/cli/words/input-file.ts'
import { DocumentError } from '../../../src/cli/words/value.ts'
import { verifyEvidence } from '../../../src/entry/anchor.ts'
import { mainnetBeacon, sepoliaBeacon } from '../../../src/entry/beacon.ts'
import { safely } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { lineaRollup, lineaSepoliaRollup } from '../../../src/verify/anchor/rollup.ts'
import { claimOfVector } from '../../../vectors/run/claim.ts'
import { evidence, read } from './files.ts'

function vectorOf(content: unknown): EvidenceVector {
  const file = readInputFile(content)
  if (file.kind !== 'evidence vector') throw new Error(`not a vector: ${file.kind}`)
  return file
}
const withClaim = (claim: object) => vectorOf({ ...evidence, claim: { ...evidence.claim, ...claim } })

it('reads numbers, decimal and hexadecimal, of a bounded size', () => {
  expect(parseNumber('18446744073709551615', 64)).toBe(2n ** 64n - 1n)
  expect(parseNumber(`0x${'F'.repeat(16)}`, 64)).toBe(2n ** 64n - 1n)
  expect([parseNumber('0', 64), parseNumber('007', 64), parseNumber('0x0a', 64)]).toEqual([0n, 7n, 10n])
  for (const text of ['18446744073709551616', '-1', '0x', '1.5', '', ' 1', '1n', '0X1', '1e3', 7, 7n, null, ['1']]) {
    expect(parseNumber(text, 64)).toBeNull()
  }
  expect(parseNumber('9'.repeat(100_000), 256)).toBeNull()
})

it('knows rollups and networks by name, and rollups by their contract', () => {
  expect([rollupNamed('linea'), rollupNamed('linea-sepolia')]).toEqual([lineaRollup, lineaSepoliaRollup])
  // These are names of L1 networks.
  expect([rollupNamed('mainnet'), rollupNamed('sepolia')]).toEqual([undefined, undefined])
  expect([networkNamed('mainnet'), networkNamed('sepolia')]).toEqual([mainnetBeacon, sepoliaBeacon])
  expect([rollupNamed('Linea'), networkNamed('Linea')]).toEqual([lineaRollup, mainnetBeacon])
  expect([rollupNamed('linea-sepolia'), networkNamed('linea-sepolia')]).toEqual([lineaSepoliaRollup, sepoliaBeacon])
  for (const name of ['', 'main', 'ethereum', 'linea-', 'linea-mainnet', '__proto__', 'constructor']) {
    expect([rollupNamed(name), networkNamed(name)]).toEqual([undefined, undefined])
  }
  // The page offers them by name.
  const page = readFileSync('docs/explorer/index.html', 'utf8')
  const offered = (id: string) =>
    [...(new RegExp(`<datalist id="${id}">(.*)</datalist>`).exec(page)?.[1] ?? '').matchAll(/value="([\w-]+)"/g)].map(
      ([, name]) => name,
    )
  expect(rollupNames()).toContain('linea-sepolia')
  expect([offered('rollups'), offered('networks')]).toEqual([rollupNames(), networkNames()])
  expect(nameOfRollup('0xD19D4B5D358258f05D7B411E21A1460D11B0876F')).toBe('linea')
  expect(nameOfRollup(lineaSepoliaRollup.address.toUpperCase().replace('0X', '0x'))).toBe('linea-sepolia')
  for (const other of [evidence.bundle.rollup.address, undefined, null, 7, ['x']]) {
    expect(nameOfRollup(other)).toBeUndefined()
  }
})

it('reads the claim of a vector, and leaves malformed parts to the verifier', () => {
  const { trusted, rollup, scheme, l2BlockNumber } = claimOfVector(vectorOf(evidence))
  expect({ trusted, rollup, scheme }).toEqual({
    trusted: evidence.claim.trusted,
    rollup: evidence.claim.rollup,
    scheme: poseidon2,
  })
  expect(l2BlockNumber).toBe(BigInt(evidence.claim.l2BlockNumber))
  const layout = { stateRootHashes: '0x7', currentL2BlockNumber: '8' }
  const stated = claimOfVector(withClaim({ l2BlockNumber: '0x7', rollup: { address: 7, layout }, address: ['x'] }))
  expect(stated).toMatchObject({
    ...{ l2BlockNumber: 7n, address: ['x'] },
    rollup: { address: 7, layout: { stateRootHashes: 7n, currentL2BlockNumber: 8n } },
  })
  expect(claimOfVector(withClaim({ trusted: undefined }))).not.toHaveProperty('trusted', expect.anything())
})

it('hides no field of a claim from the verifier', () => {
  const { rollup, trusted } = evidence.claim
  const layout = { stateRootHashes: '0x7', currentL2BlockNumber: '0x8', finalisedState: {} }
  const misspelt = [
    [{ adress: rollup.address }, 'adress'],
    [{ rollup: { ...rollup, adress: rollup.address } }, 'rollup.adress'],
    [{ rollup: { ...rollup, layout } }, 'rollup.layout.finalisedState'],
    [{ trusted: { ...trusted, l1StateRot: '0x' } }, 'trusted.l1StateRot'],
  ] as const
  for (const [claim, path] of misspelt) {
    const outcome = safely(() => verifyEvidence(evidence.bundle, claimOfVector(withClaim(claim))))
    expect(outcome).toMatchObject({ ok: false, error: { code: 'ARGUMENT_INVALID', path } })
  }
})

it('refuses a claim with a scheme that there is not', () => {
  for (const scheme of ['keccak', undefined]) {
    const read = () => claimOfVector(vectorOf({ ...evidence, scheme }))
    expect(read).toThrow(DocumentError)
    expect(read).toThrow(`the scheme is neither mimc nor poseidon2 nor ethereum: ${scheme ?? 'nothing'}`)
  }
})

it('leaves what is no number to the verifier', () => {
  for (const claim of [{ l2BlockNumber: '-1' }, { l2BlockNumber: null }, { rollup: { layout: {} } }]) {
    const outcome = safely(() => verifyEvidence(evidence.bundle, claimOfVector(withClaim(claim))))
    expect(outcome).toMatchObject({ ok: false, error: { code: 'ARGUMENT_INVALID' } })
  }
})

it('adds the verification of the consensus to a trusted beacon block', () => {
  const vector = read('evidence/valid/poseidon2-beacon-block-root')
  const { trusted } = claimOfVector(vectorOf(vector))
  expect(trusted).toMatchObject({ beaconBlockRoot: vector.claim.trusted.beaconBlockRoot })
  expect(Object.values(trusted).some(value => typeof value === 'function' || typeof value === 'object')).toBe(true)
  // A malformed network is not one that could verify anything.
  const broken = { ...vector, claim: { ...vector.claim, trusted: { ...vector.claim.trusted, network: { name: 7 } } } }
  expect(claimOfVector(vectorOf(broken)).trusted).toEqual({ beaconBlockRoot: vector.claim.trusted.beaconBlockRoot })
})

it('says who stated what', () => {
  expect(partsOf({ l2BlockNumber: 'fromBundle', address: '0x00', storageKeys: [] })).toEqual({
    ...{ l2BlockNumber: 'bundle', address: 'user', storageKeys: 'user' },
  })
})
