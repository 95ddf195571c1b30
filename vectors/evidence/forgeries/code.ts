import { named } from '../l1.ts'
import { keccakOf } from '../truth.ts'
import { type Forgery, type ForgeryClass, flipLast } from './forgery.ts'

/** Contract code against the code hash of an account. */
export const code: ForgeryClass = () => {
  const honest = named('some code')
  const forged = (name: string, description: string, code: string): Forgery => ({
    name: `code-${name}`,
    code: 'CODE_HASH_MISMATCH',
    flag: 'Value',
    description,
    input: { operation: 'verifyCode', code, codeHash: keccakOf(honest) },
  })
  return [forged('altered', 'Code with its last bit changed.', flipLast(honest)), forged('empty', 'No code.', '0x')]
}
