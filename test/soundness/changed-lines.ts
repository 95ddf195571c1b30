import { readFileSync } from 'node:fs'
import type { PARTS } from './parts.ts'

/** One line of a verifier, replaced by another. */
export interface Change {
  readonly part: keyof typeof PARTS
  /** In `src/verify`. */
  readonly file: string
  readonly what: string
  /** The whole line, without its indentation. The file has it once. */
  readonly line: string
  readonly replacement: string
}

type Line = readonly [what: string, line: string, replacement: string]

const changesOf = (part: Change['part'], file: string, ...lines: readonly Line[]): Change[] =>
  lines.map(([what, line, replacement]) => ({ part, file, what, line, replacement }))

/** Mistakes that one makes in a line: a limit that is off by one, a rule for one side only, a condition left out. */
export const CHANGES: readonly Change[] = [
  ...changesOf(
    'leaves',
    'proof/leaf-proof.ts',
    [
      'the left key may be the key itself',
      `if (compareBytes(leftKey, keyHash) >= 0) throw notBetween(\`above \${bytesToHex(leftKey)}\`)`,
      `if (compareBytes(leftKey, keyHash) > 0) throw notBetween(\`above \${bytesToHex(leftKey)}\`)`,
    ],
    [
      'the link `prev` is not compared',
      `if (prev !== left.leafIndex) throw refusal('NOT_ADJACENT', \`right.prev = \${left.leafIndex}\`, prev)`,
      'void prev',
    ],
    [
      'HEAD and TAIL are anywhere but their keys',
      'if (isHead !== (leafIndex === HEAD_INDEX) || isTail !== (leafIndex === TAIL_INDEX)) {',
      'if ((isHead && leafIndex !== HEAD_INDEX) || (isTail && leafIndex !== TAIL_INDEX)) {',
    ],
  ),
  ...changesOf(
    'leaves',
    'tree/path.ts',
    [
      'the leaf at `nextFreeNode` is one',
      `if (leafIndex >= nextFreeNode) throw refusal('INDEX_OUT_OF_RANGE', \`below nextFreeNode \${nextFreeNode}\`, leafIndex)`,
      `if (leafIndex > nextFreeNode) throw refusal('INDEX_OUT_OF_RANGE', \`below nextFreeNode \${nextFreeNode}\`, leafIndex)`,
    ],
    [
      'an opening of zeros is a missing leaf',
      `if (isEmpty && !isDigest) throw refusal('ZERO_OPENING', '32 zero bytes', bytes.length)`,
      '',
    ],
    [
      'no tree is full',
      'const nextFreeNode = decodeIndexWord(scheme, rootPreimage.slice(0, scheme.wordLength), MAX_LEAVES + 1)',
      'const nextFreeNode = decodeIndexWord(scheme, rootPreimage.slice(0, scheme.wordLength), MAX_LEAVES)',
    ],
  ),
  ...changesOf('leaves', 'tree/kind.ts', [
    'a nonce has 65 bits or more',
    'if (isZero(word.subarray(0, 24))) return',
    'if (isZero(word.subarray(0, 23))) return',
  ]),
  ...changesOf('leaves', 'proof/tree.ts', [
    'inner nodes need not be reduced',
    'decodeInner: hex => decode(hex, INNER_LENGTH),',
    'decodeInner: hex => hexToBytes(hex, knownLength(hex, [INNER_LENGTH])),',
  ]),
  ...changesOf('leaves', 'proof/decode.ts', ['-0 remains an index', 'return number + 0', 'return number']),
  ...changesOf(
    'answers',
    'proof/verify.ts',
    [
      'empty storage needs proofs',
      'const hasStorage = account !== null && account.storageRoot !== trees.storage.scheme.emptyTreeRoot',
      'const hasStorage = account !== null',
    ],
    [
      'a slot is proven of an account that does not exist',
      `if (leaf === null) throw new ProofError('STORAGE_PROOF_UNEXPECTED', { found: 'a proof' })`,
      'if (leaf === null) return null',
    ],
  ),
  ...changesOf('answers', 'tree/kind.ts', [
    'one code hash is given for the other',
    'codeHash: bytesToHex(accountWord(value, KECCAK_CODE_HASH)),',
    'codeHash: bytesToHex(accountWord(value, SNARK_CODE_HASH)),',
  ]),
  ...changesOf(
    'tries',
    'anchor/trie.ts',
    ['nodes may be left over', 'if (used < nodes.length) throw unusedNodes(used, nodes.length)', ''],
    [
      'a leaf may end before its key',
      `if (path.length !== rest.length) throw malformed(\`a leaf path of \${rest.length} nibbles\`, \`\${path.length}\`)`,
      `if (path.length > rest.length) throw malformed(\`a leaf path of \${rest.length} nibbles\`, \`\${path.length}\`)`,
    ],
    [
      'a branch comes after the last nibble',
      `if (nibble === undefined) throw malformed('no branch after the last nibble')`,
      `if (nibble === undefined) return { kind: 'empty' }`,
    ],
    [
      'a node of 32 bytes is embedded',
      '} else if (child.length === 0 || encodeRlp(child).length >= DIGEST_LENGTH) {',
      '} else if (child.length === 0 || encodeRlp(child).length > DIGEST_LENGTH) {',
    ],
    [
      'a leaf comes below an extension',
      `if (parent === 'extension' && node.kind !== 'branch') throw malformed('a branch below an extension')`,
      `if (parent === 'extension' && node.kind === 'extension') throw malformed('a branch below an extension')`,
    ],
    [
      'without nodes, every trie is empty',
      'const isEmpty = nodes.length === 0 && equalBytes(root, emptyTrieRoot())',
      'const isEmpty = nodes.length === 0',
    ],
  ),
  ...changesOf('tries', 'anchor/trie.ts', [
    'what the library decodes is canonical',
    'if (equalBytes(encodeRlp(item), bytes)) return item',
    'return item',
  ]),
  ...changesOf(
    'ethereum',
    'anchor/eth-proof.ts',
    [
      'a nonce has nine bytes',
      'const nonce = decodeInteger(fields[0], 8)',
      'const nonce = decodeInteger(fields[0], 9)',
    ],
    ['a slot may hold zero', 'if (value === null || value === 0n)', 'if (value === null)'],
    [
      'an opened node is taken for any digest',
      'if (known && equalBytes(known.digest, digest)) return known.item',
      'if (known) return known.item',
    ],
  ),
  ...changesOf('ethereum', 'anchor/trie.ts', [
    'an integer begins with a zero',
    'if (!(item instanceof Uint8Array) || item.length > maxLength || item[0] === 0) return null',
    'if (!(item instanceof Uint8Array) || item.length > maxLength) return null',
  ]),
  ...changesOf(
    'lists',
    'blocks/ordered-trie.ts',
    [
      'a node of 32 bytes is embedded',
      'return rlp.length < 32 ? node : keccak256(rlp)',
      'return rlp.length <= 32 ? node : keccak256(rlp)',
    ],
    [
      'keys of two lengths share an extension',
      'const isShared = (digit: string, index: number) => others.every(({ path }) => path[index] === digit)',
      'const isShared = (digit: string, index: number) => others.some(({ path }) => path[index] === digit)',
    ],
  ),
  ...changesOf(
    'receipts',
    'blocks/receipts.ts',
    [
      'gas may fall',
      `if (gasUsed < 0n) throw refusal('RECEIPT_GAS', \`at least \${cumulativeGasUsed - gasUsed}\`, cumulativeGasUsed)`,
      '',
    ],
    ['gas is counted from the start', 'gasBefore = cumulativeGasUsed', ''],
    [
      'a log sets two bits for each of its words',
      'return [0, 2, 4].map(index => ((byteAt(hash, index) << 8) | byteAt(hash, index + 1)) % (8 * BLOOM_LENGTH))',
      'return [0, 2].map(index => ((byteAt(hash, index) << 8) | byteAt(hash, index + 1)) % (8 * BLOOM_LENGTH))',
    ],
  ),
  ...changesOf(
    'messages',
    'messages/tree.ts',
    [
      'the leaf behind the last is one',
      'if (Number.isInteger(index) && index >= 0 && index < size) return index',
      'if (Number.isInteger(index) && index >= 0 && index <= size) return index',
    ],
    [
      'a root is a message',
      `if (depth < 1 || depth > MAX_TREE_DEPTH) throw refusal('MESSAGE_MALFORMED', \`1 to \${MAX_TREE_DEPTH} nodes\`, depth)`,
      `if (depth > MAX_TREE_DEPTH) throw refusal('MESSAGE_MALFORMED', \`1 to \${MAX_TREE_DEPTH} nodes\`, depth)`,
    ],
    [
      'an index has a fraction',
      'if (Number.isInteger(index) && index >= 0 && index < size) return index',
      'if (index >= 0 && index < size) return index',
    ],
  ),
  ...changesOf(
    'transitions',
    'transition/trace.ts',
    [
      'a trace starts at another `nextFreeNode`',
      'if (reached === null || (equalBytes(start.subRoot, reached.subRoot) && start.nextFreeNode === reached.nextFreeNode))',
      'if (reached === null || equalBytes(start.subRoot, reached.subRoot))',
    ],
    [
      'the left key may be the key itself',
      'const isBetween = compareBytes(left.leaf.hKey, trace.hKey) < 0 && compareBytes(trace.hKey, right.leaf.hKey) < 0',
      'const isBetween = compareBytes(left.leaf.hKey, trace.hKey) <= 0 && compareBytes(trace.hKey, right.leaf.hKey) < 0',
    ],
    ['the link `prev` is not compared', 'if (right.leaf.prev !== leftIndex)', 'if (right.leaf.prev < 0)'],
    [
      'a deleted leaf remains',
      'subRoot = replace(trace, subRoot, held, null)',
      'subRoot = replace(trace, subRoot, held, held.leaf)',
    ],
    [
      'a place may be above `nextFreeNode`',
      `const leafIndex = field('leafIndex', decodeIndex(0, Math.min(start.nextFreeNode, MAX_LEAVES - 1)))`,
      `const leafIndex = field('leafIndex', decodeIndex(0, MAX_LEAVES - 1))`,
    ],
  ),
  ...changesOf(
    'transitions',
    'transition/segment.ts',
    [
      'a slot is written before its account is deleted',
      '[DELETE]: [READ, READ_ABSENT],',
      '[DELETE]: [READ, READ_ABSENT, UPDATE],',
    ],
    [
      'anything may follow a deletion',
      'const isAllowed = lastKind === null || (lastKind === DELETE && kind === INSERT)',
      'const isAllowed = lastKind === null || lastKind === DELETE',
    ],
    ['traces of slots may lack their account', 'if (orphan) {', 'if (orphan && entries.length === 0) {'],
    [
      'the storage root after an account is not compared',
      `if (!equalBytes(storage.root, rootAfter)) throw mismatch('SEGMENT_STORAGE_AFTER', rootAfter, storage.root)`,
      '',
    ],
  ),
]

/** The text of a file with the line replaced. @throws unless the file has the line once */
export function replaceLine({ file, line, replacement }: Change): string {
  const lines = readFileSync(`src/verify/${file}`, 'utf8').split('\n')
  const found = lines.filter(text => text.trim() === line).length
  if (found !== 1) throw new Error(`${file} has this line ${found} times, not once: ${line}`)
  return lines.map(text => (text.trim() === line ? replacement : text)).join('\n')
}
