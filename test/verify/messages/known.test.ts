import { decodeEventLog, decodeFunctionData, type Hex, parseAbi } from 'viem'
import { expect, it } from 'vitest'
import {
  encodeMessageClaim,
  hashMessage,
  type Message,
  type MessageProof,
  messageTrees,
} from '../../../src/entry/messages.ts'
import { claimAbi } from './abi.ts'
import { claims } from './known-claims.ts'

/** Answers that others published: facts of networks, and of the tests of the contracts, the prover and the SDK. */

const digit = (value: number): Hex => `0x${`${value}`.repeat(64)}`
const ZERO = digit(0)

/** The empty subtrees, as the proofs of the contracts' tests and of mainnet have them. */
const EMPTY: readonly Hex[] = [
  ZERO,
  '0xad3228b676f7d3cd4284a5443f17f1962b36e491b30a40b2405849e597ba5fb5',
  '0xb4c11951957c6f8f642c4af61cd6b24640fec6dc7fc607ee8206a99e92410d30',
  '0x21ddb9a356815c3fac1026b6dec5df3124afbadb485c9ba5a3e3398a04b7ba85',
  '0xe58769b32a1beaf1ea27375a44095a0d1fb664ce2dd358e7fcbfb78c26a19344',
]

it('hashes messages of mainnet and Sepolia to the hash in their logs', () => {
  const abi = parseAbi([
    'event MessageSent(address indexed from, address indexed to, uint256 fee, uint256 value, uint256 nonce, bytes data, bytes32 indexed messageHash)',
  ])
  const topic = '0xe856c2b8bd4eb0027ce32eeaf595c21b0b6b4644b326e5b7bd80a1cf8db72e6c'
  const padded = (address: string): Hex => `0x${'00'.repeat(12)}${address}`
  const logs: readonly { readonly topics: [Hex, ...Hex[]]; readonly data: Hex }[] = [
    // Mainnet, block 18246708: ether. RSS3-Network/Node, internal/engine/worker/decentralized/contract/linea/worker_test.go.
    {
      topics: [
        topic,
        padded('ff735406f897a32e3e815fb3c53fb8ba16214d72'),
        padded('ff735406f897a32e3e815fb3c53fb8ba16214d72'),
        '0x48a4bcb472d72cc281e53e5cb150cb004b50fa7b6380c101debecef14641312a',
      ],
      data: '0x000000000000000000000000000000000000000000000000000063ab79d1b54000000000000000000000000000000000000000000000000016715b125d509dce000000000000000000000000000000000000000000000000000000000004f1df00000000000000000000000000000000000000000000000000000000000000800000000000000000000000000000000000000000000000000000000000000000',
    },
    // Mainnet, block 20667178: tokens. The same file.
    {
      topics: [
        topic,
        padded('051f1d88f0af5763fb888ec4378b4d8b29ea3319'),
        padded('353012dc4a9a6cf55c941badc267f82004a8ceb9'),
        '0x34139f2f3e2a091b6477508b0abaa25eaa4bd386da7d223b452ff2a433b9a8da',
      ],
      data: '0x0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000ab0db000000000000000000000000000000000000000000000000000000000000008000000000000000000000000000000000000000000000000000000000000000c4e4d274510000000000000000000000002260fac5e5542a773aa44fbcfedf7c193bc2c59900000000000000000000000000000000000000000000000000000000000d4670000000000000000000000000a2d37a9ddb9bc09eee1a6e0fe66ac6c1662d0954000000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000a0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000',
    },
    // Sepolia, block 8186884. Consensys/linea-monorepo, MessageSentEventTest.kt.
    {
      topics: [
        topic,
        padded('17e764ba16c95815ca06fb5d174f08d842e340df'),
        padded('7a98052d4be677df72ede5a3f2829c893d10388d'),
        '0x6011e7f01aae0e2cd2650cbe229a330f93821d5ed8a2e8830d1e64ba3c76cc3f',
      ],
      data: '0x000000000000000000000000000000000000000000000000002386f26fc100000000000000000000000000000000000000000000000000000de0b6b3a764000000000000000000000000000000000000000000000000000000000000000140430000000000000000000000000000000000000000000000000000000000000080000000000000000000000000000000000000000000000000000000000000001d54686973206973206a75737420666f7220796f7520676f6f6420736972000000',
    },
  ]
  for (const log of logs) {
    const { messageHash, nonce: number, ...message } = decodeEventLog({ abi, ...log }).args
    expect(hashMessage({ ...message, number })).toBe(messageHash)
  }
  expect(logs.length).toBe(3)
})

it('finds the messages of mainnet claims in their trees, and encodes the same claims', () => {
  for (const { source, calldata } of claims) {
    const [{ proof, messageNumber: number, leafIndex, merkleRoot: root, feeRecipient, ...message }] =
      decodeFunctionData({
        abi: claimAbi,
        data: calldata,
      }).args
    const claim = { message: { ...message, number }, messageProof: { root, leafIndex, proof: [...proof] } }
    // It refuses a message that is not in the tree.
    expect(encodeMessageClaim({ ...claim, feeRecipient }), source).toBe(calldata)
    expect(encodeMessageClaim(claim), source).toBe(calldata)
  }
  expect(claims.length).toBe(4)
})

it('makes the trees of the prover', () => {
  // Consensys/linea-monorepo, prover/backend/aggregation/craft_test.go.
  const known: readonly (readonly [hashes: Hex[], roots: Hex[]])[] = [
    [[0, 1, 2, 3, 4].map(digit), ['0x97d2505cd0c868c753353628fbb1aacc52bba62ddebac0536256e1e8560d4f27']],
    [[0, 1, 2, 3, 4, 5, 6].map(digit), ['0x52b5853ebe75cdc639ba9ed15de287bb918b9a0aba00b7aba087de5ee5d0528d']],
    [
      [0, 1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0].map(digit),
      ['0x52b5853ebe75cdc639ba9ed15de287bb918b9a0aba00b7aba087de5ee5d0528d'],
    ],
    [
      [0, 1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0, ...Array<number>(39).fill(4)].map(digit),
      [
        '0x8b25bcdfa0bc56e9e67d3db3c513aa605c8584ac450fb14d62d46cef0fba6f7d',
        '0xcb876e4686e714c06dd52157412e91a490483e9b43e477984c615e6e5dd44b29',
      ],
    ],
    // Consensys/linea-monorepo, sdk/sdk-core/src/merkle-tree/smt.test.ts: trees of two messages, and of none but zeros.
    [[0, 1].map(digit), ['0xa31eac4d98942f1ccfe8d3110babea107f3fee363bd34caa954c686d897ee353']],
    [[ZERO], ['0x0eb01ebfc9ed27500cd4dfc979272d1f0913cc9f66540d7e8005811109e1cf2d']],
  ]
  for (const [hashes, roots] of known) expect(messageTrees(hashes).map(({ root }) => root)).toEqual(roots)
  expect(messageTrees([])).toEqual([])
})

it('makes the proofs of the SDK', () => {
  // Consensys/linea-monorepo, sdk/sdk-core/src/merkle-tree/smt.test.ts.
  const [tree] = messageTrees([0, 1, 2, 3, 4].map(digit))
  const upper = EMPTY.slice(3)
  const four = '0xa6de4f0dc4d6b6915a7e3e8c60f6bdf237f8329edd48041b974dcab7fe5bcfc6'
  const first = '0x8e4b8e18156a1c7271055ce5b7ef53bb370294ebd631a3b95418a92da46e681f'
  const ofLeaves: readonly Hex[][] = [
    [ZERO, '0xf3357627f4934d47fe409005b05c900777a6d97ec3788304e2d9c7b4d322cd4d', four, ...upper],
    [digit(3), first, four, ...upper],
    [digit(2), first, four, ...upper],
    [...EMPTY.slice(0, 2), '0xd287edfff411d3b45e9c7bf7186d7e9d44fa2a0fe36d85154165da0a1d7ce5bd', ...upper],
  ]
  const proofs: MessageProof[] = ofLeaves.map((proof, index) => ({
    root: '0x97d2505cd0c868c753353628fbb1aacc52bba62ddebac0536256e1e8560d4f27',
    leafIndex: index + 1,
    proof,
  }))
  expect(tree?.proofs.slice(1)).toEqual(proofs)
  // sdk/sdk-viem/src/actions/getMessageProof.test.ts.
  const root = '0xfc3dfe7470d41465e77e7c929170578b14a066a2272c2469b60162c5282e05a6'
  expect(messageTrees([`0x${'10'.repeat(32)}`])).toEqual([{ root, proofs: [{ root, leafIndex: 0, proof: EMPTY }] }])
})

it('makes the trees of the tests of the contracts', () => {
  // Consensys/linea-monorepo, contracts/test/hardhat/common/constants/merkleTree.ts and messaging/l1/L1MessageService.ts: the
  // first account sends itself the first message.
  const account = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
  const message: Message = { from: account, to: account, fee: 0n, value: 10n ** 18n, number: 1n, data: '0x' }
  const known = [
    [message, 5, '0x67811ae5a230bf7434995903d297d997914cfa1014a8969c3af08f36e8c93ff3'],
    [
      { ...message, fee: 5n * 10n ** 16n, value: 105n * 10n ** 16n },
      32,
      '0x54e37f6a8efe3497d1b721d8a5a19786e78d16edabdefdfa94173ef104b132cb',
    ],
  ] as const
  for (const [message, depth, root] of known) {
    const [tree] = messageTrees([hashMessage(message)], depth)
    expect(tree?.root).toBe(root)
    const messageProof = tree?.proofs[0] ?? { root, leafIndex: 0, proof: [] }
    expect(messageProof.proof.slice(0, 5)).toEqual(EMPTY)
    expect(messageProof.proof.length).toBe(depth)
    // It refuses a message that is not in the tree, and a path that is too long.
    const [{ leafIndex, proof }] = decodeFunctionData({
      abi: claimAbi,
      data: encodeMessageClaim({ message, messageProof }),
    }).args
    expect({ root, leafIndex, proof }).toEqual(messageProof)
  }
})
