import { existsSync, readFileSync } from 'node:fs'
import { ssz } from '@lodestar/types'
import { expect, it } from 'vitest'
import {
  type Committee,
  hoodiBeacon,
  mainnetBeacon,
  sepoliaBeacon,
  trustBeaconBlock,
  verifyBootstrap,
  verifyConsensus,
  verifyFinality,
  verifyUnfinalized,
  verifyUpdate,
} from '../../../src/entry/beacon.ts'
import { MAINNET_PRESET } from '../../../src/verify/beacon/clock.ts'
import { decodeCommittee, signersKey } from '../../../src/verify/beacon/committee.ts'
import { decodeNetwork, forkAt } from '../../../src/verify/beacon/network.ts'
import { convertHeader } from '../../../vectors/beacon/converted.ts'
import { refusal, verdict } from '../../refusal.ts'
import { strided } from '../../size.ts'
import { namesIn, readInvalid, readValid, trustedIn } from './vectors.ts'

const REAL = '../shared/vectors/beacon/mainnet-capella-periods-862-864.json'

it('has no duplicate invalid vectors', () => {
  const inputs = namesIn('invalid').map(name => JSON.stringify(readInvalid(name).input))
  expect(new Set(inputs).size).toBe(inputs.length)
})

const word = (digit: string): `0x${string}` => `0x${digit.repeat(64)}`

const runVector = ({ operation, input }: ReturnType<typeof readInvalid>) =>
  operation === 'verifyFinality'
    ? verifyFinality(input.answers.finality, input.committee)
    : verifyConsensus(input.answers, trustedIn(input))

it('reports where it found the fault', () => {
  const pathOf = (name: string) => refusal(() => runVector(readInvalid(name))).path
  expect(pathOf('committee-of-511')).toBe('bootstrap.data.current_sync_committee.pubkeys')
  expect(pathOf('key-infinity')).toBe('updates[0].data.next_sync_committee.pubkeys[9]')
  expect(pathOf('l1-block-hash')).toBe('data.finalized_header')
  expect(pathOf('old-committee')).toBe('finality.data.signature_slot')
  expect(pathOf('fork-not-known')).toBe('bootstrap.data.header.beacon.slot')
  expect(pathOf('network-version-short')).toBe('bootstrap.network.forks[0].version')
  expect(pathOf('stored-key-altered')).toBe('committee')
})

it('continues from a stored committee', () => {
  const { input } = readValid('fulu')
  const { committee } = verifyConsensus({ ...input.answers, finality: undefined }, trustedIn(input))
  const stored: Committee = JSON.parse(JSON.stringify(committee))
  expect(stored).toEqual(committee)
  const [update] = input.answers.updates as unknown[]
  const next = verifyUpdate(update, stored)
  expect(next.committee).toEqual(input.committee)
  expect(verifyFinality(input.answers.finality, next.committee).signers).toBe(508)
  // A committee update is also a finality update.
  expect(verifyFinality(update, stored).blockRoot).toBe(next.blockRoot)
})

it('accepts updates for periods beyond the finality update', () => {
  const { input } = readValid('electra')
  const [update] = input.answers.updates as unknown[]
  const { period, committee } = verifyConsensus({ ...input.answers, finality: update }, trustedIn(input))
  expect(period).toBe(30)
  expect(committee.period).toBe(30)
})

it('uses the fork version of the slot before the signature', () => {
  const { input } = readValid('electra')
  // Fulu begins with the epoch of the signature slot, so the version is no longer that of Electra.
  const signatureSlot = 31 * 8192 + 105
  expect(signatureSlot % 32).not.toBe(0)
  const forks = input.network.forks.map(fork => (fork.name === 'fulu' ? { ...fork, epoch: signatureSlot >> 5 } : fork))
  const code = refusal(() =>
    verifyConsensus(input.answers, { ...trustedIn(input), network: { ...input.network, forks } }),
  ).code
  expect(code).toBe('BEACON_SIGNATURE_MISMATCH')
})

it('ignores the version unless the table has no epoch for its fork', () => {
  const { input } = readValid('capella')
  const withVersion = (version: unknown) => ({ ...(input.answers.bootstrap as object), version })
  for (const version of ['capella', 'altair', 'gloas', undefined, null]) {
    expect(
      verdict(() => verifyBootstrap(withVersion(version), trustedIn(input))),
      String(version),
    ).toBe('accepted')
  }
  const forks = input.network.forks.map(fork => (fork.name === 'gloas' ? { ...fork, epoch: undefined } : fork))
  const network = { ...input.network, forks }
  expect(verdict(() => verifyBootstrap(withVersion('gloas'), { ...trustedIn(input), network }))).toBe(
    'BEACON_FORK_UNKNOWN at version',
  )
})

it('refuses malformed networks, trusted blocks and committees', () => {
  const { input } = readValid('capella')
  const trusted = trustedIn(input)
  const { network } = trusted
  const [fork] = network.forks
  const { bootstrap, finality } = input.answers
  const bad: [unknown, string][] = [
    [undefined, ''],
    [{ network }, 'blockRoot'],
    [{ blockRoot: input.blockRoot }, 'network'],
    [{ ...trusted, blockroot: input.blockRoot }, 'blockroot'],
    [{ ...trusted, network: 'mainnet' }, 'network'],
    [{ ...trusted, network: { ...network, genesisTimes: 7 } }, 'network.genesisTimes'],
    [{ ...trusted, network: { ...network, forks: [{ ...fork, epcoh: 7 }] } }, 'network.forks[0].epcoh'],
    [{ ...trusted, network: { ...network, forks: [{ name: 'capella', epoch: 7 }] } }, 'network.forks[0].version'],
    [{ ...trusted, blockRoot: '0x00' }, 'blockRoot'],
    [{ ...trusted, network: { ...mainnetBeacon, genesisValidatorsRoot: '0x' } }, 'network.genesisValidatorsRoot'],
    [{ ...trusted, network: { ...mainnetBeacon, genesisTime: -1 } }, 'network.genesisTime'],
    [{ ...trusted, network: { ...mainnetBeacon, forks: Array(65).fill(mainnetBeacon.forks[0]) } }, 'network.forks'],
    [
      { ...trusted, network: { ...mainnetBeacon, forks: [{ ...mainnetBeacon.forks[0], epoch: 1.5 }] } },
      'network.forks[0].epoch',
    ],
    [{ ...trusted, network: { ...mainnetBeacon, name: 7 } }, 'network.name'],
    ...[
      { committeeSize: 12 },
      { slotsPerEpoch: 0 },
      { epochsPerPeriod: 0.5 },
      { secondsPerSlot: '6' },
      { seconds: 6 },
    ].map((change): [unknown, string] => [
      { ...trusted, network: { ...network, preset: { ...MAINNET_PRESET, ...change } } },
      `network.preset.${Object.keys(change)}`,
    ]),
    [{ ...trusted, network: { ...network, preset: { committeeSize: 512 } } }, 'network.preset.slotsPerEpoch'],
    [{ ...trusted, network: { ...network, preset: [] } }, 'network.preset'],
  ]
  for (const [block, path] of bad) {
    const expected = `ARGUMENT_INVALID${path === '' ? '' : ` at ${path}`}`
    expect(verdict(() => verifyBootstrap(bootstrap, block as never))).toBe(expected)
    expect(verdict(() => trustBeaconBlock(block as never))).toBe(expected)
  }
  for (const period of [-1, 0.5, '31', undefined]) {
    const committee = { ...input.committee, period } as never
    expect(verdict(() => verifyFinality(finality, committee))).toBe('ARGUMENT_INVALID at committee.period')
  }
  expect(verdict(() => verifyFinality(finality, undefined as never))).toBe('ARGUMENT_INVALID at committee')
  const misspelt = { ...input.committee, preiod: 7 }
  expect(verdict(() => verifyFinality(finality, misspelt))).toBe('ARGUMENT_INVALID at committee.preiod')
})

it('refuses any flipped byte of a branch, a header, a key, the bits and the signature', () => {
  const every = strided(97)
  let [flipped, texts] = [0, 0]
  for (const fork of ['deneb', 'gloas']) {
    const { input } = readValid(fork)
    const { bootstrap, finality } = input.answers
    const run = (source: unknown) =>
      source === bootstrap ? verifyBootstrap(source, trustedIn(input)) : verifyFinality(source, input.committee)
    for (const source of [bootstrap, finality]) {
      const flip = (holder: Record<string, unknown>, name: string) => {
        const text = holder[name]
        if (typeof text !== 'string' || !text.startsWith('0x')) return
        texts++
        for (let digit = 3 + (texts % every) * 2; digit < text.length; digit += 2 * every) {
          const value = (Number.parseInt(text[digit] ?? '', 16) ^ 1).toString(16)
          holder[name] = `${text.slice(0, digit)}${value}${text.slice(digit + 1)}`
          expect(
            verdict(() => run(source)),
            `${fork} ${name} ${digit}`,
          ).not.toBe('accepted')
          flipped++
        }
        holder[name] = text
      }
      const visit = (holder: Record<string, unknown>, inKeys: boolean) => {
        for (const [name, value] of Object.entries(holder)) {
          if (inKeys && every > 1 && Number(name) % 100 !== 0) continue
          flip(holder, name)
          if (typeof value === 'object' && value !== null) visit(value as Record<string, unknown>, name === 'pubkeys')
        }
      }
      visit((source as { data: Record<string, unknown> }).data, false)
      expect(verdict(() => run(source))).toBe('accepted')
    }
  }
  expect(texts).toBeGreaterThan(100)
  expect(flipped).toBeGreaterThan(60)
})

it('ignores a polluted Object.prototype', () => {
  const { input } = readValid('gloas')
  const polluted = { finality: input.answers.finality, version: 'heze', execution: {}, epoch: 5 }
  Object.assign(Object.prototype, polluted)
  try {
    expect(
      verdict(() =>
        verifyBootstrap({ data: { ...(input.answers.bootstrap as { data: object }).data } }, trustedIn(input)),
      ),
    ).toBe('accepted')
    expect(
      refusal(() => verifyConsensus({ bootstrap: input.answers.bootstrap, updates: [] }, trustedIn(input))).code,
    ).toBe('BEACON_FINALITY_MISSING')
  } finally {
    for (const name of Object.keys(polluted)) Reflect.deleteProperty(Object.prototype, name)
  }
})

it('knows the tables of three networks', () => {
  for (const { forks, genesisValidatorsRoot } of [mainnetBeacon, sepoliaBeacon, hoodiBeacon]) {
    expect(forks.map(({ name }) => name)).toEqual(['capella', 'deneb', 'electra', 'fulu', 'gloas'])
    expect(genesisValidatorsRoot).toHaveLength(66)
  }
  expect(mainnetBeacon.forks.at(-1)).toEqual({ name: 'gloas', version: '0x07000000' })
})

it.skipIf(!existsSync(REAL))('verifies three periods of mainnet', () => {
  const { trustedBlockRoot, bootstrap, updates } = JSON.parse(readFileSync(REAL, 'utf8'))
  const checkpoint = { network: mainnetBeacon, blockRoot: trustedBlockRoot }
  expect(verifyConsensus({ bootstrap, updates }, checkpoint)).toMatchObject({
    l1BlockHash: '0xd7c7df081b66d98f2a00f53f87dbd85581146a8d779c9676fb9d74a0e1df79a5',
    l1BlockNumber: 17892141n,
    slot: 7078240n,
    slotTimestamp: 1691762903n,
    l1Timestamp: 1691762903n,
    signers: 511,
    period: 864,
  })
  const onSepolia = { ...mainnetBeacon, genesisValidatorsRoot: sepoliaBeacon.genesisValidatorsRoot }
  expect(refusal(() => verifyConsensus({ bootstrap, updates }, { ...checkpoint, network: onSepolia })).code).toBe(
    'BEACON_SIGNATURE_MISMATCH',
  )
})

if (!existsSync(REAL)) console.info(`skipped: 1 recording of mainnet, because there is no ${REAL}`)

it('says what it expected or found in each refusal', () => {
  // One vector for each code: the corpus runs them all.
  const vectors = new Map(namesIn('invalid').map(name => [readInvalid(name).expected.code, name]))
  for (const [code, name] of vectors) {
    const { expected, found } = refusal(() => runVector(readInvalid(name)))
    expect(expected ?? found, `${name}: ${code}`).toMatch(/\S/)
  }
  expect(vectors.size).toBeGreaterThan(20)
})

it('carries the verification of a trusted block with it, as a whole and step by step', () => {
  const { input } = readValid('fulu')
  const answers = { finality: undefined, ...input.answers }
  const { beaconBlockRoot, network, verifyConsensus: verify, lightClient } = trustBeaconBlock(trustedIn(input))
  expect({ beaconBlockRoot, network }).toEqual({ beaconBlockRoot: input.blockRoot, network: input.network.name })
  expect(verify(answers, beaconBlockRoot)).toEqual(verifyConsensus(input.answers, trustedIn(input)))
  expect(lightClient).toEqual({
    network: input.network,
    verifyBootstrap,
    verifyUpdate,
    verifyFinality,
  })
  const other = { ...input.network, genesisValidatorsRoot: `0x${'01'.repeat(32)}` as const }
  const elsewhere = trustBeaconBlock({ ...trustedIn(input), network: other })
  expect(verdict(() => elsewhere.verifyConsensus(answers, beaconBlockRoot))).toMatch(/^BEACON_SIGNATURE_MISMATCH/)
  expect(verdict(() => verify(answers, `0x${'01'.repeat(32)}`))).toMatch(/^BEACON_ROOT_MISMATCH/)
})

it('reads 512 updates, and none of 513', () => {
  const { input } = readValid('fulu')
  const withUpdates = (count: number) => ({ ...input.answers, updates: new Array(count).fill(null) })
  expect(verdict(() => verifyConsensus(withUpdates(512), trustedIn(input)))).toBe('BEACON_MALFORMED at updates[0]')
  const { code, expected, found } = refusal(() => verifyConsensus(withUpdates(513), trustedIn(input)))
  expect({ code, expected, found }).toEqual({
    ...{ code: 'BEACON_TOO_MANY_UPDATES', expected: 'at most 512', found: '513' },
  })
})

it('finds the fork of the first slot and of the last slot of each', () => {
  const fork = (name: string, epoch?: number) => ({ name, version: '0x01020304' as const, epoch })
  // A fork without an epoch has no slots.
  const forks = [fork('capella', 2), fork('deneb', 5), fork('electra')]
  const network = decodeNetwork({ ...mainnetBeacon, forks })
  const nameAt = (slot: bigint) => forkAt(network, slot).name
  expect([64n, 159n, 160n, 1_000_000n].map(nameAt)).toEqual(['capella', 'capella', 'deneb', 'deneb'])
  expect(refusal(() => forkAt(network, 63n))).toMatchObject({
    ...{ code: 'BEACON_FORK_UNKNOWN', expected: 'a slot from Capella to Gloas', found: 'slot 63, before Capella' },
  })
  const later = decodeNetwork({ ...mainnetBeacon, forks: [fork('capella', 2), fork('heze', 9)] })
  expect(refusal(() => forkAt(later, 288n)).found).toBe('slot 288, in "heze"')
})

it('takes answers with these names only', () => {
  const { input } = readValid('fulu')
  const { finality, ...others } = input.answers
  const verdictOf = (answers: unknown) => verdict(() => verifyConsensus(answers as typeof others, trustedIn(input)))
  // Without this, the block of the last update would pass for the newest that is proven.
  expect(verdictOf({ ...others, finalty: finality })).toBe('ARGUMENT_INVALID at finalty')
  expect(verdictOf({ ...others, finality: null })).toBe('accepted')
  expect(verdictOf([])).toBe('ARGUMENT_INVALID')
  expect(verdictOf(undefined)).toBe('ARGUMENT_INVALID')
})

it('takes the preset of mainnet unless another is stated', () => {
  const stated = { ...MAINNET_PRESET, committeeSize: 32 }
  expect(decodeNetwork({ ...mainnetBeacon, preset: stated })).toMatchObject({
    preset: stated,
    source: { preset: stated },
  })
  for (const preset of [undefined, null]) {
    const decoded = decodeNetwork({ ...mainnetBeacon, preset })
    expect(decoded.preset).toEqual({ committeeSize: 512, slotsPerEpoch: 32, epochsPerPeriod: 256, secondsPerSlot: 12 })
    expect(decoded.source).toEqual(mainnetBeacon)
  }
})

it('verifies a block that is signed and not final, under that name', () => {
  const { input } = readValid('fulu')
  interface Header {
    beacon: { slot: string }
    execution: { block_hash: string; block_number: string; timestamp: string }
    execution_branch: string[]
  }
  interface Data {
    attested_header: Header
    finalized_header: Header
    finality_branch: string[]
    sync_aggregate: object
  }
  const { finality, bootstrap } = input.answers as { finality: { data: Data }; bootstrap: object }
  const { finalized_header, finality_branch, ...data } = finality.data
  const optimistic = { version: 'fulu', data }
  const found = verifyUnfinalized(optimistic, input.committee)
  const { beacon, execution } = data.attested_header
  expect(found).toEqual({
    ...{ unfinalizedL1BlockHash: execution.block_hash, l1BlockNumber: BigInt(execution.block_number) },
    ...{ l1Timestamp: BigInt(execution.timestamp), slot: BigInt(beacon.slot), blockRoot: found.blockRoot },
    ...{ slotTimestamp: found.l1Timestamp, signers: 508, period: input.committee.period },
  })
  expect(found.slot).toBeGreaterThan(verifyFinality(finality, input.committee).slot)
  expect(verifyUnfinalized(finality, input.committee)).toEqual(found)
  expect(verdict(() => verifyFinality(optimistic, input.committee))).toBe(
    'BEACON_FINALITY_MISSING at data.finalized_header',
  )
  const codeWith = (change: object) =>
    verdict(() => verifyUnfinalized({ ...optimistic, data: { ...data, ...change } }, input.committee))
  expect(codeWith({ signature_slot: beacon.slot })).toBe('BEACON_SLOT_ORDER at data')
  expect(codeWith({ signature_slot: `${BigInt(beacon.slot) + 8192n}` })).toBe(
    'BEACON_SIGNATURE_PERIOD at data.signature_slot',
  )
  expect(codeWith({ attested_header: finalized_header })).toBe('BEACON_SIGNATURE_MISMATCH at data')
  const other = { beacon, execution: { ...execution, block_hash: word('1') }, execution_branch: [] }
  expect(codeWith({ attested_header: other })).toBe('BEACON_BRANCH_LENGTH at data.attested_header.execution_branch')
  const { execution_branch: branch } = data.attested_header
  expect(codeWith({ attested_header: { ...other, execution_branch: branch } })).toBe(
    'BEACON_EXECUTION_MISMATCH at data.attested_header',
  )
  const aggregate = { ...data.sync_aggregate, sync_committee_bits: `0x${'00'.repeat(64)}` }
  expect(codeWith({ sync_aggregate: aggregate })).toBe('BEACON_TOO_FEW_SIGNERS at data')
  expect(verdict(() => verifyUnfinalized(bootstrap, input.committee))).toMatch(/^BEACON_MALFORMED/)
})

it('takes epochs from 0, as whole numbers', () => {
  const withEpoch = (epoch: unknown) => () =>
    decodeNetwork({ ...mainnetBeacon, forks: [{ name: 'capella', version: '0x01020304', epoch }] })
  for (const epoch of [0, null, undefined]) expect(verdict(withEpoch(epoch))).toBe('accepted')
  for (const epoch of [-1, 0.5, '1', 2 ** 53]) {
    const { code, expected } = refusal(withEpoch(epoch))
    expect([code, expected]).toEqual(['ARGUMENT_INVALID', 'an integer from 0 to 2^53 - 1'])
  }
  const many = Array.from({ length: 65 }, () => ({ name: 'capella', version: '0x01020304', epoch: 0 }))
  expect(refusal(() => decodeNetwork({ ...mainnetBeacon, forks: many }))).toMatchObject({
    ...{ code: 'ARGUMENT_INVALID', expected: 'at most 64', found: '65' },
  })
  expect(verdict(() => decodeNetwork({ ...mainnetBeacon, forks: many.slice(1) }))).toBe('accepted')
})

it('does not decode a committee again that was just proven, unless it is a copy', () => {
  const { input } = readValid('fulu')
  const [update] = input.answers.updates as unknown[]
  const first = verifyBootstrap(input.answers.bootstrap, trustedIn(input)).committee
  const known = decodeCommittee(first)
  expect(decodeCommittee(first)).toBe(known)
  const copy = structuredClone(first)
  expect(decodeCommittee(copy)).toEqual(known)
  expect(decodeCommittee(copy)).not.toBe(decodeCommittee(copy))
  // What is remembered cannot be changed: neither its keys nor the forks of its network.
  const { pubkeys, network } = first
  const [fork] = network.forks
  for (const part of [first, pubkeys, network, network.forks, fork]) expect(Object.isFrozen(part)).toBe(true)
  expect(() => Object.assign(first, { period: 7 })).toThrow(TypeError)
  const [key = '0x', ...rest] = pubkeys
  expect(verdict(() => decodeCommittee({ ...first, pubkeys: [...rest, key] }))).toBe(
    'BEACON_COMMITTEE_ROOT at committee',
  )
  // Of the two that were used last.
  const second = verifyUpdate(update, first).committee
  expect(decodeCommittee(second)).toBe(decodeCommittee(second))
  expect(decodeCommittee(first)).toBe(known)
  for (let count = 0; count < 2; count++) verifyUpdate(update, first)
  expect(decodeCommittee(first)).toBe(known)
  for (let count = 0; count < 2; count++) verifyBootstrap(input.answers.bootstrap, trustedIn(input))
  expect(decodeCommittee(first)).not.toBe(known)
  expect(decodeCommittee(first)).toEqual(known)
})

it('decodes the keys of absent members once for each of the committees used last', () => {
  const { committee } = readValid('signers-342').input
  const bits = new Uint8Array(64).fill(0xff, 1)
  const { keys, root } = decodeCommittee(committee)
  const unusable = { pubkeys: keys.pubkeys.map(() => new Uint8Array(48)), aggregatePubkey: new Uint8Array(48) }
  const found = signersKey(keys, root, bits)
  // What was decoded is not decoded again.
  expect(signersKey(unusable, root, bits).equals(found)).toBe(true)
  for (const other of [word('1'), word('2')]) {
    expect(verdict(() => signersKey(unusable, other, bits))).toBe('BEACON_KEY_POINT at aggregatePubkey')
    signersKey(keys, other, bits)
    expect(verdict(() => signersKey(unusable, root, bits))).toBe('accepted')
  }
  // Two more committees since it was used last: forgotten.
  for (const other of [word('1'), word('2')]) signersKey(keys, other, bits)
  expect(verdict(() => signersKey(unusable, root, bits))).toBe('BEACON_KEY_POINT at aggregatePubkey')
})

it('accepts a finalized Fulu header in the form of Gloas, inside a Gloas update only', () => {
  const { committee, answers } = readValid('fork-between-finalized-and-attested').input
  type Header = Parameters<typeof convertHeader>[0]
  const given = answers.finality as { data: { finalized_header: Header } }
  const header = convertHeader(given.data.finalized_header, ssz)
  const [first = '', _, ...branch] = header.execution_branch
  const converted = (change: object = {}) => ({
    ...given,
    data: { ...given.data, finalized_header: { ...header, ...change } },
  })
  const proven = verifyFinality(converted(), committee)
  expect(proven).toEqual({ ...verifyFinality(given, committee), l1BlockNumber: undefined, l1Timestamp: undefined })
  const codeOf = (change: object) => verdict(() => verifyFinality(converted(change), committee))
  expect(codeOf({ execution_block_hash: word('1') })).toMatch(/^BEACON_EXECUTION_MISMATCH/)
  expect(codeOf({ execution_branch: branch })).toMatch(/^BEACON_BRANCH_LENGTH/)
  expect(codeOf({ execution_branch: [first, word('1'), ...branch] })).toMatch(/^BEACON_BRANCH_LENGTH/)
  // A fork earlier, the update is none of Gloas.
  const forks = committee.network.forks.map(fork => (fork.name === 'gloas' ? { ...fork, epoch: 10 ** 6 } : fork))
  const earlier = { ...committee, network: { ...committee.network, forks } }
  expect(verdict(() => verifyFinality({ ...converted(), version: 'fulu' }, earlier))).toMatch(/^BEACON_(?!EXECUTION)/)
})
