import { bytesToHex, type Hex } from '../../src/base/bytes.ts'
import { createKind, createTree, proveKey, rootOf, setValue, skipLeaves } from '../../src/devnet/world/tree.ts'
import { decodeClaim } from '../../src/verify/proof/claim.ts'
import { plainTrees } from '../../src/verify/proof/tree.ts'
import { type ProvenAccount, verifyAnswer } from '../../src/verify/proof/verify.ts'
import type { HashScheme } from '../../src/verify/scheme/scheme.ts'
import { flipBit, type LooseAnswer, type LooseLeafProof } from '../../vectors/forge.ts'
import { type Beside, digits, lengthOf } from './beside.ts'
import { describe } from './leaves.ts'
import { below, changes, kinds, makeValue, partsOf, pick, randomBytes, toys } from './made.ts'

/** Whole answers, beside `verifyAnswer`. */

interface Asked {
  scheme: HashScheme
  stateRoot: Hex
  address: Hex
  storageKeys: Hex[]
  answer: Partial<LooseAnswer>
}

const word = (value: bigint) => value.toString(16).padStart(64, '0')

/** The account's value in bytes, put together from its fields. */
const bytesOf = ({ leafIndex, nonce, balance, storageRoot, snarkCodeHash, codeHash, codeSize }: ProvenAccount) =>
  `present ${leafIndex} ${word(nonce)}${word(balance)}${[storageRoot, snarkCodeHash, codeHash].map(digits).join('')}${word(codeSize)}`

/** Asks both verifiers; null if the model cannot express the answer. */
export function askAnswer(beside: Beside, name: string, { scheme, stateRoot, address, storageKeys, answer }: Asked) {
  const { accountProof, storageProofs } = answer
  if (lengthOf(stateRoot) !== 32 || lengthOf(address) !== 20 || storageKeys.some(key => lengthOf(key) !== 32))
    return null
  if (!Array.isArray(storageProofs)) return null
  const proofs = [accountProof, ...storageProofs].map(proof => (proof === null ? ['-'] : describe(Object(proof))))
  if (accountProof === null || proofs.some(proof => proof === null)) return null
  const keys = ['', ...storageKeys.map(digits)].join(',')
  const question = ['A', name, digits(stateRoot), digits(scheme.emptyTreeRoot), digits(address), keys]
  return beside.ask([...question, ...proofs.flatMap(proof => proof ?? [])], () => {
    const claim = decodeClaim({ stateRoot, address, storageKeys })
    const { account, storage } = verifyAnswer(plainTrees(scheme), answer, claim)
    const slots = storage.map(({ exists, value }) => (exists ? ` ${digits(value)}` : ' -'))
    return `${account === null ? 'absent' : bytesOf(account)} with${slots.join('')}`
  })
}

/** An account with storage of its own, in a tree with others. */
function makeState(scheme: HashScheme) {
  const [account, storage] = (['account', 'storage'] as const).map(kind =>
    createTree(createKind(scheme, kinds[kind], (value: Uint8Array) => value)),
  ) as [ReturnType<typeof createTree<Uint8Array>>, ReturnType<typeof createTree<Uint8Array>>]
  const keys = Array.from({ length: below(5) }, () => randomBytes(32))
  const put = (tree: typeof account, kind: 'account' | 'storage', key: Uint8Array, value: Uint8Array) =>
    setValue(tree, kinds[kind].hashKey(scheme, key), value, key)
  let slots = keys.reduce((tree, key) => put(tree, 'storage', key, makeValue('storage')), storage)
  if (below(8) === 0) slots = skipLeaves(slots, slots.nextFreeNode + 1 + below(100))
  const addresses = Array.from({ length: 1 + below(4) }, () => randomBytes(20))
  const value = makeValue('account')
  value.set(rootOf(slots), 64)
  const accounts = addresses.reduce(
    (tree, address, index) => put(tree, 'account', address, index === 0 ? value : makeValue('account')),
    account,
  )
  return { keys, slots, addresses, accounts }
}

function* madeAnswers(): Generator<Asked> {
  for (let round = 0; ; round++) {
    const scheme = toys[round % 2] as HashScheme
    const { keys, slots, addresses, accounts } = makeState(scheme)
    for (let times = 0; times < 8; times++) {
      const address = below(6) === 0 ? randomBytes(20) : (pick([addresses[0], ...addresses]) ?? randomBytes(20))
      const asked = Array.from({ length: below(4) }, () => pick([...keys, randomBytes(32)]))
      const prove = (tree: typeof accounts, key: Uint8Array) =>
        structuredClone(proveKey(tree, key)) as unknown as LooseLeafProof
      const isEmpty = address !== addresses[0] || keys.length === 0
      const storageProofs: (LooseLeafProof | null)[] = asked.map(key =>
        below(isEmpty ? 3 : 30) > 0 === isEmpty ? null : prove(slots, key),
      )
      if (below(12) === 0) storageProofs.splice(below(4), 1)
      if (below(12) === 0) storageProofs.push(prove(slots, pick([...keys, randomBytes(32)])))
      if (below(12) === 0) storageProofs.length = 0
      const accountProof = prove(accounts, address)
      for (let lies = below(3) - 1; lies > 0; lies--) {
        const proof = pick([accountProof, ...storageProofs]) ?? accountProof
        pick(changes)(proof, pick(partsOf(proof)), scheme)
      }
      const answer = { accountProof, storageProofs: storageProofs as LooseLeafProof[] }
      const root = bytesToHex(rootOf(accounts))
      const stateRoot = below(50) === 0 ? flipBit(root, below(32)) : root
      yield { scheme, stateRoot, address: bytesToHex(address), storageKeys: asked.map(bytesToHex), answer }
    }
  }
}

export function askMadeAnswers(beside: Beside, size: number): void {
  for (const asked of madeAnswers()) {
    askAnswer(beside, `toy-${asked.scheme.name}`, asked)
    if (beside.asked() >= size) return
  }
}
