import { expect, it } from 'vitest'
import { stepBack } from '../../src/client/l1/finalizations.ts'
import type { Anchor } from '../../src/client/l1/l1.ts'
import { EndpointError, type EndpointErrorCode } from '../../src/entry/rpc.ts'

const fail = (code: EndpointErrorCode) => new EndpointError(code, { layer: 'L2', index: 1 })

/** Finalizations at these L2 blocks; then the failure of L1, if there is one. */
async function* anchorsAt(numbers: readonly bigint[], last?: EndpointError): AsyncGenerator<Anchor> {
  // Nothing else of them is read.
  for (const l2BlockNumber of numbers) yield { l2BlockNumber } as Anchor
  if (last !== undefined) throw last
}

/** What comes of finalizations that end like this: with a value, or a failure. */
async function goBack(outcomes: readonly (string | EndpointErrorCode)[], last?: EndpointError, numbers?: bigint[]) {
  const tried: string[] = []
  const use = async ({ l2BlockNumber }: Anchor) => {
    const outcome = outcomes[tried.length] ?? expect.fail()
    tried.push(`${l2BlockNumber}`)
    return outcome === 'held' ? { l2BlockNumber } : fail(outcome as EndpointErrorCode)
  }
  const all = numbers ?? outcomes.map((_, index) => 9n - BigInt(index))
  const outcome = await stepBack(anchorsAt(all, last), use).catch((error: EndpointError) => error)
  return { outcome, tried }
}

it('goes back to the first finalization that is held, and tries none twice', async () => {
  expect(await goBack(['BLOCK_MISSING', 'ENDPOINT_ERROR', 'held'])).toEqual({
    ...{ outcome: { l2BlockNumber: 7n }, tried: ['9', '8', '7'] },
  })
  expect((await goBack(['BLOCK_MISSING', 'held'], undefined, [9n, 9n, 8n])).tried).toEqual(['9', '8'])
})

it('says that proofs are missing if all are, and otherwise the first reason', async () => {
  const { outcome } = await goBack(['BLOCK_MISSING', 'BLOCK_MISSING'])
  expect(outcome).toMatchObject({ code: 'PROOF_UNAVAILABLE', found: 'tried 9, 8', layer: 'L2', index: 1 })
  expect((await goBack(['BLOCK_MISSING', 'ENDPOINT_ERROR', 'BLOCK_MISSING'])).outcome).toMatchObject({
    code: 'ENDPOINT_ERROR',
  })
  const none = await stepBack(anchorsAt([9n]), async () => fail('BLOCK_MISSING'), { kept: true })
  expect(none).toEqual({ kept: true })
})

it('leaves an endpoint that cannot be reached for two of them', async () => {
  const { outcome, tried } = await goBack(['UNREACHABLE', 'BLOCK_MISSING', 'TIMEOUT', 'held'])
  expect([outcome, tried]).toEqual([expect.objectContaining({ code: 'UNREACHABLE' }), ['9', '8', '7']])
})

it('prefers why the first one failed to what fails on the way to an earlier one', async () => {
  const last = new EndpointError('L1_HISTORY_MISSING', { layer: 'L1' })
  expect((await goBack(['ENDPOINT_ERROR'], last)).outcome).toMatchObject({ code: 'ENDPOINT_ERROR' })
  expect((await goBack(['BLOCK_MISSING'], last)).outcome).toBe(last)
  const broken = stepBack(anchorsAt([9n], last), () => Promise.reject(new RangeError('other')))
  await expect(broken).rejects.toThrow('other')
})
