import { followMessagesWith } from '../../client/follow/follow-messages.ts'
import type { Hex } from '../../entry/index.ts'
import type { Command } from '../command.ts'
import { followOptions, formatHelp, optionsOf, text } from '../options/declared.ts'
import { messageServiceOf, networkOf } from '../options/network.ts'
import { parseOptions, requireHex } from '../options/parse.ts'
import { followTo } from './follow-watch.ts'

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
  async run(args, io) {
    const { values } = parseOptions(args, all)
    const { sender, recipient } = values
    const network = networkOf(values)
    const { rollup } = network
    for (const name of ['sender', 'recipient'] as const) requireHex(`--${name}`, 20, values[name])
    const about = {
      rollup: rollup.address,
      'message service': messageServiceOf(network),
      sender: `${sender}`,
      recipient: `${recipient}`,
    }
    const named = Object.entries(about).map(([name, value]) => [name, value.toLowerCase()])
    // The hexadecimal is checked.
    const whose = { ...(sender && { from: sender as Hex }), ...(recipient && { to: recipient as Hex }) }
    return followTo(
      values,
      {
        askedFor: { command: 'follow messages', ...Object.fromEntries(named) },
        nothing: 'no new message that can be claimed',
        follow: (options, timing) => followMessagesWith({ ...options, ...whose }, timing),
        entriesOf: item =>
          item.messages.map(({ message, messageHash, messageProof, claim: claimData, bundle }) => {
            const { l2BlockNumber, l1Block } = item
            const { from, to, fee, value, number } = message
            const block = { l2BlockNumber, l1BlockNumber: l1Block.number, l1BlockHash: l1Block.hash }
            return {
              ...{ number, bundle, line: { number, messageHash, from, to, fee, value, ...block } },
              json: { messageHash, message, messageProof, claimData, l2BlockNumber, l1Block },
              heading: `message ${message.number}`,
              words: `${messageHash}  from ${message.from} to ${message.to}, ${message.value} wei`,
            }
          }),
      },
      io,
    )
  },
}
