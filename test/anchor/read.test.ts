import { expect, it } from 'vitest'
import { readerOf } from '../../src/anchor/read.ts'

it('does not find on Object.prototype what a document lacks', () => {
  const { fields } = readerOf('EVIDENCE_MALFORMED')
  Object.defineProperty(Object.prototype, 'l1', { value: 'inherited', configurable: true })
  try {
    expect(fields({ version: 1 }, ['version', 'l1']).l1).toBeUndefined()
  } finally {
    Reflect.deleteProperty(Object.prototype, 'l1')
  }
})
