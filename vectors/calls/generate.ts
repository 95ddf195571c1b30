import type { FailureCode } from '../../src/base/errors.ts'
import { addDemoBlocks, createService, demoWorld } from '../../src/devnet/index.ts'
import type { StateScheme, Trusted } from '../../src/entry/anchor.ts'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { type CallBundle, recordCall, type VerifiedCall } from '../../src/entry/provider.ts'
import { createHttpProvider } from '../../src/entry/rpc.ts'
import { withNetwork } from '../../test/network.ts'

/** A vector of a call as evidence. Numbers in the claim are quantities. */
export interface CallVector {
  description: string
  operation: 'verifyEvidence'
  kind: 'call'
  scheme: 'poseidon2' | 'ethereum'
  claim: {
    rollup: { address: Hex }
    trusted: { l1BlockHash: Hex } | { l2StateRoot: Hex }
    chainId: Hex
    l2BlockNumber: Hex | 'fromBundle'
    hardfork: string
    call: Record<'from' | 'to' | 'data' | 'value' | 'gas', Hex | 'fromBundle'> | 'fromBundle'
  }
  bundle: unknown
  expected:
    | {
        valid: true
        outcome: string
        returnData?: Hex
        revertData?: Hex
        gasUsed: Hex
        /** Omitted if it is not proven. */
        finalizedTimestamp?: Hex
      }
    | { valid: false; code: FailureCode }
}

const address: Hex = '0x00000000000000000000000000000000000011ff'
const [FROM, TOKEN, PROXY, MULTICALL] = ['a1', '70', '71', 'ca'].map((byte): Hex => `0x${byte.repeat(20)}`) as [
  ...[Hex, Hex, Hex, Hex],
]
const BOB = `${'0'.repeat(24)}${'b2'.repeat(20)}`
const quantity = (value: bigint): Hex => `0x${value.toString(16)}`
const flip = (hex: string): string => `${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}`

/** What a claim leaves to the bundle. */
const LEFT = {
  from: 'fromBundle',
  to: 'fromBundle',
  data: 'fromBundle',
  value: 'fromBundle',
  gas: '0x2faf080',
} as const
const claimOn = (l1BlockHash: Hex): CallVector['claim'] => ({
  ...{ rollup: { address }, trusted: { l1BlockHash }, chainId: quantity(1337n) },
  l2BlockNumber: 'fromBundle',
  ...{ hardfork: 'prague', call: LEFT },
})

const CALLS = [
  ['balance-behind-proxy', 'The balance of a token behind a proxy.', PROXY, `0x70a08231${BOB}`],
  [
    'revert',
    'A transfer of more than there is: the call reverts, and that is proven.',
    TOKEN,
    `0xa9059cbb${BOB}${'f'.repeat(64)}`,
  ],
  ['timestamp', 'The timestamp of the block, which L1 proves.', MULTICALL, '0x0f28c97d'],
] as const

/** The vectors of calls: path below this folder -> content. They have a separate folder because they need the EVM. */
export async function generateCalls(): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  const add = (kind: 'valid' | 'invalid', name: string, vector: CallVector) =>
    files.set(`${kind}/${name}.json`, `${JSON.stringify(vector, null, 1)}\n`)
  const service = createService({ genesis: demoWorld(poseidon2), rollup: { address } })
  addDemoBlocks(service.chain)
  const { url, l1Url } = await service.listen()
  const [l1, l2] = [createHttpProvider(l1Url), createHttpProvider(url)]
  const record = (to: Hex, data: Hex) =>
    recordCall(
      withNetwork({ l1, l2, scheme: poseidon2, rollup: { address }, chainId: 1337n, call: { from: FROM, to, data } }),
    )
  const base = { operation: 'verifyEvidence', kind: 'call', scheme: 'poseidon2' } as const
  try {
    const { bundle: ofTime } = await record(MULTICALL, '0x0f28c97d')
    const unread = ofTime.answers.find(({ address }) => address === MULTICALL)
    for (const [name, description, to, data] of CALLS) {
      const { bundle, verified } = await record(to, data)
      const { l2BlockNumber } = bundle
      const claim = claimOn(verified.l1Block.hash)
      // One claim states everything, one as little as it can.
      const call = name === 'balance-behind-proxy' ? bundle.call : name === 'revert' ? 'fromBundle' : LEFT
      const hardfork = call === 'fromBundle' ? call : 'prague'
      const stated = {
        ...claim,
        hardfork,
        call,
        l2BlockNumber: call === bundle.call ? l2BlockNumber : 'fromBundle',
      } as const
      add('valid', name, { description, ...base, claim: stated, bundle, expected: expectedOf(verified) })
      const l2StateRoot = verified.stateRoot
      const fromRoot = { ...claim, trusted: { l2StateRoot }, l2BlockNumber } as const
      const forgeries =
        name === 'timestamp' ? timeForgeries(bundle, fromRoot) : name === 'revert' ? [] : forgeriesOf(bundle, unread)
      for (const { name, description, code, bundle: forged = bundle, claim: change = {} } of forgeries) {
        const expected = { valid: false, code } as const
        add('invalid', name, { description, ...base, claim: { ...claim, ...change }, bundle: forged, expected })
      }
    }
    // A bundle of another block, to exchange parts with.
    const { bundle: older } = await record(PROXY, `0x70a08231${BOB}`)
    addDemoBlocks(service.chain, { counts: [2] })
    const { bundle, verified } = await record(PROXY, `0x70a08231${BOB}`)
    const claim = claimOn(verified.l1Block.hash)
    const exchange = (name: string, description: string, code: FailureCode, forged: object) =>
      add('invalid', name, { description, ...base, claim, bundle: forged, expected: { valid: false, code } })
    const { l1: olderL1, answers: olderAnswers } = older
    exchange('l1-of-another-block', 'The way from an older L1 block.', 'HEADER_HASH_MISMATCH', {
      ...bundle,
      l1: olderL1,
    })
    const answers = bundle.answers.map((answer, index) => (index === 1 ? olderAnswers[1] : answer))
    exchange('answer-of-another-block', 'One answer of an older state.', 'STATE_ROOT_MISMATCH', { ...bundle, answers })
    await addEthereum(add)
    return files
  } finally {
    await service.close({ graceMs: 0 })
  }
}

function expectedOf(verified: VerifiedCall<Trusted, StateScheme>): CallVector['expected'] {
  const { outcome, gasUsed, finalizedTimestamp } = verified
  return {
    ...{ valid: true, outcome },
    ...(verified.outcome === 'returned' && { returnData: verified.returnData }),
    ...(verified.outcome === 'reverted' && { revertData: verified.revertData }),
    gasUsed: quantity(gasUsed),
    ...(finalizedTimestamp !== undefined && { finalizedTimestamp: quantity(finalizedTimestamp) }),
  }
}

const VALUES: Hex = `0x${'74'.repeat(20)}`
/** Returns the sum of the base fee, which is 0 for a call that pays nothing, the timestamp, the gas limit, and the hashes of the blocks 7 (the parent) and 6. */
const VALUES_CODE: Hex = '0x484201450160074001600640015f5260205ff3'

/** Calls of a block whose hash L1 holds. */
async function addEthereum(add: (kind: 'valid' | 'invalid', name: string, vector: CallVector) => void): Promise<void> {
  const genesis = demoWorld(poseidon2)
  genesis.setAccount(VALUES, { nonce: 1n, code: VALUES_CODE })
  const { chain, listen, close } = createService({ genesis, rollup: { address }, contractVersion: 9 })
  addDemoBlocks(chain)
  const { url, l1Url } = await listen()
  const [l1, l2] = [createHttpProvider(l1Url), createHttpProvider(url)]
  const record = (to: Hex, data: Hex) =>
    recordCall(
      withNetwork({ l1, l2, scheme: 'ethereum', rollup: { address }, chainId: 1337n, call: { from: FROM, to, data } }),
    )
  const base = { operation: 'verifyEvidence', kind: 'call', scheme: 'ethereum' } as const
  try {
    const { bundle: balance, verified: proven } = await record(PROXY, `0x70a08231${BOB}`)
    const { bundle, verified } = await record(VALUES, '0x')
    const claim = claimOn(verified.l1Block.hash)
    const valid = (name: string, description: string, one: object, expected: CallVector['expected']) =>
      add('valid', name, { description, ...base, claim, bundle: one, expected })
    valid('ethereum-balance', 'The balance of a token, in an Ethereum state.', balance, expectedOf(proven))
    valid('ethereum-values', 'Values of the block, which its header proves.', bundle, expectedOf(verified))
    for (const { name, description, code, bundle: forged = bundle, claim: change = {} } of headerForgeries(
      bundle,
      verified.stateRoot,
    )) {
      add('invalid', name, {
        description,
        ...base,
        claim: { ...claim, ...change },
        bundle: forged,
        expected: { valid: false, code },
      })
    }
    add('invalid', 'ethereum-claimed', {
      ...{ description: 'For a hash scheme, of which the claim is.', ...base, scheme: 'poseidon2', claim, bundle },
      expected: { valid: false, code: 'EVIDENCE_SCHEME_MISMATCH' },
    })
  } finally {
    await close({ graceMs: 0 })
  }
}

function headerForgeries(bundle: CallBundle<StateScheme>, l2StateRoot: Hex): Forgery[] {
  const { l2Header = '0x', l2BlockNumber, answers, ...rest } = bundle
  const whole = { ...rest, l2BlockNumber, answers }
  const row = (name: string, code: FailureCode, description: string, change: object): Forgery => ({
    ...{ name: `ethereum-${name}`, code, description, bundle: { ...whole, l2Header, ...change } },
  })
  const slots = answers.map(({ answer, ...asked }) => {
    const { storageProof, ...account } = Object(answer)
    return {
      ...asked,
      answer: { ...account, storageProof: storageProof.map((one: object) => ({ ...one, value: '0x1' })) },
    }
  })
  return [
    row('header-left-out', 'EVIDENCE_L2_MISSING', 'Without the header of the block.', { l2Header: undefined }),
    row('header-altered', 'HEADER_HASH_MISMATCH', 'The last bit of the header is another one.', {
      l2Header: flip(l2Header),
    }),
    row('slot-altered', 'L1_PROOF_DISAGREES', 'A slot is said to have another value than its nodes.', {
      answers: slots,
    }),
    row(
      'gas-limit-beside-proven',
      'CALL_STATE_UNUSED',
      'A gas limit is stated, where the header proves the one that is read.',
      {
        environment: { gasLimit: '0x7' },
      },
    ),
    {
      ...row('values-missing', 'CALL_STATE_MISSING', 'A trusted state root proves no values of the block.', {}),
      claim: { trusted: { l2StateRoot }, l2BlockNumber },
    },
  ]
}

interface Forgery {
  name: string
  description: string
  code: FailureCode
  bundle?: unknown
  claim?: Partial<CallVector['claim']>
}

/** An answer with other slots than it has. */
function withSlots(answer: CallBundle['answers'][number], change: (list: readonly unknown[]) => unknown[]): object {
  const { storageKeys, answer: sent } = answer
  const { storageProofs, ...account } = Object(sent)
  return { ...answer, storageKeys: change(storageKeys), answer: { ...account, storageProofs: change(storageProofs) } }
}

/** @param other a true answer of the same block, for an account that the call does not read */
function forgeriesOf(bundle: CallBundle<StateScheme>, other: unknown): Forgery[] {
  const { answers, codes, call } = bundle
  const without = <T>(list: readonly T[], at: number) => list.filter((_, index) => index !== at)
  const withAnswer = (at: number, change: (answer: CallBundle['answers'][number]) => object) => ({
    ...bundle,
    answers: answers.map((answer, index) => (index === at ? change(answer) : answer)),
  })
  const contract = answers.findIndex(({ address }) => address === PROXY)
  const row = (name: string, code: FailureCode, description: string, bundle: unknown): Forgery => ({
    ...{ name, code, description, bundle },
  })
  const { l1: _, ...noL1 } = bundle
  const { kind: __, ...noKind } = bundle
  const { codes: ___, ...noCodes } = bundle
  const extra = answers.find(({ address }) => address === FROM)
  return [
    row('answer-left-out', 'CALL_STATE_MISSING', 'Without the answer for the contract.', {
      ...bundle,
      answers: without(answers, contract),
    }),
    row('answers-none', 'CALL_STATE_MISSING', 'Without any answer.', { ...bundle, answers: [] }),
    row('code-left-out', 'CALL_STATE_MISSING', 'Without one of the codes.', { ...bundle, codes: without(codes, 0) }),
    row(
      'code-altered',
      'CALL_STATE_MISSING',
      'One code with its last bit changed is another code: the one that is read is missing.',
      {
        ...{ ...bundle, codes: codes.map((code, index) => (index === 0 ? flip(code) : code)) },
      },
    ),
    row('answer-twice', 'CALL_STATE_UNUSED', 'An answer that is there twice.', {
      ...bundle,
      answers: [...answers, answers[contract]],
    }),
    row('code-twice', 'CALL_STATE_UNUSED', 'A code that is there twice.', { ...bundle, codes: [...codes, codes[0]] }),
    row('code-unused', 'CALL_STATE_UNUSED', 'A code that nothing reads.', { ...bundle, codes: [...codes, '0x00'] }),
    row('environment-unused', 'CALL_STATE_UNUSED', 'A base fee, which no call in a bundle reads.', {
      ...bundle,
      environment: { baseFee: '0x7' },
    }),
    row('timestamp-beside-proven', 'CALL_STATE_UNUSED', 'A timestamp is stated, where L1 proves one.', {
      ...bundle,
      environment: { timestamp: '0x7' },
    }),
    row(
      'slot-not-answered',
      'STORAGE_PROOF_MISSING',
      'A slot that the answer has no proof of.',
      withAnswer(contract, answer => ({ ...answer, storageKeys: [...answer.storageKeys, `0x${'00'.repeat(32)}`] })),
    ),
    row(
      'slot-left-out',
      'STORAGE_PROOF_UNEXPECTED',
      'A slot is left out, and its proof is not.',
      withAnswer(contract, answer => ({ ...answer, storageKeys: answer.storageKeys.slice(1) })),
    ),
    row(
      'answer-of-another-account',
      'KEY_MISMATCH',
      'The answer of another account.',
      withAnswer(contract, answer => ({ ...answer, answer: extra?.answer })),
    ),
    row(
      'slot-unproven',
      'CALL_STATE_MISSING',
      'Without a slot that the call reads, and its proof.',
      withAnswer(contract, answer => withSlots(answer, list => list.slice(1))),
    ),
    row(
      'slot-twice',
      'CALL_STATE_UNUSED',
      'A slot that is there twice.',
      withAnswer(contract, answer => withSlots(answer, list => [...list, list[0]])),
    ),
    row('answer-unused', 'CALL_STATE_UNUSED', 'The true answer for an account that the call does not read.', {
      ...bundle,
      answers: [...answers, other],
    }),
    row('l1-left-out', 'EVIDENCE_L1_MISSING', 'Without the way from L1.', noL1),
    row('kind-left-out', 'EVIDENCE_MALFORMED', 'Without what says that it is a call.', noKind),
    row('codes-left-out', 'EVIDENCE_MALFORMED', 'Without the list of codes.', noCodes),
    row('version-3', 'EVIDENCE_VERSION', 'Of a later version.', { ...bundle, version: 3 }),
    row('hardfork-unknown', 'EVIDENCE_MALFORMED', 'Of a hard fork that there is not.', {
      ...bundle,
      hardfork: 'frontier',
    }),
    row('gas-padded', 'EVIDENCE_MALFORMED', 'A number with a leading zero.', {
      ...bundle,
      call: { ...call, gas: '0x01' },
    }),
    row('gas-beyond-limit', 'EVIDENCE_MALFORMED', 'More gas than a verifier executes.', {
      ...bundle,
      call: { ...call, gas: '0xffffffffff' },
    }),
    {
      ...row(
        'gas-beyond-limit-from-bundle',
        'EVIDENCE_MALFORMED',
        'The same, where the caller leaves the call to the bundle.',
        {
          ...bundle,
          call: { ...call, gas: '0xffffffffff' },
        },
      ),
      claim: { call: 'fromBundle' },
    },
    {
      ...row('gas-too-low', 'EVIDENCE_MALFORMED', 'Less gas than a transaction costs.', {
        ...{ ...bundle, call: { ...call, gas: '0x1' } },
      }),
      claim: { call: { ...LEFT, gas: '0x1' } },
    },
    row('gas-of-another', 'CALL_MISMATCH', 'With less gas than is expected: a part of the call may fail.', {
      ...bundle,
      call: { ...call, gas: quantity(BigInt(call.gas) - 1n) },
    }),
    row('hardfork-earlier', 'CALL_MISMATCH', 'By an earlier hard fork, which nobody has stated.', {
      ...bundle,
      hardfork: 'london',
    }),
    { name: 'chain-of-another', code: 'CALL_MISMATCH', description: 'For another chain.', claim: { chainId: '0x1' } },
    {
      name: 'hardfork-of-another',
      code: 'CALL_MISMATCH',
      description: 'For another hard fork.',
      claim: { hardfork: 'osaka' },
    },
    {
      name: 'contract-of-another',
      code: 'CALL_MISMATCH',
      description: 'For a call of another contract.',
      claim: { call: { ...LEFT, to: TOKEN } },
    },
    {
      name: 'data-of-another',
      code: 'CALL_MISMATCH',
      description: 'For a call with other data.',
      claim: { call: { ...LEFT, data: '0x' } },
    },
    {
      name: 'caller-of-another',
      code: 'CALL_MISMATCH',
      description: 'For a call by somebody else.',
      claim: { call: { ...LEFT, from: TOKEN } },
    },
    {
      name: 'value-of-another',
      code: 'CALL_MISMATCH',
      description: 'For a call with another value.',
      claim: { call: { ...LEFT, value: '0x1' } },
    },
  ]
}

/** A state root alone does not prove a timestamp. */
const timeForgeries = (bundle: CallBundle<StateScheme>, claim: CallVector['claim']): Forgery[] => [
  {
    name: 'timestamp-missing',
    code: 'CALL_STATE_MISSING',
    description: 'The timestamp is neither proven nor stated.',
    claim,
  },
  {
    ...{
      name: 'base-fee-for-timestamp',
      code: 'CALL_STATE_MISSING',
      description: 'Another value is stated than the one that is read.',
    },
    ...{ bundle: { ...bundle, environment: { baseFee: '0x7' } }, claim },
  },
]
