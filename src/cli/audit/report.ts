import type { Row } from '../words/wording.ts'

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"'\p{Cc}\p{Cf}]/gu, character => `&#${character.codePointAt(0)};`)

const STYLE = `:root{color-scheme:light dark}body{font:15px/1.45 system-ui,sans-serif;max-width:1100px;margin:24px auto;padding:0 16px;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}td{vertical-align:top;padding:4px 12px 4px 0;border-top:1px solid GrayText}`

/** What an audit found: sentences, the first of which is its verdict, and tables of cells. */
export interface AuditReport {
  readonly sentences: readonly string[]
  readonly tables: readonly (readonly Row[] | readonly (readonly string[])[])[]
}

/** A self-contained page: it loads nothing, and its policy allows no script. */
export function formatAuditReport({ sentences: [verdict = '', ...sentences], tables }: AuditReport): string {
  const rowOf = (cells: readonly (string | undefined)[]) =>
    `<tr>${cells.map(cell => `<td>${escapeHtml(cell ?? '')}</td>`).join('')}</tr>`
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>Audit</title>
<style>${STYLE}</style>
<main>
<h1>${escapeHtml(verdict)}</h1>
${sentences.map(sentence => `<p>${escapeHtml(sentence)}</p>`).join('\n')}
${tables.map(rows => `<table>\n${rows.map(rowOf).join('\n')}\n</table><br>`).join('\n')}
</main>
</html>
`
}
