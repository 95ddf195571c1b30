import { MAX_TEXT_LENGTH } from './limits.ts'

export type RedactText = (text: string) => string

/**
 * Removes secrets from a text. What counts as a secret is decided here alone:
 *
 * - anything that looks like a URL, or like the path of one from a version such as `/v3/` on, plain or percent-encoded;
 * - the host and `host:port` of the endpoint's own URL;
 * - every part of that URL that can be a key: query values, path segments, user and password, long labels of the host.
 *   A part of 4 or more characters is removed wherever it occurs. A shorter one is removed only as a separate word, because
 *   inside words it would turn every text into noise. Path segments that name an interface or a network (`rpc`, `mainnet`,
 *   `v2`, numbers below 1000) are not keys.
 *
 * A key is recognised in upper and lower case, with any of its characters percent-encoded or as a JSON escape, and by its
 * beginning where a text was cut, which `…` marks. It is not recognised if the endpoint has split, reversed or encrypted it.
 */
export interface Redact extends RedactText {
  /** Whether hexadecimal contains a key. Only long keys are looked for, because a short one may occur in honest data. */
  isInHex(hex: string): boolean
}

const SLASH = String.raw`(?:\\{0,4}\/|%(?:25){0,3}2f)`
const COLON = '(?::|%(?:25){0,3}3a)'
/** Without the scheme, which no pattern could match in linear time. */
const URL_TEXT = new RegExp(String.raw`${COLON}${SLASH}{2}[^\s"'<>]*`, 'gi')
const VERSIONED_PATH = new RegExp(String.raw`${SLASH}v\d{1,2}${SLASH}[^\s"'<>]*`, 'gi')

/** What the URL of an endpoint consists of besides the key. */
const ORDINARY_SEGMENT =
  /^(?:v?\d{1,3}|v\d\.\d|api|rpc|jsonrpc|json-rpc|http|https|ws|wss|json|eth|evm|l1|l2|node|nodes|public|main|mainnet|testnet|devnet|sepolia|goerli|hoodi|linea|ethereum|chain|chains|block|network|archive|full|proof|key|keys|project|projects|lb|app|apps)$/i
const ANYWHERE_LENGTH = 4
const MIN_LABEL_LENGTH = 8
const IN_HEX_LENGTH = 16

/** Without what has the form of a URL. The paths of files stay. */
export const removeUrls = (text: string): string =>
  text
    // The locations in a stack trace are files of the program.
    .replace(URL_TEXT, (found, at: number) =>
      found.startsWith(':///') && text.slice(Math.max(at - 4, 0), at) === 'file' ? found : '[URL]',
    )
    .replace(/(?:https?|wss?)\[URL\]/gi, '[URL]')

const withoutUrls = (text: string) => removeUrls(text).replace(VERSIONED_PATH, '[URL]')

/** For an endpoint whose URL is unknown: removes what looks like a URL. */
export const redactUrls: Redact = Object.assign(withoutUrls, { isInHex: () => false })

/** For the endpoint at `url`: also removes every part of the URL that may be a key. */
export function redactorOf(url: URL): Redact {
  const keys = keysOf(url)
  const patterns = keys.map(key => {
    const characters = Array.from(key, patternOf)
    const isAnywhere = characters.length >= ANYWHERE_LENGTH
    const whole = characters.join('')
    return {
      whole: isAnywhere ? whole : `(?<![a-z0-9])${whole}(?![a-z0-9])`,
      beginning: characters.reduceRight((rest, character) => `${character}(?:${rest})?`, '(?:)'),
    }
  })
  const whole = new RegExp(patterns.map(pattern => pattern.whole).join('|'), 'giu')
  // It may be followed by the beginning of an encoded character.
  const end = String.raw`(?:%[0-9a-f]{0,8}|\\u?[0-9a-f]{0,4})?(?=…)`
  const beginning = new RegExp(`(?:${patterns.map(pattern => pattern.beginning).join('|')})${end}`, 'giu')
  const hexKeys = keys.filter(key => key.length >= IN_HEX_LENGTH && /^[0-9a-f]*$/i.test(key))
  return Object.assign((text: string) => withoutUrls(text.replace(beginning, '').replace(whole, '[key]')), {
    isInHex: (hex: string) => hexKeys.some(key => hex.toLowerCase().includes(key.toLowerCase())),
  })
}

/** The header for the user and password in a URL; undefined if there are none. */
export function basicAuthorization({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined
  const bytes = new TextEncoder().encode(`${tryDecodeUri(username)}:${tryDecodeUri(password)}`)
  return `Basic ${btoa(String.fromCharCode(...bytes))}`
}

/** Longest first, so that no key is removed only in part. */
function keysOf(url: URL): string[] {
  const { username, password, host, hostname, pathname, search, searchParams, hash } = url
  const segments = pathname.split('/').filter(segment => !ORDINARY_SEGMENT.test(segment))
  const labels = hostname.split('.').filter(label => label.length >= MIN_LABEL_LENGTH)
  // If a parameter has no value, as in `?key`, its name may be the key.
  const names = search.slice(1).split(/[&=]/)
  const parameters = [...searchParams.values(), ...names.filter(name => !searchParams.get(name))]
  const parts = [host, hostname, ...labels, username, password, ...segments, ...parameters, hash.slice(1)]
  // Who decodes it needs no padding, and may spell it for URLs.
  const basic = (basicAuthorization(url) ?? '').replace(/^Basic |={1,2}$/g, '')
  const spelt = [...parts, ...parts.map(tryDecodeUri), basic, basic.replaceAll('+', '-').replaceAll('/', '_')]
  const keys = new Set(spelt.flatMap(part => [part, part.toUpperCase()]))
  keys.delete('')
  return [...keys].sort((a, b) => b.length - a.length)
}

function tryDecodeUri(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** One character: as it is, percent-encoded up to four times, or as a JSON escape. */
function patternOf(character: string): string {
  const digits = (code: number, length: number) => code.toString(16).padStart(length, '0')
  const bytes = Array.from(new TextEncoder().encode(character), byte => `%(?:25){0,3}${digits(byte, 2)}`)
  const units = character.split('').map(unit => String.raw`\\u${digits(unit.charCodeAt(0), 4)}`)
  return `(?:${character.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}|${bytes.join('')}|${units.join('')})`
}

/** The only way in for untrusted text: cut to {@link MAX_TEXT_LENGTH}, shown as JSON if it is none, and redacted before it is read. */
export function admitText(value: unknown, redact: RedactText): string {
  const text = typeof value === 'string' ? value : showJson(value)
  return redact(text.length <= MAX_TEXT_LENGTH ? text : `${text.slice(0, MAX_TEXT_LENGTH - 1)}…`)
}

function showJson(value: unknown): string {
  try {
    const show = (_: string, part: unknown) => (typeof part === 'bigint' ? `${part}` : part)
    return JSON.stringify(value, show) ?? `a value of type ${typeof value}`
  } catch {
    return 'something that cannot be read'
  }
}
