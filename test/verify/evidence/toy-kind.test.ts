import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { refusal } from '../../../src/base/errors.ts'
import { verifyUint } from '../../../src/base/options.ts'
import { createWorld } from '../../../src/devnet/index.ts'
import { createBundle, verifyEvidence } from '../../../src/entry/anchor.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { quantityOf } from '../../../src/verify/evidence/fields.ts'
import { createKind } from '../../../src/verify/evidence/kind.ts'
import type { AnyClaim } from '../../../src/verify/evidence/kinds/state.ts'
import { verdict } from '../../refusal.ts'

/** A kind of evidence that there is not: an account has at least so much wei. */
const balanceEvidence = createKind({
  name: 'balance',
  layer: 'L2',
  fields: ['atLeast', 'account', 'answer'],
  stated: ['kind', 'atLeast'],
  decodeClaim: (stated, head) => ({ head, atLeast: verifyUint('atLeast', Reflect.get(stated, 'atLeast'), 256) }),
  decodeBody: field => ({
    atLeast: field('atLeast', quantityOf(256)),
    account: field('account', value => value as `0x${string}`),
    answer: field('answer', value => value),
  }),
  compare(body, { atLeast }) {
    if (body.atLeast < atLeast) throw refusal('EVIDENCE_MALFORMED', `at least ${atLeast}`, body.atLeast)
  },
  verify({ answer, account: address, atLeast }, block, { head }) {
    const { account } = head.l2.scheme.verify(answer, { stateRoot: block.stateRoot, address })
    const balance = account?.balance ?? 0n
    if (balance < atLeast) throw refusal('EVIDENCE_MALFORMED', `at least ${atLeast}`, balance)
    return { address, atLeast, ...block }
  },
})

const address = `0x${'aa'.repeat(20)}` as const
const world = createWorld(poseidon2)
world.setAccount(address, { balance: 5n })
const rollup = { address: `0x${'ff'.repeat(20)}` } as const
const answer = world.getProof(address, [])
const { request: _, ...head } = createBundle({ scheme: poseidon2, rollup, l2BlockNumber: 7n, address, answer })
const bundle = { ...head, kind: 'balance', atLeast: '0x4', account: address }
const known = { scheme: poseidon2, rollup, trusted: { l2StateRoot: world.stateRoot() }, l2BlockNumber: 7n } as const

it('verifies a new kind of evidence with its own object alone', () => {
  // The compiler knows only the kinds of the list.
  const claim = { kind: balanceEvidence, ...known, atLeast: 3n } as unknown as AnyClaim
  expect(verifyEvidence(bundle, claim)).toMatchObject({ address, atLeast: 4n, trustedInput: 'l2StateRoot' })
  const judge = (change: object, more = {}) =>
    verdict(() => verifyEvidence({ ...bundle, ...change }, { ...claim, ...more }))
  expect(judge({ atLeast: '0x6' })).toBe('EVIDENCE_MALFORMED')
  expect(judge({ kind: 'state' })).toBe('EVIDENCE_MALFORMED at kind')
  expect(judge({ format: 'another' })).toBe('EVIDENCE_MALFORMED at format')
  expect(judge({ rollup: { address } })).toBe('EVIDENCE_ROLLUP_MISMATCH at rollup')
  expect(judge({}, { scheme: 'mimc' })).toBe('ARGUMENT_INVALID at scheme')
  // Evidence of one kind is no evidence of another, and no copy of a kind is one.
  expect(judge({}, { kind: undefined, atLeast: undefined })).toBe('ARGUMENT_INVALID at atLeast')
  for (const kind of ['balance', null, {}, { ...balanceEvidence }, Object.create(balanceEvidence)]) {
    expect(judge({}, { kind })).toBe('ARGUMENT_INVALID at kind')
  }
})

it('takes at most eight files of source to add one', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.ts'))
  const tables = files.filter(file => /Record<(EvidenceName|Subject),/.test(readFileSync(`src/${file}`, 'utf8')))
  expect(tables.length).toBeGreaterThan(2)
  const [, recipe = ''] = /## A kind of evidence(.*?)\n## /s.exec(readFileSync('docs/extending.md', 'utf8')) ?? []
  const listed = [...recipe.matchAll(/`src\/([\w/.-]+\.ts)`/g)].map(([, file = '']) => file)
  // Besides the tables: the list of kinds, its own file, its entry point, and its report on the command line.
  const own = [
    'verify/evidence/verify.ts',
    'verify/evidence/kinds/example.ts',
    'entry/example.ts',
    'cli/kinds/example.ts',
  ]
  expect(listed.toSorted()).toEqual([...own, ...tables].sort())
  expect(listed.length).toBeLessThanOrEqual(8)
})
