import { followMessagesWith } from '../../client/follow/follow-messages.ts'
import type { Hex } from '../../entry/index.ts'
import type { ClaimableMessage, FollowedMessages } from '../../entry/rpc.ts'
import type { Command, Io } from '../command.ts'
import { UsageError } from '../errors.ts'
import { openMessagesFolder } from '../files/follow-folder.ts'
import { followOptions, formatHelp, optionsOf, text } from '../options/declared.ts'
import { endProgress, showProgress, withEndpoints } from '../options/endpoint.ts'
import { messageServiceOf, networkOf } from '../options/network.ts'
import { integerOf, parseOptions, requireHex, wholeNumber } from '../options/parse.ts'
import { createMetrics } from '../output/metrics.ts'
import { printable, toJson } from '../output/report.ts'
import { describeVerdict, paintVerdict } from '../output/verdict.ts'
import type { Verdict } from '../words/verdict.ts'
import { capitalized } from '../words/wording.ts'
import { openSources, sayEnd, unlessStopped, watch } from './follow-watch.ts'

const options = {
  sender: text('ADDRESS', 'only those that this account sent'),
  recipient: text('ADDRESS', 'only those to this account'),
  'from-block': text('N', 'begin after the finalization of this L2 block'),
  ...optionsOf('once', 'poll'),
}
const all = { ...followOptions, ...options }

export const command: Command = {
  help: formatHelp({
    ...{ usage: 'follow messages -o DIR [options]', options, all },
    about: `
Follows the messages of the bridge that can be claimed on L1. DIR gets a bundle
per message, with which \`verify\` prints the data of the claim, and an index of
them. Ctrl-C ends it. Run the same command again to continue.`,
    notes: 'Exit codes: as `follow state`.',
    examples: `
export L1_URL='https://... https://...' L2_URL=https://...
rollup-state-proof follow messages --sender 0x... -o claims`,
  }),
  run: followMessagesTo,
}

/** @returns the exit code @throws UsageError */
async function followMessagesTo(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseOptions(args, all)
  const { sender, recipient, output: path, once } = values
  const network = networkOf(values)
  const { rollup } = network
  for (const name of ['sender', 'recipient'] as const) requireHex(`--${name}`, 20, values[name])
  if (!path) throw new UsageError('--output is needed: the folder to write to')
  const about = {
    rollup: rollup.address,
    'message service': messageServiceOf(network),
    sender: `${sender}`,
    recipient: `${recipient}`,
  }
  const named = Object.entries(about).map(([name, value]) => [name, value.toLowerCase()])
  const how = {
    network,
    // The hexadecimal is checked.
    ...(sender !== undefined && { from: sender as Hex }),
    ...(recipient !== undefined && { to: recipient as Hex }),
    fromL2BlockNumber: integerOf(values, 'from-block', 64),
    pollIntervalMs: 1000 * wholeNumber('--poll', values.poll, 1, 86_400),
  }
  return withEndpoints({ ...values, output: undefined }, io, async endpoints => {
    const { signal } = endpoints
    const { verdict, ...sources } = await openSources(values, endpoints, io)
    const askedFor = { command: 'follow messages', ...Object.fromEntries(named) }
    const folder = await openMessagesFolder(path, rollup, askedFor)
    if (folder.progress !== undefined) showProgress(io, `continuing in ${printable(path)}`)
    const watcher = watch(createMetrics(verdict), once, io)
    const following = {
      ...{ ...sources, ...how, onEvent: watcher.onEvent, resumeFrom: folder.progress },
      signal: AbortSignal.any([signal, watcher.ended]),
    }
    let count = 0
    try {
      for await (const item of followMessagesWith(following, { wait: watcher.wait, random: Math.random })) {
        for (const message of item.messages) {
          const file = await folder.write(message, item)
          endProgress(io)
          io.stdout.write(
            values.json
              ? toJson({ ...describeVerdict(verdict), ...describe(message, item, file) })
              : `${format(message, verdict, file, io)}\n`,
          )
          count++
        }
        // After all messages of the finalization: a run that is killed before writes none of them twice.
        folder.save(item.progress)
      }
    } catch (error) {
      unlessStopped(error, folder)
    } finally {
      folder.close()
    }
    return sayEnd(signal, once, count === 0 ? 'no new message that can be claimed' : '', io)
  })
}

function describe(one: ClaimableMessage, { l2BlockNumber, l1Block }: FollowedMessages, file: string): object {
  const { message, messageHash, messageProof, claim: claimData } = one
  return { file, messageHash, message, messageProof, claimData, l2BlockNumber, l1Block }
}

const format = ({ message, messageHash }: ClaimableMessage, verdict: Verdict, file: string, { stdout }: Io): string =>
  `${paintVerdict(stdout, verdict, `${capitalized(verdict.word)}: message ${message.number}`)}  ${messageHash}  from ${message.from} to ${message.to}, ${message.value} wei  ${printable(file)}`
