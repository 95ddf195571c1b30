import type { Command } from '../command.ts'
import { recordToFile } from '../files/recorded-file.ts'
import { formatOptions, hiddenUrls, optionsOf, resumable } from '../options/declared.ts'
import { parseOptions } from '../options/parse.ts'
import { recordTrustOptions } from '../options/record-trust.ts'
import { answerSubject } from './record-answer.ts'
import { callSubject } from './record-call.ts'
import { isMessageRecord, messageRecordOptions, messageSubject } from './record-message.ts'

const endpointOptions = optionsOf('l1', 'l2', 'scheme', 'rollup')
const subjectOptions = optionsOf('address', 'storage-key', 'mapping')
const moreOptions = {
  ...recordTrustOptions,
  ...optionsOf(
    'l2-block',
    'implementation',
    'layout-roots-slot',
    'layout-current-slot',
    'method',
    'keys-per-request',
    'timeout',
  ),
  ...optionsOf('output', 'force', 'json'),
}
const callOptions = optionsOf('call', 'from', 'value', 'gas', 'chain-id', 'environment', 'hardfork', 'deadline')

const help = `Usage: rollup-state-proof record --l1 URL --l2 URL --scheme SCHEME
         --rollup ROLLUP (--address ADDRESS | --call TO DATA) -o FILE [options]
       rollup-state-proof record --l1 URL --l2 URL --rollup ROLLUP
         (--message HASH | --transaction HASH) -o FILE [options]

Records an evidence bundle: finds the newest finalized L2 block for which the L2
endpoint has proofs, fetches the L1 header, the proof of the rollup contract and
the answer, verifies everything, and writes one file that \`verify\` can check
even years later. The report ends with the L1 block hash on which the bundle
rests, and says where that hash comes from. Compare it with a source that you
trust.

If L1 holds the hash of the L2 block instead of a state root, the bundle has the
header of that block, and an answer of eth_getProof, whatever --scheme says of
roots. With --implementation, an upgrade of the contract stops the recording.

With --checkpoint and --beacon, the L1 block is proven from that beacon block,
and the bundle grows by about 60 kB per 27 hours since then.

Options:
${formatOptions({ ...endpointOptions, ...subjectOptions, ...moreOptions })}

${hiddenUrls}
${resumable}

With --call instead of --address, record executes a call over proven state, and
the bundle holds everything that the call reads. This needs the packages
@ethereumjs/evm, @ethereumjs/common and @ethereumjs/util:
${formatOptions(callOptions)}

With --message, --transaction, --number, --from or --to, record finds a message
of the bridge, all messages of its finalization, and what L1 holds about it. The
report has the data with which it can be claimed. With --scheme, a message from
L2 is proven from receipts if the logs of the L2 endpoints do not suffice:
${formatOptions(messageRecordOptions)}

The report says "verified" if you state the L1 block hash or a checkpoint. By
the word of the L1 endpoint, the bundle is "consistent".

If FILE exists, no endpoint is asked. record compares the file with the request
and verifies it, from --l1-block-hash, or else from the hash in the file. The
report says which, and so does --json (source, sources).

Exit code: 0 recorded, or FILE exists and is verified; 1 an answer is refused; 2
wrong usage, or the file cannot be written; 3 an endpoint failed: run the
command again; 4 FILE exists, and is consistent with the hash in it only.

Examples:
  export L1_URL=https://... L2_URL=https://... BEACON_URL=https://...
  rollup-state-proof record --scheme poseidon2 --rollup mainnet \\
    --address 0x... -o bundle.json
  rollup-state-proof record --scheme poseidon2 --rollup mainnet \\
    --address 0x... -o bundle.json --checkpoint 0x...
  rollup-state-proof record --scheme poseidon2 --rollup mainnet \\
    --implementation 0x... --address 0x... -o bundle.json
  rollup-state-proof record --scheme poseidon2 --rollup mainnet \\
    --call 0x... 0x... -o call.json
  rollup-state-proof record --rollup mainnet --transaction 0x... -o message.json
`

export const command: Command = {
  help,
  async run(args, io) {
    if (isMessageRecord(args)) {
      const options = { ...endpointOptions, ...moreOptions, ...messageRecordOptions }
      const { values } = parseOptions(args, options)
      return recordToFile(values, messageSubject(values), io)
    }
    if (args.includes('--call')) {
      const options = { ...endpointOptions, ...moreOptions, ...callOptions }
      const { values } = parseOptions(args, options)
      return recordToFile(values, callSubject(values, io), io)
    }
    const options = { ...endpointOptions, ...subjectOptions, ...moreOptions }
    const { values } = parseOptions(args, options)
    return recordToFile(values, answerSubject(values), io)
  },
}
