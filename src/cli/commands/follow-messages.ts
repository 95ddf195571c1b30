import { followMessagesWith } from '../../client/follow/follow-messages.ts'
import { followOptions, optionsOf, typed } from '../options/declared.ts'
import { defineCommand } from '../options/define.ts'
import { messageServiceOf, networkOf } from '../options/network.ts'
import { address, integer } from '../options/read.ts'
import { followTo } from './follow-watch.ts'

const options = {
  sender: typed('ADDRESS', 'only those that this account sent', address),
  recipient: typed('ADDRESS', 'only those to this account', address),
  'from-block': typed('N', 'begin after the finalization of this L2 block', integer(64)),
  ...optionsOf('once', 'poll'),
}

export const command = defineCommand(
  {
    usage: 'follow messages -o DIR [options]',
    options,
    shared: followOptions,
    about: `
Follows the messages of the bridge that can be claimed on L1. DIR gets a bundle
per message, with which \`verify\` prints the data of the claim, and an index of
them. Ctrl-C ends it. Run the same command again to continue.`,
    notes: 'Exit codes: as `follow state`.',
    examples: `
export L1_URL='https://... https://...' L2_URL=https://...
rollup-state-proof follow messages --sender 0x... -o claims`,
  },
  async (values, io) => {
    const { sender, recipient } = values
    const network = networkOf(values)
    const { rollup } = network
    const about = {
      rollup: rollup.address,
      'message service': messageServiceOf(network),
      sender: `${sender}`,
      recipient: `${recipient}`,
    }
    const named = Object.entries(about).map(([name, value]) => [name, value.toLowerCase()])
    const whose = { ...(sender && { from: sender }), ...(recipient && { to: recipient }) }
    return followTo(
      values,
      {
        askedFor: { command: 'follow messages', ...Object.fromEntries(named) },
        nothing: 'No new message that can be claimed.',
        follow: (options, timing) => followMessagesWith({ ...options, ...whose }, timing),
        entriesOf: item =>
          item.messages.map(({ message, messageHash, messageProof, claim: claimData, bundle }) => {
            const { l2BlockNumber, l1Block } = item
            const { from, to, fee, value, number } = message
            const block = { l2BlockNumber, l1BlockNumber: l1Block.number, l1BlockHash: l1Block.hash }
            return {
              number,
              bundle,
              line: { number, messageHash, from, to, fee, value, ...block },
              json: { messageHash, message, messageProof, claimData, l2BlockNumber, l1Block },
              heading: `message ${message.number}`,
              words: `${messageHash}  from ${message.from} to ${message.to}, ${message.value} wei`,
            }
          }),
      },
      io,
    )
  },
)
