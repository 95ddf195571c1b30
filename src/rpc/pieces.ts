import { RpcError } from './error.ts'

/** The answer for some of the keys. */
export interface Piece {
  readonly keyCount: number
  readonly accountProof: unknown
  readonly storageProofs: readonly unknown[]
}

/** Only what joining needs: verifyProof is the judge of the rest. */
export function readPiece(answer: unknown, keyCount: number): Piece {
  const { accountProof, storageProofs, storageHash, storageProof } = fieldsOf(answer)
  if (Array.isArray(accountProof) && (storageHash ?? storageProof) != null) throw new RpcError('ETH_PROOF_ANSWER')
  if (!Array.isArray(storageProofs) || ![0, keyCount].includes(storageProofs.length)) {
    throw new RpcError('ANSWER_MALFORMED', { found: `the storageProofs are not one for each of ${keyCount} keys` })
  }
  return { keyCount, accountProof, storageProofs }
}

const fieldsOf = (answer: unknown): Readonly<Record<string, unknown>> =>
  typeof answer === 'object' && answer !== null ? { ...answer } : {}

/** The answer for all of the keys. */
export const joinPieces = (pieces: readonly Piece[]) => ({
  accountProof: pieces[0]?.accountProof,
  storageProofs: pieces.flatMap(({ storageProofs }) => storageProofs),
})

/** One account proof has one storage root, so pieces that share it are of one state. The newest is compared. */
export function verifyAgreement(pieces: readonly Piece[]): void {
  const [first, last] = [pieces[0], pieces.at(-1)]
  const isOneAccount = isDeepEqual(first?.accountProof, last?.accountProof)
  const areAllEmpty = first?.storageProofs.length === 0 && last?.storageProofs.length === 0
  const isNoneEmpty = first?.storageProofs.length !== 0 && last?.storageProofs.length !== 0
  if (!isOneAccount || !(areAllEmpty || isNoneEmpty)) throw new RpcError('PIECES_DISAGREE')
}

/** Of JSON values: the order of fields does not matter. */
function isDeepEqual(a: unknown, b: unknown, depth = 0): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  // An account proof is four levels deep.
  if (depth > 8 || Array.isArray(a) !== Array.isArray(b)) return false
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every(name => Object.hasOwn(b, name) && isDeepEqual(Reflect.get(a, name), Reflect.get(b, name), depth + 1))
  )
}
