import { expect } from 'vitest'
import { followWith } from '../../src/client/follow/follow.ts'
import { demoWorld } from '../../src/devnet/index.ts'
import { createChain, type FullChain, type ServiceChainOptions } from '../../src/devnet/service/chain.ts'
import type { Methods } from '../../src/devnet/service/json-rpc.ts'
import { l1Methods } from '../../src/devnet/service/methods/l1.ts'
import { l2Methods } from '../../src/devnet/service/methods/l2.ts'
import { type EvidenceBundle, type StateScheme, verifyEvidence } from '../../src/entry/anchor.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import {
  type FollowEvent,
  type FollowedFinalization,
  type FollowOptions,
  finalizedBlockHash,
  type RequestProvider,
} from '../../src/entry/rpc.ts'
import { type InParts, withNetwork } from '../network.ts'
import { CONTRACT, ROLLUP, word } from './servers.ts'

/** Chains, in-process endpoints that may fail or lie, and followers without delays. */

const KEYS = Array.from({ length: 4 }, (_, index) => word(index))
export const REQUESTS = [{ address: CONTRACT, storageKeys: KEYS }]

export type Tamper = (answer: unknown, method: string, params: readonly unknown[]) => unknown

/** An in-process endpoint that may fail or lie, and the methods it was asked for. */
export function providerOf(methods: Methods, tamper: Tamper = answer => answer) {
  const asked: string[] = []
  const provider: RequestProvider = {
    async request({ method, params = [] }) {
      if (!Array.isArray(params)) throw new Error('no array')
      asked.push(method)
      const answer = methods.get(method)?.(params)
      return tamper(JSON.parse(JSON.stringify(answer)), method, params)
    },
  }
  return { provider, asked }
}

export const fail = (code: number, message: string) => {
  throw Object.assign(new Error(message), { code })
}

/** Changes the answers to one method. */
export const to =
  (lied: string, lie: (answer: never, params: readonly unknown[]) => unknown): Tamper =>
  (answer, method, params) =>
    method === lied ? lie(answer as never, params) : answer

/** A chain with finalizations at L2 blocks 0, 1, 2 and so on, each in a separate L1 block. */
export function chainOf(finalizations: number, options: ServiceChainOptions = {}): FullChain {
  const chain = createChain(demoWorld(poseidon2), ROLLUP, options)
  for (let added = 0; added < finalizations; added++) finalize(chain)
  return chain
}

export function finalize(chain: FullChain): void {
  const number = chain.latest() + 1n
  chain.pending.setStorage(CONTRACT, { key: word(Number(number % 4n)), value: word(Number(number)) })
  chain.addBlock()
  chain.finalize()
}

export interface Setup {
  readonly chain: FullChain
  readonly l1?: readonly (Tamper | undefined)[]
  readonly l2?: readonly (Tamper | undefined)[]
  readonly options?: Partial<InParts<FollowOptions>>
  /** Runs instead of each wait. Returning false aborts. */
  readonly onWait?: (milliseconds: number, count: number) => boolean | undefined
}

/** Follows without delays: `onWait` replaces every wait. */
export function startFollowing({
  chain,
  l1 = [undefined],
  l2 = [undefined],
  options = {},
  onWait = () => false,
}: Setup) {
  const [l1s, l2s] = [
    l1.map(tamper => providerOf(l1Methods(chain, 1n), tamper)),
    l2.map(tamper => providerOf(l2Methods(chain, 2n), tamper)),
  ]
  const source = providerOf(l1Methods(chain, 1n))
  const events: FollowEvent[] = []
  const waits: number[] = []
  const controller = new AbortController()
  const items = followWith(
    withNetwork({
      l1: l1s.map(({ provider }) => provider),
      l2: l2s.map(({ provider }) => provider),
      rollup: ROLLUP,
      scheme: poseidon2,
      l1BlockHash: finalizedBlockHash(source.provider),
      requests: REQUESTS,
      onEvent: (event: FollowEvent) => events.push(event),
      signal: controller.signal,
      ...options,
    }),
    {
      random: () => 0.5,
      async wait(milliseconds, signal) {
        waits.push(milliseconds)
        if (onWait(milliseconds, waits.length) === false) controller.abort()
        signal.throwIfAborted()
      },
    },
  )
  const count = () => [source, ...l1s, ...l2s].reduce((sum, { asked }) => sum + asked.length, 0)
  return { items, events, waits, l1s, l2s, source, controller, count }
}

/** Collects all items, and the error that ended the run. */
export async function collect(setup: Setup) {
  const started = startFollowing(setup)
  const found: FollowedFinalization[] = []
  let error: unknown
  try {
    for await (const item of started.items) {
      expectTrue(item, setup.chain)
      found.push(item)
    }
  } catch (thrown) {
    error = thrown
  }
  const code = Reflect.get(Object(error), 'code')
  return { ...started, found, numbers: found.map(({ l2BlockNumber }) => Number(l2BlockNumber)), error, code }
}

/** Expects an item that matches the chain, with bundles that prove it. */
export function expectTrue(item: FollowedFinalization, chain: FullChain): void {
  const { l2BlockNumber, l1Block, finalizedTimestamp, verified: states, bundles: evidence, progress: state } = item
  const world = chain.at(l2BlockNumber)
  if (world) {
    expect([item.stateRoot, item.blockHash]).toEqual(heldAt(chain, l2BlockNumber))
    expect(states[0]?.storage.map(({ value }) => value) ?? []).toEqual(
      states.length === 0 ? [] : KEYS.map(key => world.getStorage(CONTRACT, key)),
    )
  }
  const isEthereum = item.blockHash !== undefined
  expect(isEthereum && finalizedTimestamp === undefined).toBe(false)
  expect(item.l2Block?.hash).toBe(item.blockHash)
  if (finalizedTimestamp !== undefined && world) expect(finalizedTimestamp).toBe(chain.timestamp(l2BlockNumber))
  for (const [index, bundle] of (evidence as EvidenceBundle<StateScheme>[]).entries()) {
    const scheme: StateScheme = isEthereum ? 'ethereum' : poseidon2
    const trusted = { l1BlockHash: l1Block.hash }
    const claim = { scheme, rollup: ROLLUP, trusted, l2BlockNumber, address: CONTRACT, storageKeys: KEYS }
    expect(bundle.version).toBe(1)
    expect(verifyEvidence(JSON.parse(JSON.stringify(bundle)), claim)).toEqual(states[index])
  }
  expect(BigInt(state.l2BlockNumber)).toBe(l2BlockNumber)
  expect(JSON.stringify(state).length).toBeLessThan(370)
}

/** The root of the state at a block; and its hash, if that is what L1 holds. */
export function heldAt(chain: FullChain, l2BlockNumber: bigint): unknown[] {
  const isEthereum = l2BlockNumber >= (chain.upgradedAt() ?? l2BlockNumber + 1n)
  const { hash, stateRoot } = Object(chain.getBlock(l2BlockNumber))
  return isEthereum ? [stateRoot, hash] : [chain.at(l2BlockNumber)?.stateRoot(), undefined]
}
