import { type LooseAnswer, zeros } from '../forge.ts'
import { keyFor } from '../vector.ts'
import { changeNode, type Forgery, type ForgeryClass } from './forgery.ts'

type Forge = (answer: LooseAnswer) => unknown

const shape = (name: string, description: string, forge: Forge): Forgery => ({
  name,
  code: 'MALFORMED_RESPONSE',
  description,
  forge,
})

const claim = (name: string, description: string, claim: NonNullable<Forgery['claim']>): Forgery => ({
  name: `claim-${name}`,
  code: 'ARGUMENT_INVALID',
  description,
  claim,
})

const response = { jsonrpc: '2.0', id: 1 }

/** The answer is malformed. The danger is a crash, a hang, or a skipped check. */
export const shapes: ForgeryClass = ({ plain, contract, absent }) => [
  ...Object.entries({ string: 'proof', number: 1, true: true, array: [], object: {} }).map(([name, answer]) =>
    shape(`answer-${name}`, 'No answer at all.', () => answer),
  ),
  shape('batch', 'The answer to a batch.', result => [{ ...response, result }]),
  shape('response-without-result', 'A response with neither result nor error.', () => response),
  shape('response-null-result', 'The result is null: the endpoint does not know the block.', () => ({
    ...response,
    result: null,
  })),
  shape('response-in-response', 'A response inside a response.', result => ({
    ...response,
    result: { ...response, result },
  })),
  shape('no-account-proof', 'No accountProof.', ({ storageProofs }) => ({ storageProofs })),
  shape('account-proof-null', 'accountProof is null.', ({ storageProofs }) => ({ accountProof: null, storageProofs })),
  shape('no-storage-proofs', 'No storageProofs.', ({ accountProof }) => ({ accountProof })),
  shape(
    'storage-proof-singular',
    'storageProof, as one description of the method calls it.',
    ({ accountProof, storageProofs }) => ({ accountProof, storageProof: storageProofs }),
  ),
  {
    ...shape('storage-proofs-object', 'storageProofs as an object.', answer => ({
      ...answer,
      storageProofs: { ...answer.storageProofs, length: 2 },
    })),
    from: contract,
  },
  {
    ...shape('storage-proof-string', 'A storage proof that is a string.', answer => ({
      ...answer,
      storageProofs: ['0x', '0x'],
    })),
    from: contract,
  },
  shape('neither-form', 'A leaf proof of neither form.', ({ accountProof: { key } }) => ({
    accountProof: { key },
    storageProofs: [],
  })),
  shape('both-forms', 'A leaf proof of both forms.', ({ accountProof }) => ({
    accountProof: { ...absent.answer.accountProof, ...accountProof },
    storageProofs: [],
  })),
  shape('both-forms-in-part', 'An existence proof with one field of the other form.', answer => {
    answer.accountProof.rightLeafIndex = 1
  }),
  {
    ...shape('half-a-form', 'No right neighbour.', ({ accountProof: { key, leftLeafIndex, leftProof } }) => ({
      accountProof: { key, leftLeafIndex, leftProof },
      storageProofs: [],
    })),
    from: absent,
  },
  shape('no-key', 'No key.', ({ accountProof: { leafIndex, proof } }) => ({
    accountProof: { leafIndex, proof },
    storageProofs: [],
  })),
  shape('proof-is-node-list', 'The nodes alone in place of the proof.', ({ accountProof }) => {
    Object.assign(accountProof, { proof: accountProof.proof.proofRelatedNodes })
  }),
  shape('nodes-object', 'The nodes as an object.', ({ accountProof: { proof } }) => {
    Object.assign(proof, { proofRelatedNodes: { ...proof.proofRelatedNodes, length: 42 } })
  }),
  shape('nodes-string', 'The nodes as one string of 42 characters.', ({ accountProof: { proof } }) => {
    Object.assign(proof, { proofRelatedNodes: '0'.repeat(42) })
  }),
  shape('prototype-key', 'The fields inside a __proto__ key.', answer =>
    JSON.parse(`{"__proto__":${JSON.stringify(answer)},"constructor":{"prototype":{}}}`),
  ),
  shape('nested-deep', 'Arrays inside arrays.', answer => ({
    ...answer,
    accountProof: JSON.parse('['.repeat(500) + ']'.repeat(500)),
  })),
  {
    name: 'nodes-ten-thousand',
    code: 'WRONG_NODE_COUNT',
    description: 'A long list of nodes.',
    forge: ({ accountProof: { proof } }) => {
      proof.proofRelatedNodes = new Array(10_000).fill('0x')
    },
  },
  {
    name: 'node-huge',
    code: 'WRONG_LENGTH',
    description: 'A node of 50,000 bytes.',
    forge: ({ accountProof: { proof } }) => changeNode(proof, 3, () => zeros(50_000)),
  },
  {
    name: 'rpc-error',
    code: 'ANSWER_IS_ERROR',
    description: 'The endpoint does not hold the block.',
    forge: () => ({
      ...response,
      error: { code: -32600, message: 'BLOCK_MISSING_IN_CHAIN - block is missing in the chain' },
    }),
  },
  {
    name: 'rpc-error-and-result',
    code: 'ANSWER_IS_ERROR',
    description: 'A response with an error and a result.',
    forge: result => ({ ...response, result, error: { code: 0, message: '' } }),
  },
  {
    name: 'rpc-error-odd',
    code: 'ANSWER_IS_ERROR',
    description: 'An error that is a string.',
    forge: () => ({ error: 'rate limited' }),
  },
  {
    name: 'eth-get-proof',
    code: 'FOREIGN_PROOF',
    description: 'An eth_getProof answer.',
    from: contract,
    forge: () => ({
      address: contract.address,
      accountProof: [`0xf90211${'a0'.repeat(100)}`],
      balance: '0x5',
      codeHash: keyFor('code'),
      nonce: '0x1',
      storageHash: keyFor('storage hash'),
      storageProof: [{ key: '0x1', value: '0x1', proof: [] }],
    }),
  },
  {
    name: 'eth-get-proof-response',
    code: 'FOREIGN_PROOF',
    description: 'The same in its response.',
    forge: () => ({ ...response, result: { address: plain.address, accountProof: [], storageProof: [] } }),
  },
  claim('root-short', 'The trusted root has 31 bytes.', { stateRoot: zeros(31) }),
  claim('root-empty', 'There is no trusted root.', { stateRoot: '0x' }),
  claim('address-long', 'The address has 32 bytes.', { address: zeros(32) }),
  claim('key-short', 'A storage key has one byte.', { storageKeys: ['0x01'] }),
]
