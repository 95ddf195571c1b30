import { encodeFunctionData } from 'viem'
import type { Hex } from '../../src/entry/index.ts'
import type { VerifiedProviderOptions } from '../../src/entry/provider.ts'
import type { RequestProvider } from '../../src/entry/rpc.ts'
import { ALICE, BOB, MANY, MULTICALL, manyAbi, multicallAbi, PROXY, TOKEN, tokenAbi } from './contracts.ts'
import type { Endpoints } from './endpoints.ts'

/** Endpoints that answer in waves, and count. */
export interface Waves {
  /** For a provider whose requests are counted. */
  readonly options: Required<Pick<VerifiedProviderOptions, 'l1' | 'l2' | 'l1BlockHash'>>
  /** What was asked since the last time, by wave: a wave is what is asked without waiting for the one before. */
  take(): string[][]
}

const turn = (milliseconds = 0) => new Promise<void>(resolve => setTimeout(resolve, milliseconds))

/**
 * Counts waves: nothing is answered until nothing more is asked, then everything.
 *
 * @param latency what each wave takes besides, in milliseconds
 * @param order in which to answer a wave. Default: as asked
 */
export function countWaves(
  { l1, l2, l1BlockHash }: Pick<Endpoints, 'l1' | 'l2' | 'l1BlockHash'>,
  latency = 0,
  order: <T>(wave: T[]) => T[] = wave => wave,
): Waves {
  let asked: string[][] = []
  let wave: (() => Promise<unknown>)[] = []
  let answered = Promise.resolve()

  async function answerWave(): Promise<void> {
    await turn(latency)
    let length: number
    do {
      length = wave.length
      // Reads are joined at the end of a turn.
      for (let count = 0; count < 4; count++) await turn()
    } while (length < wave.length)
    const works = order(wave)
    wave = []
    for (const work of works) {
      await work()
      // So that what follows from it happens before the next answer arrives.
      if (latency === 0) await turn()
    }
  }

  function send<T>(name: string, answer: () => Promise<T>): Promise<T> {
    if (wave.length === 0) {
      asked.push([])
      answered = answered.then(answerWave)
    }
    asked.at(-1)?.push(name)
    return new Promise((resolve, reject) => {
      wave.push(() => answer().then(resolve, reject))
    })
  }
  const slow = (provider: RequestProvider): RequestProvider => ({
    request: args => send(args.method, () => provider.request(args)),
  })
  return {
    options: { l1: slow(l1), l2: slow(l2), l1BlockHash: () => send('l1BlockHash', l1BlockHash) },
    take() {
      const before = asked
      asked = []
      return before
    },
  }
}

const callOf = (to: Hex, data: Hex) => ({ method: 'eth_call', params: [{ from: ALICE, to, data }, 'latest'] })
const balanceOf = (owner: Hex) => encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [owner] })
const target = (to: Hex, owner: Hex) => ({ target: to, allowFailure: true, callData: balanceOf(owner) })

/** What pages ask for. */
export const CALLS = {
  balanceOf: callOf(TOKEN, balanceOf(ALICE)),
  /** As a quote does: through a contract without storage, to a token, and to a proxy and what is behind it. */
  quote: callOf(
    MULTICALL,
    encodeFunctionData({
      abi: multicallAbi,
      functionName: 'aggregate3',
      args: [[target(TOKEN, ALICE), target(PROXY, BOB)]],
    }),
  ),
  slots: callOf(MANY, encodeFunctionData({ abi: manyAbi, functionName: 'sum' })),
} as const

/** Finalizes a further L2 block, in a new L1 block. */
export function finalize({ chain }: Pick<Endpoints, 'chain'>): void {
  chain.addBlock()
  chain.finalize()
}
