/** A change of the source that breaks a promise: `from` occurs once in the file. */
export type Break = readonly [file: string, from: string, to: string]

/** A promise of the threat model, the test that holds it, and a change that breaks it. */
export interface Promised {
  readonly promise: string
  /** Below `test/`, without its ending. */
  readonly test: string
  /** An ellipsis stands for what differs between the runs of a test. */
  readonly title: string
  readonly broken: Break
}

const promised = (promise: string, test: string, title: string, ...broken: Break): Promised => ({
  ...{ promise, test, title, broken },
})

const OWN: Break = [
  'src/base/json/reader.ts',
  'return Object.hasOwn(source, name) ? Reflect.get(source, name) : undefined\n    } catch {\n      throw unreadable()',
  'return Object.hasOwn(source, name) ? Reflect.get(source, name) : undefined\n    } catch (error) {\n      throw error',
]
const PATH_ROOT: Break = ['src/verify/tree/path.ts', 'if (!equalBytes(computedRoot, root)) throw', 'if (false) throw']
const VALUE_HASH: Break = [
  'src/verify/proof/leaf-proof.ts',
  'if (!equalBytes(hVal, valueHash)) throw',
  'if (false) throw',
]
const LIST_ROOT: Break = [
  'src/verify/blocks/ordered-trie.ts',
  'if (!equalBytes(found, root)) throw',
  'if (false) throw',
]
const HEADER_HASH: Break = [
  'src/verify/anchor/header.ts',
  'if (!equalBytes(found, expected)) throw',
  'if (false) throw',
]
const KEY_SHOWN: Break = [
  'src/client/transport/redact.ts',
  "withoutUrls(text.replace(beginning, '').replace(whole, '[key]'))",
  'text',
]
const REDUNDANT: Break = [
  'src/verify/anchor/eth-proof.ts',
  'if (stated === undefined || proven.includes(stated)) return',
  'if (stated !== null) return',
]

/** What several tests hold. */
const NO_OTHER_ERROR =
  'Make the verifier throw anything but a `ProofError`, with an answer, a bundle, light-client data or a call as evidence'
const NO_MIXED_MESSAGES = 'No memory of a verifier takes one message for another, whatever places the sender gives them'
const ALL_LOGS = 'All logs of a range: none is left out, added, changed or moved, and no changed bundle proves others'
const ALL_MESSAGES =
  'Messages of the bridge: no forged link passes for another, and no changed evidence proves another statement'
const NO_OTHER_STATE = 'No state root passes for a block hash, no tree or header for another'
const NO_HEAVY_RESPONSE = 'Exhaust memory with one response, or stop the process with one that breaks off'
const NO_FULL_PROXY = 'Hold all places of the proxy, or fill its memory'
const CALLS_END = 'Keep a call from ending, or other clients waiting for it'
const CALLS_ARE_SMALL =
  'Fill memory with a call: one of 50,000,000 gas holds up to about 350 MB, whatever the contract does'
const UPGRADE_IS_SEEN =
  'Lie about what L1 holds since the upgrade, or about a header; replace the code of the contract unnoticed; make a follower miss or repeat a finalization'
const AUDIT_IS_HONEST = 'Keep lines from an audit that seems to have read them all, or exhaust its memory with one line'
const NO_WAY_BACK = 'Lead a follower back, aside, or past a finalization, or undo what was final'
const NO_SECRETS =
  'No URL or key in errors, reports, files or on the command line, even if an endpoint writes its key as hexadecimal'

/** By the headings of the page. */
export const PROMISES: Readonly<Record<string, readonly Promised[]>> = {
  'What is proven': [
    promised(
      'Existence: the account has exactly these fields, the slot exactly this value',
      'verify/forgeries',
      'refuses a flipped bit anywhere in the answer for an account',
      ...VALUE_HASH,
    ),
    promised(
      'No part of a true answer passes in another place, for another key or from another state',
      'verify/forgeries',
      'refuses a part of another true answer',
      ...PATH_ROOT,
    ),
    promised(
      'Non-existence needs the two adjacent leaves around the key',
      'verify/vectors',
      'refuses each invalid … vector with its code',
      ...['src/verify/proof/leaf-proof.ts', 'if (next !== right.leafIndex) throw', 'if (false) throw'],
    ),
    promised(
      'A verdict agrees with a second implementation, over generated states',
      'verify/properties',
      'reads the same in the world, in the model and in its proofs',
      ...[
        'src/verify/tree/kind.ts',
        'codeHash: bytesToHex(accountWord(value, KECCAK_CODE_HASH))',
        'codeHash: bytesToHex(accountWord(value, SNARK_CODE_HASH))',
      ],
    ),
    promised(
      'Every hasher gives the same verdict',
      'verify/engines',
      'has the same outcome for each vector with every hasher and any memory',
      ...[
        'src/verify/hash/poseidon2/plain.ts',
        '+ 2 * at(s, group + ((i + 1) & 3))',
        '+ 3 * at(s, group + ((i + 1) & 3))',
      ],
    ),
    promised(
      NO_MIXED_MESSAGES,
      'verify/verifier/colliding-places',
      'refuses a leaf whose parent has the place of the true one, with another digest in …',
      ...[
        'src/verify/verifier/shared-nodes.ts',
        'isSame(one.left, left) && isSame(one.right, right)',
        'isSame(one.left, left)',
      ],
    ),
    promised(
      NO_MIXED_MESSAGES,
      'verify/verifier/colliding-places',
      'refuses every forged leaf beside a true one, with so few places that many have the same',
      ...[
        'src/verify/verifier/shared-nodes.ts',
        'isSame(one.left, left) && isSame(one.right, right)',
        'isSame(one.right, right)',
      ],
    ),
    promised(
      'The address and the keys are those that you state, read once',
      'surface/odd-arguments',
      'names each slot by the key that it verified, even if an array changes while it is read',
      ...[
        'src/base/json/reader.ts',
        'items.push(decode(own(source, items.length)))',
        'items.push(decode(own(source, items.length) && own(source, items.length)))',
      ],
    ),
    promised(
      'What you do not state about a bundle is returned as taken from it',
      'verify/evidence/claim',
      'returns the keys as the caller wrote them, or those of the bundle',
      ...[
        'src/verify/evidence/kinds/state.ts',
        'address, storageKeys }\n',
        'address, storageKeys: request.storageKeys }\n',
      ],
    ),
    promised(
      'A misspelt, missing or swapped argument is refused, in every exported function',
      'surface/walk',
      'refuses every spoilt one',
      ...['src/base/options.ts', 'if (unknown === undefined) return own', 'if (unknown !== null) return own'],
    ),
    promised(
      'From an L1 block hash: no changed bundle proves another statement',
      'verify/evidence/evidence',
      'never accepts another statement from a bundle that is changed anywhere',
      ...HEADER_HASH,
    ),
    promised(
      'Whether L1 holds a state root or a block hash follows from its proven slots',
      'verify/anchor/rollup',
      'finds a root or a hash by the slots, and lets the claim decide if there are both',
      ...[
        'src/verify/anchor/verify.ts',
        "root?.exists && expected !== 'blockHash' ? root.value",
        'root?.exists ? root.value',
      ],
    ),
    promised(
      'An upgraded contract is not read with a layout that you have pinned to other code',
      'verify/anchor/rollup',
      'reports the code behind the proxy, and refuses any other than the one that is stated',
      ...[
        'src/verify/anchor/verify.ts',
        'if (stated === undefined || stated === found) return',
        'if (stated !== null) return',
      ],
    ),
    promised(
      'A verdict on an Ethereum state agrees with the whole state',
      'verify/evidence/ethereum',
      'agrees with the whole state, over many random ones',
      ...['src/verify/anchor/eth-proof.ts', 'exists: value !== 0n', 'exists: value !== 1n'],
    ),
    promised(
      'A recording of either kind is true, or there is none, whichever link to the state is a lie',
      'client/record-ethereum',
      'records the truth or nothing, whichever link of the state is a lie',
      ...HEADER_HASH,
    ),
    promised(
      NO_OTHER_STATE,
      'client/record-ethereum',
      'lets no bundle pass a root for a hash, or a hash for a root',
      ...[
        'src/verify/anchor/verify.ts',
        "hash?.exists && expected !== 'stateRoot' ? hash.value",
        'hash?.exists ? hash.value',
      ],
    ),
    promised(
      NO_OTHER_STATE,
      'verify/evidence/ethereum',
      'names the place of each lie',
      ...['src/verify/anchor/trie.ts', 'if (!equalBytes(found, digest)) throw', 'if (false) throw'],
    ),
    promised(
      'Merkle-Patricia proofs are refused at least as strictly as by an independent implementation',
      'verify/anchor/trie',
      'refuses every changed proof, at least as strictly as the oracle',
      ...['src/verify/anchor/trie.ts', 'if (!equalBytes(found, digest)) throw', 'if (false) throw'],
    ),
    promised(
      'From a block hash: no changed header, transaction, receipt or log passes',
      'verify/blocks/block',
      'refuses every change of a field of a whole block',
      ...['src/verify/blocks/fields.ts', 'if (found === expected) continue', 'if (found !== null) continue'],
    ),
    promised(
      ALL_LOGS,
      'verify/evidence/logs',
      'gives each vector of logs its expected outcome',
      ...['src/verify/blocks/block.ts', 'if (isNeeded && list === undefined) throw', 'if (false) throw'],
    ),
    promised(
      ALL_LOGS,
      'verify/evidence/logs',
      'never accepts another statement from a bundle that is changed anywhere',
      ...LIST_ROOT,
    ),
    promised(
      ALL_MESSAGES,
      'verify/messages/evidence',
      'never accepts another statement from a bundle that is changed anywhere',
      ...['src/verify/messages/tree.ts', 'if (!equalBytes(found, expected)) throw', 'if (false) throw'],
    ),
    promised(
      ALL_MESSAGES,
      'verify/messages/vectors',
      'gives each vector of messages its expected outcome',
      ...['src/verify/messages/from-l2.ts', 'if (depth !== BigInt(proof.length)) throw', 'if (false) throw'],
    ),
    promised(
      'A message is proven by what L1 keeps, whatever endpoints say in their logs',
      'client/messages',
      'is blamed, and another one asked, if it …',
      ...['src/client/record/messages.ts', 'log.address !== address || block === null', 'block === null'],
    ),
    promised(
      'If no endpoint sends logs, its receipts replace them, and the root on L1 decides',
      'client/message-receipts',
      'messages are found, recorded and followed by receipts if no endpoint sends logs, with …',
      ...['src/client/l1/log-ranges.ts', 'isByReceipts ? logsInReceipts : logsIn)', 'isByReceipts ? logsIn : logsIn)'],
    ),
    promised(
      'A committee without 342 signers of 512 proves nothing',
      'verify/beacon/corpus',
      'accepts the chain of every fork, and refuses each invalid vector with its code',
      ...['src/verify/beacon/committee.ts', 'if (signers < needed) throw', 'if (false) throw'],
    ),
    promised(
      'From a beacon block: each signature, branch and committee counts',
      'verify/beacon/beacon',
      'refuses any flipped byte of a branch, a header, a key, the bits and the signature',
      ...[
        'src/verify/beacon/verify.ts',
        "verifyBranch('BEACON_FINALITY_MISMATCH', finalized.root, finalityBranch, layout.finalizedRoot, stateRoot)",
        'void layout',
      ],
    ),
    promised(
      'The code of a contract is that of its `codeHash`',
      'verify/anchor/slots',
      'verifies code',
      ...['src/verify/anchor/contract.ts', 'if (!equalBytes(found, expected)) throw', 'if (false) throw'],
    ),
    promised(
      'Redundant fields that contradict the proof are refused',
      'verify/evidence/evidence',
      'gives each vector its expected outcome',
      ...REDUNDANT,
    ),
    promised(
      'A call has the result that the chain would give it, or an error that says what is unknown',
      'provider/lies',
      'tells the truth or nothing if all or some answers are of another block',
      ...PATH_ROOT,
    ),
    promised(
      'The same for a block whose hash L1 holds, whatever is false about its header, its state or its code',
      'provider/ethereum',
      'tells the truth or nothing: …',
      ...HEADER_HASH,
    ),
    promised(
      'A call as evidence has one result, whatever is changed in it',
      'provider/call-evidence',
      'never accepts another result from a bundle that is changed anywhere',
      ...VALUE_HASH,
    ),
    promised(
      'A provider’s logs are all logs: none left out, added, changed, reordered or of another block',
      'provider/block-lies',
      'tells the truth or nothing: …',
      ...LIST_ROOT,
    ),
  ],
  'What a hostile sender cannot do': [
    promised(NO_OTHER_ERROR, 'verify/proof/hostile', 'refuses an unreadable object as malformed: …', ...OWN),
    promised(
      NO_OTHER_ERROR,
      'verify/evidence/evidence',
      'throws only its own errors, whatever getters and proxies throw',
      ...OWN,
    ),
    promised(
      NO_OTHER_ERROR,
      'verify/beacon/hostile',
      'refuses any value in place of a part with its own error: …',
      ...['src/base/json/reader.ts', "if (typeof value !== 'string') throw", 'if (false) throw'],
    ),
    promised(
      NO_OTHER_ERROR,
      'provider/call-evidence',
      'throws only its own errors, whatever getters and proxies throw',
      ...OWN,
    ),
    promised(
      'Answer one thing when checked and another when used',
      'verify/proof/hostile',
      'reads no property twice: …',
      ...[
        'src/base/json/reader.ts',
        '? Reflect.get(source, name) : undefined',
        '? (Reflect.get(source, name), Reflect.get(source, name)) : undefined',
      ],
    ),
    promised(
      'Use a polluted `Object.prototype`',
      'verify/proof/hostile',
      'does not fill in what an answer leaves out',
      ...[
        'src/base/json/reader.ts',
        'Object.hasOwn(source, name) ? Reflect.get(source, name) : undefined',
        'Reflect.get(source, name)',
      ],
    ),
    promised(
      'Make the verifier walk endless or sparse lists',
      'verify/evidence/evidence',
      'does not iterate over huge sparse or endless arrays',
      ...['src/base/json/reader.ts', 'verifyCount(count)\n', '\n'],
    ),
    promised(
      'Exhaust time or memory with huge texts',
      'verify/huge',
      'judges records with a huge string: …',
      ...['src/base/errors.ts', 'text.slice(0, 80).replace(', 'text.replace('],
    ),
    promised(
      'Slow down a regular expression',
      'client/regexes',
      'has no regular expression that is slow on long text',
      ...['src/client/transport/http.ts', '/^[a-z]+_getProof$/', '/^([a-z]+)+_getProof$/'],
    ),
    promised(
      NO_HEAVY_RESPONSE,
      'client/http',
      'refuses megabytes of brackets before they are parsed, of either kind of endpoint',
      ...['src/base/json/parse.ts', 'if (values > most) throw', 'if (false) throw'],
    ),
    promised(
      NO_HEAVY_RESPONSE,
      'client/http',
      'lives on after a response with any number of codings, then silence or an end',
      ...['src/client/transport/one-coding.ts', "codings.join().includes(',') ?", 'false ?'],
    ),
    promised(
      'Change what is recorded',
      'client/record',
      'records the truth or nothing, whatever is changed in transit',
      ...VALUE_HASH,
    ),
    promised(
      'Keep an honest endpoint from being heard',
      'client/endpoints',
      'never returns a wrong answer if another endpoint has the right one',
      ...['src/client/sources/endpoints.ts', 'failures.set(outcome.index, outcome.error)', 'throw outcome.error'],
    ),
    promised(
      'Hold up the honest beacon API',
      'client/beacon-hostile',
      'gets the honest answer beside an endpoint that …',
      ...[
        'src/client/beacon/beacon-chain.ts',
        'else timer = setTimeout(round.end, STRAGGLE_MS)',
        'else timer = setTimeout(round.end, 20 * STRAGGLE_MS)',
      ],
    ),
    promised(
      NO_WAY_BACK,
      'client/follow',
      'loses no finalization to a failure: each is yielded once, beside an endpoint that hides them',
      ...[
        'src/client/l1/finalizations.ts',
        'if (isAwaited && range.newest > range.after + 1n) throw error',
        'if (isAwaited && range.newest < range.after) throw error',
      ],
    ),
    promised(UPGRADE_IS_SEEN, 'client/crossing', 'harms nobody if there is another: it says …', ...HEADER_HASH),
    promised(
      UPGRADE_IS_SEEN,
      'client/crossing',
      'follows … finalizations across the upgrade, killed and restarted at random',
      ...[
        'src/client/follow/follow.ts',
        'const last = { l2BlockNumber, stateRoot',
        'const last = { l2BlockNumber: l2BlockNumber - 1n, stateRoot',
      ],
    ),
    promised(
      UPGRADE_IS_SEEN,
      'client/crossing',
      'is told once if it has changed, even between two runs',
      ...['src/client/follow/follow.ts', 'implementation !== last.implementation', 'implementation === null'],
    ),
    promised(
      'Hide or invent a message that can be claimed',
      'client/follow-messages',
      'loses and invents none with an endpoint that lies, alone for a while or beside an honest one',
      ...[
        'src/client/follow/follow-messages.ts',
        'const held = holding && BigInt(all.length) === count &&',
        'const held = holding &&',
      ],
    ),
    promised(
      NO_WAY_BACK,
      'client/follow',
      'ignores a source that falls behind, and refuses a finalization that is undone',
      ...['src/client/follow/follow.ts', 'if (trusted && number < trusted.number) {', 'if (trusted && number < 0n) {'],
    ),
    promised(
      CALLS_END,
      'provider/ending',
      'has one deadline for an estimate, an access list, and what waits for an endpoint',
      ...['src/provider/pace.ts', 'setTimeout(() => stop(tooLate())', 'setTimeout(() => tooLate()'],
    ),
    promised(
      CALLS_END,
      'provider/ending',
      'answers another client while calls compute',
      ...['src/provider/limits.ts', 'export const SLICE = 15', 'export const SLICE = 1e9'],
    ),
    promised(
      CALLS_ARE_SMALL,
      'provider/execution',
      'takes little more memory for a deep recursion of a large contract than for its code',
      ...['src/provider/evm.ts', 'shared?.set(code, new WeakRef(found))', ''],
    ),
    promised(
      CALLS_ARE_SMALL,
      'provider/execution',
      'keeps nothing of calls that change nothing',
      ...['src/provider/evm.ts', '  forgetEmptyFrames(machine.journal)\n', ''],
    ),
    promised(
      NO_FULL_PROXY,
      'cli/proxy',
      'never keep quick ones waiting',
      ...['src/provider/json-rpc.ts', 'createBudget(concurrency)', 'createBudget(concurrency + 1)'],
    ),
    promised(
      NO_FULL_PROXY,
      'cli/proxy',
      'bounds its memory over all clients, and frees that of closed connections',
      ...['src/cli/commands/proxy-socket.ts', 'if (held + length > MAX_HELD_LENGTH) return', 'if (false) return'],
    ),
    promised(
      NO_FULL_PROXY,
      'provider/filters',
      'lets no client push out the filters of one that has less',
      ...['src/provider/blocks/filters.ts', 'dropOldest(owner => sizes.get(owner) === most)', 'dropOldest(() => true)'],
    ),
    promised(
      'Hold connections with half a request',
      'devnet/http/server',
      'closes the connections of clients that send no headers, half of them, or half a body',
      ...['src/devnet/http/server.ts', 'server.requestTimeout = times.request', 'server.requestTimeout = 0'],
    ),
    promised(
      AUDIT_IS_HONEST,
      'cli/audit',
      'reports a broken gzip member',
      ...['src/cli/audit/input.ts', 'if (unpacker.bytesWritten < sent) throw', 'if (false) throw'],
    ),
    promised(
      AUDIT_IS_HONEST,
      'cli/audit',
      'refuses only the line that would take too much memory',
      ...['src/base/json/parse.ts', 'if (values > most) throw', 'if (values < 0) throw'],
    ),
    promised(
      'Make a follower, or a proxy with `--beacon-state`, go on with what it did not write',
      'cli/own-key',
      'is needed to continue: without it, or with another, a run has to start over',
      ...['src/cli/files/progress-file.ts', ' && timingSafeEqual(own, found)', ''],
    ),
    promised(
      'Make a snapshot or a search for logs keep rows that it did not prove',
      'cli/snapshot',
      'goes on with evidence that it verifies, whoever wrote it, and believes none of it',
      ...['src/cli/commands/rows.ts', 'await pass(rows.rowsOf(found))', "await pass('')"],
    ),
    promised(
      'Make a follower go on with an index that it did not write',
      'cli/follow',
      'does not change foreign files',
      ...['src/cli/commands/follow-watch.ts', ': index.length() === before.length', ': true'],
    ),
    promised(
      'Move, recolour or reverse text on your terminal',
      'cli/words/value',
      'prints no characters that move, recolour or reverse text',
      ...[
        'src/cli/words/value.ts',
        "text.replace(/[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]/gu, '?')",
        "text.replace(/[\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]/gu, '?')",
      ],
    ),
  ],
  'What the caller is told': [
    promised(
      'Which part was stated by you, and which was not',
      'cli/words/wording',
      'lists the chain from the trusted input down, each row with what it rests on',
      ...['src/cli/words/wording.ts', "bundle: 'from the bundle, not stated by you'", "bundle: 'stated by you'"],
    ),
    promised(
      '`ANCHOR_NO_ROOT` for a block between finalizations',
      'verify/anchor/rollup',
      'refuses a block without a root, one ahead of the contract, and a missing contract',
      ...[
        'src/verify/anchor/verify.ts',
        'if (stateRoot !== undefined || blockHash !== undefined) return',
        'if (true) return',
      ],
    ),
    promised(
      '`SCHEME_MISMATCH` for the other scheme',
      'verify/proof/decode',
      'recognises nodes of the other scheme by the lengths of node 0 and the leaf',
      ...['src/verify/proof/decode.ts', 'if (isOther) throw', 'if (false) throw'],
    ),
    promised(
      'The age of a checkpoint, checked at each step',
      'client/beacon-hostile',
      'checks the age of what it proves from at every call, and by the rules of the fork',
      ...['src/client/beacon/beacon-chain.ts', 'const age = ageOf(block)', 'const age = 0 * ageOf(block)'],
    ),
    promised(
      'Nothing that is unproven, unless you stated it',
      'provider/provider',
      'stops at … unless the value is stated',
      ...['src/provider/execute.ts', '?? fail(unprovenValue(instruction))', '?? (0n as never)'],
    ),
    promised(
      'What the rollup does differently from the EVM, by name',
      'provider/precompiles',
      'ends a call of … (…) with its own error',
      ...['src/provider/evm.ts', "{ 3: 'RIPEMD-160'", "{ 300: 'RIPEMD-160'"],
    ),
  ],
  Secrets: [
    promised(
      NO_SECRETS,
      'client/hostile-conversations',
      'ends any conversation with the truth or its own error, and never shows a key',
      ...KEY_SHOWN,
    ),
    promised(NO_SECRETS, 'client/hostile-conversations', 'shows no key on the command line or in a file', ...KEY_SHOWN),
    promised(
      NO_SECRETS,
      'client/hostile-conversations',
      'writes no key to a file that an endpoint has put among the nodes of a proof',
      ...[
        'src/client/transport/redact.ts',
        'hexKeys.some(key => hex.toLowerCase().includes(key.toLowerCase()))',
        'hexKeys.length < 0',
      ],
    ),
    promised(
      'The verifier has no access to the network',
      'layers',
      'imports only allowed packages, and platform modules only in the outer wings',
      ...[
        'src/verify/tree/encode.ts',
        "import { bigintToBytes, concatBytes } from '../../base/bytes.ts'\n",
        "import 'node:http'\nimport { bigintToBytes, concatBytes } from '../../base/bytes.ts'\n",
      ],
    ),
  ],
}
