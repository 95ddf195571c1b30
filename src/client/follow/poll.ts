import { readHex } from '../../base/options.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import type { Lister } from '../l1/finalizations.ts'
import { fetchAnchor, fetchL1Block, fetchNewest, unless } from '../l1/l1.ts'
import { diagnoseWith } from '../transport/diagnose.ts'
import { EndpointError } from '../transport/error.ts'
import { redactUrls } from '../transport/redact.ts'
import type { Course, L1Mark, Settings } from './options.ts'

/** An L1 block from which everything is proven. */
export interface View {
  readonly block: unknown
  readonly l1Block: L1Block
  /** The last finalized L2 block, proven. */
  readonly newest: bigint
}

/** The L1 block that is trusted now, and what L1 lists up to it; null if it shows nothing new. */
export async function poll(settings: Settings, lister: Lister, course: Course, before: View | null) {
  const { last, trusted } = course
  const { l1BlockHash, onEvent } = settings
  const ask = async (): Promise<unknown> => l1BlockHash()
  const answer = await ask().catch(error => Promise.reject(diagnoseWith(redactUrls, error)))
  const hash = readHex('l1BlockHash', answer, 32)
  if (hash === before?.l1Block.hash) return null
  const { block, l1Block } = await fetchL1Block(settings, hash)
  const number = Number(l1Block.number)
  if (!isAhead(course, l1Block)) {
    const attributes = { 'l1.block.number': number, 'l1.block.newest': Number(trusted?.number) }
    onEvent?.({ name: 'follow.l1.behind', attributes })
    return null
  }
  const holds = last?.blockHash ? 'blockHash' : 'stateRoot'
  const asking = last && fetchAnchor({ ...settings, holds }, l1Block, last.l2BlockNumber)
  const anchor = asking && (await unless('ANCHOR_BLOCK_AHEAD', unless('ANCHOR_NO_ROOT', asking)))
  const newest = anchor?.currentL2BlockNumber ?? (await fetchNewest(settings, l1Block))
  const known = course.pending.at(-1)?.l2BlockNumber ?? last?.l2BlockNumber
  if (known !== undefined && newest < known) throw undone(trusted, known, l1Block, `only ${newest} is`)
  // Without an anchor, that of the two which is stated differs.
  if (last && (last.stateRoot !== anchor?.stateRoot || last.blockHash !== anchor?.blockHash)) {
    const what = last.blockHash === undefined ? 'root' : 'hash'
    const now = anchor ? `its ${what} is ${anchor.blockHash ?? anchor.stateRoot}` : `the contract has no ${what} of it`
    // The L1 block is of another chain.
    throw undone(trusted, last.l2BlockNumber, l1Block, now)
  }
  const after = known ?? (settings.from ?? newest) - 1n
  // If `from` is ahead of the chain, nothing is listed yet, and nothing is missed.
  const hints = newest > after ? await lister.list({ after, newest, l1After: course.listedTo, l1Block }) : []
  const implementation = anchor?.implementation
  if (last && implementation && implementation !== last.implementation) {
    const code = { 'implementation.old': last.implementation, 'implementation.new': implementation }
    onEvent?.({ name: 'follow.implementation.changed', attributes: { 'l1.block.number': number, ...code } })
  }
  const next: Course = {
    ...course,
    last: last && implementation ? { ...last, implementation } : last,
    trusted: l1Block,
    listedTo: l1Block.number,
    pending: [...course.pending, ...hints],
  }
  return { view: { block, l1Block, newest }, course: next }
}

/** Whether the L1 block can show anything new. A source that lags behind the last trusted block has nothing new. */
function isAhead({ trusted }: Course, { number, hash }: L1Block): boolean {
  if (trusted?.number !== number || trusted.hash === hash) return trusted === null || number >= trusted.number
  throw disagreement(`L1 block ${number} had the hash ${trusted.hash}, and has the hash ${hash} now`)
}

function undone(trusted: L1Mark | null, l2BlockNumber: bigint, l1Block: L1Block, now: string): EndpointError {
  const nameOf = ({ number, hash }: L1Mark) => `L1 block ${number} (${hash})`
  const before = trusted === null ? 'the start' : nameOf(trusted)
  return disagreement(`L2 block ${l2BlockNumber} was final at ${before}, and at ${nameOf(l1Block)} ${now}`)
}

const disagreement = (found: string) => new EndpointError('L1_DISAGREEMENT', { found, layer: 'L1' })
