import type { Hex } from '../../index.ts'
import { isArgumentError } from '../../index.ts'
import { messageServiceOf } from '../../messages/layout.ts'
import { followMessagesWith } from '../../rpc/follow-messages.ts'
import { type ClaimableMessage, type FollowedMessages, isEndpointError } from '../../rpc.ts'
import { exitCodes, type Io } from '../command.ts'
import { argumentRefused, UsageError } from '../errors.ts'
import { openMessagesFolder } from '../files/follow-folder.ts'
import { methodOf } from '../options/chain-flags.ts'
import { flag, optionsOf, text, textOr } from '../options/declared.ts'
import { endProgress, showProgress, withEndpoints } from '../options/endpoint.ts'
import { requireKind, rollupOf } from '../options/flags.ts'
import { l1SourceOptions, openL1Source } from '../options/l1-source.ts'
import { integerOf, parseOptions, requireHex, wholeNumber } from '../options/parse.ts'
import { createMetrics } from '../output/metrics.ts'
import { paint, printable, toJson } from '../output/report.ts'
import { watch } from './follow-watch.ts'

/** The options for messages. */
export const messageFollowOptions = {
  messages: flag('follow the messages from L2 that can be claimed on L1, in place of an account'),
  sender: text('ADDRESS', 'only those that this account sent'),
  recipient: text('ADDRESS', 'only those to this account'),
  'message-service': text('ADDRESS', "the message service on L2 (default: Linea's, for mainnet and sepolia)"),
}

const options = {
  ...messageFollowOptions,
  ...optionsOf('l1', 'l2', 'rollup', 'implementation', 'scheme', 'method', 'timeout'),
  output: { ...text('DIR', 'the folder to write to'), short: 'o' },
  from: text('NUMBER', 'start after the first finalization at or above this L2 block'),
  once: flag('end when there is nothing new'),
  poll: textOr('60', 'SECONDS', 'time between polls'),
  json: flag('print one JSON object per message'),
  ...l1SourceOptions,
} as const

/** Runs `follow --messages`. @returns the exit code @throws UsageError */
export async function followMessagesTo(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseOptions(args, options)
  const { sender, recipient, output: path, once } = values
  const rollup = rollupOf(values)
  const messageService = values['message-service'] ?? messageServiceOf(rollup.address)
  if (messageService === undefined) throw new UsageError('--message-service is needed: its address on L2, 20 bytes')
  for (const name of ['sender', 'recipient', 'message-service'] as const) requireHex(`--${name}`, 20, values[name])
  if (!path) throw new UsageError('--output is needed: the folder to write to')
  const about = {
    rollup: rollup.address,
    'message service': messageService,
    sender: `${sender}`,
    recipient: `${recipient}`,
  }
  const named = Object.entries(about).map(([name, value]) => [name, value.toLowerCase()])
  const how = {
    ...{ rollup, scheme: requireKind(values.scheme), method: methodOf(values) },
    // The hexadecimal is checked.
    ...{ messageService: messageService as Hex, from: sender as Hex | undefined, to: recipient as Hex | undefined },
    fromL2BlockNumber: integerOf(values, 'from', 64),
    pollIntervalMs: 1000 * wholeNumber('--poll', values.poll, 1, 86_400),
  }
  return withEndpoints({ ...values, output: undefined }, io, async endpoints => {
    const { signal } = endpoints
    const [l1, l2] = [endpoints.open('l1', values.l1), endpoints.open('l2', values.l2)]
    const onDissent = (text: string) => showProgress(io, `L1 block hash: ${printable(text)}`)
    const { l1BlockHash, trust, isAlone } = await openL1Source(values, l1, endpoints, io, onDissent)
    if (isAlone) showProgress(io, `the L1 block hash comes from ${trust}`)
    const askedFor = { command: 'follow --messages', ...Object.fromEntries(named) }
    const folder = await openMessagesFolder(path, rollup, askedFor)
    if (folder.progress !== undefined) showProgress(io, `continuing in ${printable(path)}`)
    const watcher = watch(createMetrics(), once, io)
    const following = {
      ...{ l1, l2, l1BlockHash, ...how, onEvent: watcher.onEvent, resumeFrom: folder.progress },
      signal: AbortSignal.any([signal, watcher.ended]),
    }
    let count = 0
    try {
      for await (const item of followMessagesWith(following, { wait: watcher.wait, random: Math.random })) {
        for (const message of item.messages) {
          const file = await folder.write(message, item)
          endProgress(io)
          io.stdout.write(values.json ? toJson(describe(message, item, file)) : `${format(message, file, io)}\n`)
          count++
        }
        // After all messages of the finalization: a run that is killed before writes none of them twice.
        folder.save(item.progress)
      }
    } catch (error) {
      if (isArgumentError(error) && error.path === 'resumeFrom') throw argumentRefused(error, folder.progressPath)
      if (!isEndpointError(error) || error.code !== 'ABORTED') throw error
    } finally {
      folder.close()
    }
    endProgress(io)
    if (signal.aborted) io.stderr.write('stopped: run the same command again to continue\n')
    else if (count === 0) io.stderr.write('no new message that can be claimed\n')
    return signal.aborted && once ? exitCodes.noAnswer : exitCodes.verified
  })
}

function describe(one: ClaimableMessage, { l2BlockNumber, l1Block }: FollowedMessages, file: string): object {
  const { message, messageHash, messageProof, claim: claimData } = one
  return { file, messageHash, message, messageProof, claimData, l2BlockNumber, l1Block }
}

const format = ({ message, messageHash }: ClaimableMessage, file: string, { stdout }: Io): string =>
  `${paint(stdout, 'green', `message ${message.number}`)}  ${messageHash}  from ${message.from} to ${message.to}, ${message.value} wei  ${printable(file)}`
