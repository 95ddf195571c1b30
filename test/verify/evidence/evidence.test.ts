import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'
import { type EvidenceClaim, verifyAnchor, verifyEthProof, verifyEvidence } from '../../../src/entry/anchor.ts'
import { ProofError } from '../../../src/entry/index.ts'
import { outcomeOf, quantity } from '../../outcome.ts'
import { createTraps } from '../../traps.ts'
import { codeOf } from '../anchor/helpers.ts'
import { sizesOf } from '../sizes.ts'
import { find, vectors } from './bundles.ts'
import { changedAt, placesOf } from './places.ts'

it('gives each vector its expected outcome', () => {
  expect(vectors.length).toBeGreaterThan(100)
  for (const { path, vector } of vectors) expect(outcomeOf(vector), path).toEqual(vector.expected)
})

it('says that an answer alone is no bundle', () => {
  const { bundle, claim } = find('block-hash')
  for (const answer of [bundle.answer, { jsonrpc: '2.0', id: 1, result: bundle.answer }]) {
    expect(() => verifyEvidence(answer, claim)).toThrow(
      'EVIDENCE_MALFORMED: expected an evidence bundle, found an answer alone: use verifyProof, with its state root',
    )
  }
  const { version: _, ...unversioned } = bundle
  expect(() => verifyEvidence(unversioned, claim)).toThrow('EVIDENCE_MALFORMED at version: expected a version')
})

it('has a schema that accepts every valid bundle and refuses malformed ones', () => {
  const validate = new Ajv2020({ allowUnionTypes: true, strictTypes: false, strictRequired: false }).compile(
    JSON.parse(readFileSync('docs/evidence.schema.json', 'utf8')),
  )
  const counts = { kept: 0, broken: 0 }
  for (const { path, vector } of vectors) {
    if (!('bundle' in vector)) continue
    const { expected, bundle } = vector
    if (expected.valid) {
      validate(bundle)
      expect(validate.errors ?? [], path).toEqual([])
      counts.kept++
    } else if (expected.code === 'EVIDENCE_MALFORMED' || expected.code === 'EVIDENCE_VERSION') {
      expect(validate(bundle), path).toBe(false)
      counts.broken++
    }
  }
  expect(counts.kept).toBe(sizesOf('evidence').valid)
  expect(counts.broken).toBeGreaterThan(20)
})

it('never accepts another statement from a bundle that is changed anywhere', () => {
  const { bundle, claim } = find('nothing-stated')
  const honest = JSON.stringify(verifyEvidence(bundle, claim), toJson)
  const flip = (part: unknown) =>
    typeof part === 'string'
      ? `${part.slice(0, -1)}${part.endsWith('1') ? '2' : '1'}`
      : typeof part === 'number'
        ? part + 1
        : null
  const junk: ((part: unknown) => unknown)[] = [
    flip,
    () => undefined,
    () => [],
    () => ({}),
    () => 7,
    () => '0x',
    () => '',
  ]
  const counts = { tried: 0, refused: 0, same: 0 }
  // Every place, but only a few of the L2 nodes, which other tests cover.
  const places = placesOf(bundle).filter(path => !path.includes('proofRelatedNodes') || Number(path.at(-1)) % 20 === 0)
  for (const path of places) {
    for (const change of junk) {
      const changed = changedAt(bundle, path, change)
      counts.tried++
      try {
        const verified = verifyEvidence(changed, claim)
        // Accepted changes: the label, optional convenience fields, and other encodings of the same value.
        expect(JSON.stringify(verified, toJson), path.join('.')).toBe(honest)
        counts.same++
      } catch (error) {
        expect(error, path.join('.')).toBeInstanceOf(ProofError)
        counts.refused++
      }
    }
  }
  expect(counts.tried).toBeGreaterThan(400)
  expect(counts.refused).toBeGreaterThan(counts.tried * 0.9)
  expect(counts.same).toBeGreaterThan(0)
})

const toJson = (_: string, value: unknown) => (typeof value === 'bigint' ? quantity(value) : value)

it('throws only its own errors, whatever getters and proxies throw', () => {
  const { bundle, claim } = find('block-hash')
  const { fail, hostile, sprung } = createTraps()
  const { proxy: revoked, revoke } = Proxy.revocable({}, {})
  revoke()
  const places = placesOf(bundle).filter(path => !path.includes('proofRelatedNodes'))
  expect(places.length).toBeGreaterThan(40)
  for (const path of places) {
    for (const part of [hostile, revoked, Object.create(null), new Proxy([], { get: fail })]) {
      const changed = changedAt(bundle, path, () => part)
      expect(
        codeOf(() => verifyEvidence(changed, claim)),
        path.join('.'),
      ).not.toBe(null)
    }
  }
  expect(sprung()).toBeGreaterThan(20)
})

it('does not iterate over huge sparse or endless arrays', () => {
  const { bundle, claim } = find('nothing-stated')
  const sparse: unknown[] = []
  const value = `0x${'00'.repeat(32)}`
  let reads = 0
  const endless = new Proxy([], {
    get(_, key) {
      if (key === 'length') return 2 ** 32 - 1
      if (++reads > 1000) throw new Error('walks through it')
      return value
    },
    // Each item is its own.
    getOwnPropertyDescriptor: (target, key) =>
      Reflect.getOwnPropertyDescriptor(target, key) ?? { value, configurable: true, enumerable: true, writable: true },
  })
  let tried = 0
  for (const length of [65_536, 2 ** 32 - 1]) {
    sparse.length = length
    for (const path of [
      ['request', 'storageKeys'],
      ['l1', 'proof', 'accountProof'],
      ['l1', 'proof', 'storageProof'],
    ]) {
      for (const part of [sparse, endless]) {
        const changed = changedAt(bundle, path, () => part)
        expect(
          codeOf(() => verifyEvidence(changed, claim)),
          path.join('.'),
        ).not.toBe(null)
        tried++
      }
    }
  }
  expect(tried).toBe(12)
  expect(reads).toBeLessThan(1000)
})

it('reads each field once', () => {
  const { bundle, claim } = find('block-hash')
  const reads = new Map<string, number>()
  const watch = (value: unknown, path: string): unknown => {
    if (typeof value !== 'object' || value === null) return value
    const copy: object = Array.isArray(value) ? [] : {}
    for (const [key, item] of Object.entries(value)) {
      const place = `${path}.${key}`
      const watched = watch(item, place)
      const get = () => {
        reads.set(place, (reads.get(place) ?? 0) + 1)
        return watched
      }
      Object.defineProperty(copy, key, { get, enumerable: true, configurable: true })
    }
    return copy
  }
  verifyEvidence(watch(bundle, 'bundle'), claim)
  expect(reads.size).toBeGreaterThan(100)
  expect([...reads].filter(([, count]) => count > 1)).toEqual([])
})

it('refuses invalid claims', () => {
  const { bundle, claim } = find('block-hash')
  const wrong: Record<string, unknown>[] = [
    { scheme: undefined },
    { scheme: 'poseidon2' },
    { rollup: undefined },
    { rollup: { address: '0x' } },
    { trusted: undefined },
    { trusted: null },
    { trusted: { l1BlockHash: '0x12' } },
    { l2BlockNumber: 436 },
    { l2BlockNumber: -1n },
    { address: '0x12' },
    { storageKeys: '0x' },
    { storageKeys: ['0x12'] },
  ]
  // Types do not constrain a JavaScript caller.
  for (const change of wrong) {
    expect(
      codeOf(() => verifyEvidence(bundle, { ...claim, ...change } as EvidenceClaim)),
      Object.keys(change)[0],
    ).toBe('ARGUMENT_INVALID')
  }
  for (const nothing of [undefined, null]) {
    expect(codeOf(() => verifyEvidence(bundle, nothing as unknown as EvidenceClaim))).toBe('ARGUMENT_INVALID')
    expect(codeOf(() => verifyAnchor({}, nothing as never))).toBe('ARGUMENT_INVALID')
    expect(codeOf(() => verifyEthProof({}, nothing as never))).toBe('ARGUMENT_INVALID')
  }
})

it('accepts a beacon block only with a function that proves an L1 block from it', () => {
  const { bundle, claim } = find('beacon-block-root')
  const { trusted } = claim
  const honest = { ...trusted }
  for (const proven of [undefined, null, {}, { l1BlockHash: '0x12' }]) {
    const broken = { ...honest, verifyConsensus: () => proven } as unknown as EvidenceClaim['trusted']
    expect(codeOf(() => verifyEvidence(bundle, { ...claim, trusted: broken }))).toBe('ARGUMENT_INVALID')
  }
  // Own properties only.
  expect(codeOf(() => verifyEvidence(bundle, { ...claim, trusted: Object.create(honest) }))).toBe('ARGUMENT_INVALID')
  expect(verifyEvidence(bundle, claim).trustedInput).toBe('beaconBlockRoot')
})
