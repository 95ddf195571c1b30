/** Draws the table of single answers: one bar per engine, on a logarithmic scale. */

const QUESTION = 'account and ten slots'
/** Columns of the table, without the factors between them. */
const ENGINES: Readonly<Record<string, number>> = {
  Reference: 1,
  Fallback: 2,
  'Kernel, every node hashed': 4,
  Kernel: 6,
}
const [LEFT, TOP, ROW, DECADE] = [230, 54, 26, 130]
/** The scale starts at 100 µs and ends at 1 s. */
const xOf = (microseconds: number): number => LEFT + DECADE * (Math.log10(microseconds) - 2)
const TICKS: Readonly<Record<string, number>> = { '0.1 ms': 1e2, '1 ms': 1e3, '10 ms': 1e4, '100 ms': 1e5, '1 s': 1e6 }
const milliseconds = (microseconds: number): string => `${Number((microseconds / 1000).toPrecision(3))} ms`

const STYLE = `    text { font: 14px system-ui, sans-serif; fill: #1f2328 }
    .note { font-size: 13px; fill: #59636e }
    .mid { text-anchor: middle }
    .end { text-anchor: end }
    .card { fill: #ffffff; stroke: #d1d9e0 }
    .bar { fill: #1d6fd8 }
    .other { fill: #818b98 }
    .line { stroke: #818b98 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 }
      .note { fill: #9da7b3 }
      .card { fill: #0d1117; stroke: #3d444d }
      .bar { fill: #5aa2f5 }
      .other { fill: #7d8590 }
      .line { stroke: #7d8590 }
    }`

/** @param table the rows of single answers, as Markdown */
export function drawChart(table: string): string {
  const rows = table
    .split('\n')
    .map(line => line.split('|').map(cell => cell.trim()))
    .filter(([, name = '']) => name.endsWith(`: ${QUESTION}`))
  if (rows.length === 0) throw new Error(`no row of the table is of ${QUESTION}`)
  const bars: string[] = []
  let top = TOP
  for (const [, name = '', ...cells] of rows) {
    bars.push(`  <text x="24" y="${top + 18}">${name.split(':')[0]}</text>`)
    for (const [engine, column] of Object.entries(ENGINES)) {
      const time = Number(cells[column - 1])
      const width = (xOf(time) - LEFT).toFixed(1)
      bars.push(
        `  <text class="note end" x="${LEFT - 8}" y="${top + 18}">${engine}</text>`,
        `  <rect class="${engine === 'Kernel' ? 'bar' : 'other'}" x="${LEFT}" y="${top + 4}" width="${width}" height="${ROW - 8}"/>`,
        `  <text class="note" x="${(xOf(time) + 6).toFixed(1)}" y="${top + 18}">${milliseconds(time)}</text>`,
      )
      top += ROW
    }
    top += ROW / 2
  }
  // The bars have labels: lines across them would only cross these.
  const axis = `  <path class="line" d="M${LEFT} ${top}H${xOf(1e6)}"/>`
  const ticks = Object.entries(TICKS).flatMap(([label, time]) => [
    `  <path class="line" d="M${xOf(time)} ${top - 6}v6"/>`,
    `  <text class="note mid" x="${xOf(time)}" y="${top + 18}">${label}</text>`,
  ])
  const height = top + 34
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 ${height}" width="820" height="${height}" role="img" aria-labelledby="title desc">`,
    '  <title id="title">Time to verify an account and ten slots</title>',
    `  <desc id="desc">${describe(rows)}</desc>`,
    `  <style>\n${STYLE}\n  </style>`,
    `  <rect class="card" x="0.5" y="0.5" width="819" height="${height - 1}" rx="8"/>`,
    '  <text x="24" y="32">Time to verify an account and ten slots, on a logarithmic scale</text>',
    axis,
    ...ticks,
    ...bars,
    '</svg>\n',
  ].join('\n')
}

/** The figures of the chart in words. */
function describe(rows: readonly (readonly string[])[]): string {
  return rows
    .map(([, name = '', ...cells]) => {
      const times = Object.entries(ENGINES).map(([engine, column]) => {
        return `${engine} ${milliseconds(Number(cells[column - 1]))}`
      })
      return `${name.split(':')[0]}: ${times.join('; ')}.`
    })
    .join(' ')
}
