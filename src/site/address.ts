export const tabNames = ['overview', 'proof', 'file'] as const
export type TabName = (typeof tabNames)[number]

/** What the fragment of the page's address names. It has no part of a file's content, unless it is a link that somebody made. */
export interface Address {
  /** The name of an example, `sha256-` and the digest of a file, or a file that is packed. */
  readonly source: string
  readonly tab: TabName
  /** Null for the one that the verdict is about. */
  readonly proof: number | null
}

/** Anything else names nothing. */
export function readAddress(fragment: string): Address {
  const [, source = '', tab = '', proof] =
    /^#?([a-z0-9-]{0,80}|z\.[\w-]{1,65536})(?:\/([a-z]{1,10}))?(?:\/(\d{1,6}))?$/.exec(fragment) ?? []
  return {
    source,
    tab: tabNames.find(name => name === tab) ?? 'overview',
    proof: proof === undefined ? null : Number(proof),
  }
}

export function writeAddress({ source, tab, proof }: Address): string {
  const view = proof === null ? (tab === 'overview' ? '' : `/${tab}`) : `/${tab}/${proof}`
  return `#${source}${view}`
}

export const nameOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
