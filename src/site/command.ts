import { fieldIn, itemsOf } from '../cli/words/value.ts'
import { type FieldName, fieldsFor, isOwn, keysIn, type Statement, type Subject } from './statement.ts'

/** Stands for what the visitor has not stated: nobody is to copy what the file says of itself as something that he trusts. */
const UNKNOWN = '0x…'

const commands: Readonly<Record<Subject, string>> = {
  answer: 'verify answer.json',
  bundle: 'verify bundle.json',
  logs: 'verify logs.json',
  message: 'verify message.json',
  traces: 'diff traces.json',
  call: `verify call.json --l1-block-hash ${UNKNOWN} --call ${UNKNOWN} ${UNKNOWN}`,
  vector: 'inspect vector.json',
}

const optionsOfFields: Readonly<Partial<Record<FieldName, string>>> = {
  endRoot: 'state-root',
  address: 'address',
  storageKeys: 'storage-key',
  message: 'message',
  l2Block: 'l2-block',
  implementation: 'implementation',
}
const needed: readonly FieldName[] = ['trusted', 'endRoot', 'address']

const trustedOptions: Readonly<Record<string, string>> = {
  beaconBlockRoot: 'checkpoint',
  l1BlockHash: 'l1-block-hash',
  l1StateRoot: 'l1-state-root',
  l2StateRoot: 'state-root',
}

/** The command that verifies such a file, with all that the visitor has stated or confirmed. */
export function commandOf(subject: Subject, statement: Statement): string {
  const options = fieldsFor(subject).flatMap((name): (readonly [option: string, value: unknown])[] => {
    const { value, source } = statement[name]
    const trusted = subject === 'traces' ? 'parent-root' : trustedOptions[statement.trustedKind.value]
    const option = name === 'trusted' ? trusted : optionsOfFields[name]
    if (name === 'logs') return isOwn(source) ? optionsOfLogs(value) : []
    if (option === undefined) return []
    const values = !isOwn(source) ? [] : name === 'storageKeys' ? keysIn(statement) : [value]
    return (needed.includes(name) && !values.some(isPlain) ? [UNKNOWN] : values).map(one => [option, one])
  })
  const network = networkFor(subject, statement)
  const all = [...options, ...(network === null ? [] : [['network', network] as const])]
  const words = all.filter(([, value]) => value === UNKNOWN || isPlain(value)).map(option => `--${option.join(' ')}`)
  return ['rollup-state-proof', commands[subject], ...words].join(' ')
}

/** What a shell takes as it is. */
const isPlain = (value: unknown): boolean => typeof value === 'string' && /^\w[\w,.-]{0,4000}$/.test(value)

/** What the argument of eth_getLogs is called. */
function optionsOfLogs(text: string): (readonly [option: string, value: unknown])[] {
  let asked: unknown
  try {
    asked = JSON.parse(text)
  } catch {
    return []
  }
  const of = (name: string) => fieldIn(asked, name)
  return [
    ['from-block', of('fromBlock')],
    ['to-block', of('toBlock')],
    ...[of('address')].flat().map(address => ['address', address] as const),
    ...itemsOf(of('topics')).map(topic => ['topic', [topic ?? []].flat().join() || 'any'] as const),
  ]
}

/** A file says what a rollup without a name is, and what has another hash scheme than that of today; null if neither is needed. */
function networkFor(subject: Subject, { rollup, scheme }: Statement): string | null {
  if (subject === 'traces') return scheme.value === 'mimc' ? 'network.json' : null
  if (!fieldsFor(subject).includes('rollup') || ['', 'linea'].includes(rollup.value)) return null
  return rollup.value === 'linea-sepolia' ? rollup.value : 'network.json'
}
