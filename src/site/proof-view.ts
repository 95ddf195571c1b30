import { type LeafPath, leafPaths, leafProofAt } from '../cli/words/answer.ts'
import { attempt, isHexOf, isLeafIndex, LEAF_NODE, nameLeafIndex, readLevels, toHex } from '../cli/words/layout.ts'
import { brief, type Fields, fieldsOf, isGiven, itemsOf, show } from '../cli/words/value.ts'
import type { Hex } from '../entry/index.ts'
import type { HashScheme } from '../verify/scheme/scheme.ts'
import {
  decodeAccount,
  hashAccountKey,
  hashAccountValue,
  hashStorageKey,
  hashStorageValue,
} from '../verify/verifier/leaf-api.ts'
import { describeFault, type Entry, entries, type Fault, readFields, wordNotes } from './bytes.ts'
import { type Checked, checksOf, type Status, statusOf, statusOfOne } from './checks.ts'
import type { OpenedFile } from './file.ts'
import type { Judgement } from './report.ts'
import { claimWords, partNames } from './wording.ts'

export type ProofView = ReturnType<typeof viewLeafProof>
export type PathView = ReturnType<typeof viewPath>
/** The two neighbours of an absent key. */
export type Gap = NonNullable<ReturnType<typeof viewGap>>

/** Decodes one leaf proof as far as possible. Index 0 is the account's proof, 1 the first slot's. */
export function viewLeafProof(file: OpenedFile, judgement: Judgement, index: number) {
  const { scheme, forms, checked, address, storageKeys } = judgement
  const leafProof = fieldsOf(leafProofAt(file.answer, index))
  const asked = index === 0 ? address : (storageKeys[index - 1] ?? '')
  const keyHash = scheme && hashKey(scheme, index, asked)
  const { failed } = checked
  const fault = failed?.group === index ? describeFault(failed) : null
  // The paths that are present can be drawn.
  const parts = leafPaths.filter(({ proof }) => isGiven(leafProof[proof]))
  const root = rootOf(file, judgement, index)
  const paths = scheme ? parts.map(part => viewPath(scheme, index, part, leafProof, root, fault)) : []
  return {
    index,
    count: forms.length,
    title: index === 0 ? 'the account' : `slot ${index}`,
    claims: scheme === null ? '' : claimWords[forms[index] ?? 'neither'],
    key: brief(asked),
    keyHash,
    checks: checksOf(checked, index),
    wordNote: scheme && wordNotes[scheme.name],
    gap: scheme && keyHash && viewGap(scheme, paths, keyHash, checked, index),
    paths,
    fault,
  }
}

/** The casts are safe, because the published functions validate each argument. */
const hashKey = (scheme: HashScheme, index: number, key: string): string | null =>
  attempt(() => (index === 0 ? hashAccountKey : hashStorageKey)(scheme, key as Hex))

const hashValue = (scheme: HashScheme, index: number, value: unknown): string | null =>
  attempt(() => (index === 0 ? hashAccountValue : hashStorageValue)(scheme, value as Hex))

function rootOf({ answer }: OpenedFile, { scheme, stateRoot, forms, checked }: Judgement, index: number) {
  if (index === 0) {
    const root = stateRoot && isHexOf(32, stateRoot.value) ? stateRoot : null
    return { rootName: 'state root', wantedRoot: root?.value ?? null, rootSource: root?.source ?? 'not known' }
  }
  const { proof } = fieldsOf(leafProofAt(answer, 0))
  const { value } = fieldsOf(proof)
  const root = scheme && attempt(() => decodeAccount(scheme, value as Hex).storageRoot)
  const isProven = forms[0] === 'existence' && statusOf(checked, 0) === 'passed'
  const rootSource = isProven ? 'of the proven account' : 'as the account value says, not proven'
  return { rootName: 'storage root', wantedRoot: root, rootSource: root === null ? 'not known' : rootSource }
}

/** One path of the leaf proof, its bytes, and the root that it must lead to. What cannot be read or is not known is null. */
function viewPath(
  scheme: HashScheme,
  treeIndex: number,
  part: LeafPath,
  leafProof: Fields,
  root: ReturnType<typeof rootOf>,
  faultOfProof: Fault | null,
) {
  const { value, proofRelatedNodes } = fieldsOf(leafProof[part.proof])
  const index = leafProof[part.index]
  const nodes = itemsOf(proofRelatedNodes)
  const isPath = nodes.length === LEAF_NODE + 1
  const fault = faultOfProof?.part === part.proof ? faultOfProof : null
  const leafIndex = isLeafIndex(index) ? index : null
  const { levels, subRoot, root: computedRoot } = readLevels(scheme, leafIndex, nodes)
  const bytes = entries
    .filter(entry => isPath || entry === 'value')
    .map(entry => readFields(scheme, treeIndex, entry, entry === 'value' ? value : nodes[entry], fault))
  const fields = new Map(bytes.flatMap(one => one.fields.map(field => [`${one.entry} ${field.name}`, field.value])))
  const fieldOf = (entry: Entry, name: string) => fields.get(`${entry} ${name}`) ?? null
  return {
    part: part.proof,
    title: `Path of the ${partNames[part.proof]}`,
    leafIndex: leafIndex === null ? brief(show(index)) : nameLeafIndex(leafIndex),
    ...root,
    computedRoot,
    nextFreeNode: fieldOf(0, 'nextFreeNode'),
    statedSubRoot: fieldOf(0, 'sub-root'),
    computedSubRoot: subRoot,
    levels,
    prev: fieldOf(LEAF_NODE, 'prev'),
    next: fieldOf(LEAF_NODE, 'next'),
    hKey: fieldOf(LEAF_NODE, 'hKey'),
    bytes,
    valueHash: hashValue(scheme, treeIndex, value),
    fault,
  }
}

/** The two leaves around an absent key, and what each says; null if either cannot be read. */
function viewGap(scheme: HashScheme, paths: readonly PathView[], keyHash: string, checked: Checked, group: number) {
  const [left, right] = (['leftProof', 'rightProof'] as const).map(part => paths.find(path => path.part === part))
  const [least, most] = [left?.hKey, right?.hKey]
  if (!left || !right || !least || !most) return null
  const neighbour = (name: 'left' | 'right', hash: string, { leafIndex }: PathView, says: string, isSo: boolean) => {
    const whose = !isSo ? 'another leaf' : name === 'left' ? 'the right one' : 'the left one'
    const status = statusOfOne(checked, group, 'NOT_ADJACENT', name === 'left' ? 0 : 1)
    return { name, title: `leaf ${leafIndex}`, hash, says: `${says}, ${whose}`, status }
  }
  // Above the left neighbour, and below the right one.
  const sides = [0, 1].map(side => statusOfOne(checked, group, 'KEY_NOT_BETWEEN', side))
  const status: Status = sides.find(side => side !== 'passed') ?? 'passed'
  // Lower-case hexadecimal of equal length sorts like its bytes.
  const says =
    keyHash <= least
      ? 'its hash is not above the left one'
      : keyHash < most
        ? 'its hash lies between theirs'
        : 'its hash is not below the right one'
  return {
    last: toHex(scheme.tailKey()),
    points: [
      neighbour('left', least, left, `next is ${left.next}`, left.next === right.leafIndex),
      { name: 'key', title: 'requested key', hash: keyHash, says, status },
      neighbour('right', most, right, `prev is ${right.prev}`, right.prev === left.leafIndex),
    ],
  }
}
