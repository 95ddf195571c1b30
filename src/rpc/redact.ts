/** Takes what must not be seen out of a text. */
export type Redact = (text: string) => string

const URLS = /[a-z][a-z0-9+.-]*:\/\/[^\s"'<>\\]+/gi
/** Shorter parts of a path are words such as `v3`, not keys. */
const MIN_SECRET_LENGTH = 8

/** Takes out every URL: clients like to put theirs, with the key in it, into their messages. */
export const redactUrls: Redact = text => text.replace(URLS, '[URL]')

/** Also takes out every part of `url` that may be a key, for endpoints like to repeat the key that they refuse. */
export function redactorOf(url: URL): Redact {
  const parts = [...url.pathname.split('/'), ...url.searchParams.values(), ...url.search.slice(1).split(/[&=]/)]
  const secrets = [...parts, ...parts.map(decodeLoosely)].filter(part => part.length >= MIN_SECRET_LENGTH)
  return text => secrets.reduce((running, secret) => running.replaceAll(secret, '[key]'), redactUrls(text))
}

function decodeLoosely(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The same JSON value with its texts redacted; undefined when it is no JSON value. */
export function redactValue(value: unknown, redact: Redact): unknown {
  try {
    return JSON.parse(redact(JSON.stringify(value)))
  } catch {
    return undefined
  }
}
