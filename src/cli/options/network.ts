import { existsSync } from 'node:fs'
import { isArgumentError } from '../../base/errors.ts'
import { lowerCase } from '../../base/hex.ts'
import { lineaNetworks } from '../../client/network/linea.ts'
import { readNetwork as verifyNetwork } from '../../client/network/network.ts'
import type { StateScheme } from '../../entry/anchor.ts'
import type { BeaconNetwork } from '../../entry/beacon.ts'
import type { Hex, Scheme } from '../../entry/index.ts'
import { lineaMainnet, type Network } from '../../entry/networks.ts'
import { kindName } from '../../verify/state/kind.ts'
import { argumentRefused, didYouMean, UsageError } from '../errors.ts'
import { parseFile, readWhole } from '../files/input.ts'
import { MAX_SHOWN_LENGTH } from '../limits.ts'
import { kindNamed, kindNames, type Source } from '../words/answer.ts'
import { parseNumber } from '../words/evidence.ts'
import { cut, fieldIn, fieldsOf, isObject, parseJson, show } from '../words/value.ts'
import type { Read } from './read.ts'

export interface ChosenNetwork extends Network {
  readonly name: string
  readonly scheme: StateScheme
}

const NETWORKS: ReadonlyMap<string, ChosenNetwork> = new Map(lineaNetworks.map(network => [network.name, network]))
/** The network whose L1 has the name: people write that in its place. */
const meantBy = (name: string) => lineaNetworks.find(({ beacon }) => beacon.name === name)

interface StatedNetwork {
  readonly stated: string
  readonly network: ChosenNetwork
}

interface NetworkFlags {
  readonly network?: StatedNetwork | undefined
  readonly implementation?: Hex | undefined
}

export const readNetwork: Read<StatedNetwork> = stated => {
  return { stated, network: NETWORKS.get(stated) ?? networkIn(requirePath(stated)) }
}

/** The network that the user chooses, or the default, with the code of `--implementation`. */
export function networkOf({ network: chosen, implementation }: NetworkFlags): ChosenNetwork {
  const network = chosen?.network ?? lineaMainnet
  if (implementation === undefined) return network
  return { ...network, rollup: { ...network.rollup, implementation: lowerCase(implementation) } }
}

/** A file with a bare name could take the place of a network that somebody means, so a file is given as a path. @throws UsageError */
function requirePath(network: string): string {
  const isPath = /[./\\]/.test(network)
  if (isPath && existsSync(network)) return network
  const name = cut(network, MAX_SHOWN_LENGTH)
  const meant = meantBy(network)
  const suggestion = meant === undefined ? didYouMean(network, NETWORKS.keys()) : ` Did you mean ${meant.name}?`
  const missing = isPath ? `no such network, and no such file: ${name}` : `no such network: ${name}`
  throw new UsageError(
    `--network: ${missing}.${suggestion} Expected ${[...NETWORKS.keys()].join(', ')}, or the path of a file, such as ./network.json`,
  )
}

/** Who states the network, and what follows from it. */
export const networkSource = ({ network }: NetworkFlags): Source => (network === undefined ? 'default' : 'user')

/** The network that a file describes: as `serve --json` prints it, or alone. @throws UsageError */
function networkIn(path: string): ChosenNetwork {
  const content = contentOf(path)
  const { name = path, scheme = 'poseidon2', rollup, ...rest } = fieldsOf(fieldIn(content, 'network') ?? content)
  const { layout, ...contract } = fieldsOf(rollup)
  const network = {
    ...rest,
    name: String(name),
    scheme: requireKind(scheme, `${path}: scheme`),
    rollup: { ...contract, ...(layout !== undefined && { layout: toSlots(layout) }) },
    // Despite the type, the rest is unchecked: this refuses what is no network.
  } as unknown as ChosenNetwork
  try {
    verifyNetwork(network)
  } catch (error) {
    throw isArgumentError(error) ? argumentRefused(error, `${path}: ${error.path.replace(/^network\.?/, '')}`) : error
  }
  return network
}

/** The numbers of slots, which JSON has in decimal. */
const toSlots = (value: unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, slot]) => [name, toSlots(slot)]))
    : (parseNumber(String(value), 256) ?? value)

/** The first line of what `serve --json` prints is a JSON text of its own. @throws UsageError */
function contentOf(path: string): unknown {
  const bytes = readWhole(path)
  try {
    return parseJson(bytes.subarray(0, bytes.indexOf('\n')))
  } catch {
    return parseFile(path, bytes)
  }
}

export function requireKind(name: unknown, place = 'the scheme'): StateScheme {
  const kind = kindNamed(name)
  if (kind !== undefined) return kind.scheme
  const text = show(name)
  throw new UsageError(`${place} is neither ${kindNames.join(' nor ')}: ${text}.${didYouMean(text, kindNames)}`)
}

/** The network, as `networkIn` reads it: for `serve --json`. @param beacon in place of its own */
export function describeNetwork({ scheme, ...network }: ChosenNetwork, beacon: BeaconNetwork): object {
  return { ...network, scheme: kindName(scheme), beacon }
}

/** The hash scheme of the network, for what knows no Ethereum state. @throws UsageError */
export function schemeOf({ scheme, name }: ChosenNetwork): Scheme {
  if (typeof scheme !== 'string') return scheme
  throw new UsageError(`the network ${name} has an Ethereum state: its scheme is neither mimc nor poseidon2`)
}

export function messageServiceOf({ messageService, name }: ChosenNetwork): Hex {
  if (messageService !== undefined) return messageService
  throw new UsageError(`the network ${name} has no messageService: the file of --network has to name it`)
}
