import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { openFile } from '../../src/site/explore.ts'
import { findInputErrors, findMissing } from '../../src/site/inputs.ts'
import { eachField, type Field, type FieldName, type Suggested, statementFrom } from '../../src/site/statement.ts'

/** What is wrong with the form, field by field. */

const open = (path: string) => openFile(JSON.parse(readFileSync(`vectors/${path}.json`, 'utf8')))
const files = {
  answer: open('poseidon2/valid/contract-slots-mixed'),
  state: open('evidence/valid/poseidon2-block-hash'),
  logs: open('logs/valid/transfers-poseidon2'),
  message: open('messages/valid/evidence-from-l2'),
  traces: open('transitions/valid/poseidon2-history'),
} as const

const typed = (value: string, source: Field['source'] = 'user'): Field => ({ value, source })
const digits = (count: number) => `0x${'1'.repeat(count)}`

/** For each field, texts that are wrong, and what is said of them. */
const wrong: Readonly<Partial<Record<FieldName, readonly (readonly [text: string, message: string])[]>>> = {
  trustedKind: [['l3BlockHash', 'choose one']],
  trusted: [
    [digits(63), '63 digits instead of 64'],
    ['1'.repeat(64), 'no 0x in front'],
    [`0x${'g'.repeat(64)}`, 'not hexadecimal'],
  ],
  endRoot: [[digits(2), '2 digits instead of 64']],
  message: [[digits(40), '40 digits instead of 64']],
  implementation: [[digits(64), '64 digits instead of 40']],
  rollup: [
    ['mainnet', 'no name or contract'],
    [digits(39), 'no name or contract'],
  ],
  address: [
    [digits(39), '39 digits instead of 40'],
    // One letter of a published example of EIP-55 is lower case.
    ['0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'not as its checksum says'],
  ],
  storageKeys: [[`${digits(64)}\n${digits(6)}`, 'key 2: 6 digits instead of 64']],
  l2Block: [['-1', 'no block number']],
  layout: ['x', '282', '282 1.5', '282 281 456 1', `282 1${'0'.repeat(78)}`].map(
    text => [text, 'not two or three slot numbers'] as const,
  ),
}

it('says what is wrong with a text, in each field that a file has use for, and only there', () => {
  let count = 0
  for (const [subject, file] of Object.entries(files)) {
    const statement = statementFrom(file.suggested)
    expect(file.subject).toBe(subject)
    expect([findMissing(file, statement), findInputErrors(file, statement)]).toEqual([null, []])
    for (const [field, texts] of Object.entries(wrong) as [FieldName, [string, string][]][]) {
      const isUsed = file.fields.includes(field)
      for (const [text, message] of texts) {
        const errors = findInputErrors(file, { ...statement, [field]: typed(text) })
        expect(errors, `${subject} ${field} ${text}`).toEqual(isUsed ? [{ field, message }] : [])
        count++
      }
    }
  }
  expect(count).toBe(5 * 18)
})

it('takes an address without a checksum, one with the right one, and any that the file states', () => {
  const statement = statementFrom(files.answer.suggested)
  const right = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
  const cases: [string, Field['source'], number][] = [
    [right, 'user', 0],
    [right.toLowerCase(), 'user', 0],
    [right.replace('aA', 'aa'), 'user', 1],
    [right.replace('aA', 'aa'), 'file', 0],
    [right.replace('aA', 'aa'), 'answer', 1],
  ]
  for (const [text, source, errors] of cases) {
    expect(findInputErrors(files.answer, { ...statement, address: typed(text, source) }).length, text).toBe(errors)
  }
})

it('asks for what is missing, one thing at a time', () => {
  const nothing = eachField((): Field => typed(''))
  const expected: Record<keyof typeof files, FieldName[]> = {
    answer: ['scheme', 'trusted', 'address'],
    state: ['scheme', 'trusted', 'rollup'],
    logs: ['scheme', 'trusted', 'rollup'],
    message: ['trusted', 'rollup'],
    traces: ['scheme', 'trusted'],
  }
  for (const [subject, file] of Object.entries(files)) {
    const own: Suggested = { trustedKind: typed('l1BlockHash') }
    const asked: FieldName[] = []
    for (;;) {
      const missing = findMissing(file, { ...nothing, ...own })
      if (missing === null) break
      asked.push(missing.field)
      own[missing.field] = file.suggested[missing.field] ?? typed('x')
    }
    expect(asked, subject).toEqual(expected[subject as keyof typeof files])
  }
  const ofRoot = { ...nothing, scheme: typed('poseidon2'), trusted: typed(digits(64)), rollup: typed('linea') }
  const root = { ...ofRoot, trustedKind: typed('l2StateRoot') }
  expect(findMissing(files.message, root)?.field).toBe('trustedKind')
  expect(findMissing(files.logs, root)?.field).toBe('l2Block')
  expect(findMissing(files.state, { ...root, implementation: typed(digits(40)) })?.field).toBe('implementation')
  // The network of a rollup that has a name is known.
  const ofBeacon = { ...ofRoot, trustedKind: typed('beaconBlockRoot') }
  expect(findMissing(files.state, ofBeacon)).toBe(null)
  expect(findMissing(files.state, { ...ofBeacon, rollup: typed(digits(40)) })?.field).toBe('network')
  expect(findInputErrors(files.state, { ...ofBeacon, network: typed('ethereum') })).toEqual([
    { field: 'network', message: 'one of mainnet, sepolia, hoodi' },
  ])
})
