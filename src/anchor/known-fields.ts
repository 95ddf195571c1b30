/** What is known of a document: a text or number, the fields of an object, or what the items of an array are. */
export type Shape = 'scalar' | { readonly fields?: Readonly<Record<string, Shape>>; readonly items?: Shape }

const PROOF: Shape = { fields: { value: 'scalar', proofRelatedNodes: { items: 'scalar' } } }
const LEAF_PROOF = {
  fields: {
    key: 'scalar',
    leafIndex: 'scalar',
    proof: PROOF,
    leftLeafIndex: 'scalar',
    leftProof: PROOF,
    rightLeafIndex: 'scalar',
    rightProof: PROOF,
  },
} as const satisfies Shape

/** Section 6; the last two tell an `eth_getProof` answer from it. */
export const ANSWER_SHAPE: Shape = {
  fields: {
    // In an `eth_getProof` answer it is a list of nodes.
    accountProof: { ...LEAF_PROOF, items: 'scalar' },
    storageProofs: { items: LEAF_PROOF },
    storageHash: 'scalar',
    storageProof: 'scalar',
  },
}

/** EIP-1186. */
export const ETH_PROOF_SHAPE: Shape = {
  fields: {
    address: 'scalar',
    accountProof: { items: 'scalar' },
    balance: 'scalar',
    nonce: 'scalar',
    storageHash: 'scalar',
    codeHash: 'scalar',
    storageProof: { items: { fields: { key: 'scalar', value: 'scalar', proof: { items: 'scalar' } } } },
  },
}

/** How {@link pickKnown} treats what it meets. */
export interface Admission {
  /** Told of every value before it is copied, with its length in characters: throws when it is enough. */
  charge(length: number): void
  /** What to take for a text; null to leave it out. */
  admitText(text: string): string | null
}

/** What an object or an array that is empty costs, so that a list of nothing has its price too. */
const SMALL = 8

/**
 * A copy of what is known of a stranger's document, own properties only; all else is left behind. What is of another kind
 * than it should be stays so, for the verifier to name: an object in place of a text becomes an empty object.
 * What cannot be read counts as missing.
 */
export function pickKnown(source: unknown, shape: Shape, admission: Admission): unknown {
  admission.charge(typeof source === 'string' ? source.length : SMALL)
  if (typeof source === 'string') return admission.admitText(source)
  if (typeof source === 'number' || typeof source === 'boolean' || source === null) return source
  if (typeof source !== 'object') return undefined
  const isList = tryRead(() => Array.isArray(source))
  if (isList === undefined) return undefined
  const { fields: known = {}, items } = shape === 'scalar' ? {} : shape
  if (isList) return items === undefined ? [] : pickItems(source, items, admission)
  const fields: Record<string, unknown> = {}
  for (const [name, kind] of Object.entries(known)) {
    const value = readOwn(source, name)
    if (value !== undefined) fields[name] = pickKnown(value, kind, admission)
  }
  return fields
}

function pickItems(source: object, shape: Shape, admission: Admission): unknown[] {
  const length = readOwn(source, 'length')
  const items: unknown[] = []
  // Whatever a proxy says that its length is: every item has its price.
  for (let index = 0; typeof length === 'number' && index < length; index++) {
    items.push(pickKnown(readOwn(source, index) ?? null, shape, admission))
  }
  return items
}

/** The own property of this name; undefined without one, or where reading it fails: a getter or a proxy can throw anything. */
export const readOwn = (source: object, name: PropertyKey): unknown =>
  tryRead(() => (Object.hasOwn(source, name) ? Reflect.get(source, name) : undefined))

/** null counts as missing: some serializers write it. */
export const isGiven = (value: unknown): boolean => value !== undefined && value !== null

function tryRead<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** The result inside a JSON-RPC response, or the answer itself when it is bare. Once: what is inside is not opened again. */
export function openResponse(answer: unknown): { result: unknown; error: unknown } {
  const read = (name: string) => (typeof answer === 'object' && answer !== null ? readOwn(answer, name) : undefined)
  const [jsonrpc, result, error] = [read('jsonrpc'), read('result'), read('error')]
  if (isGiven(error)) return { result: undefined, error }
  return { result: isGiven(jsonrpc) || isGiven(result) ? result : answer, error: undefined }
}
