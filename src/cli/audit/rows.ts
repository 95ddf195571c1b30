/** How rows are written: `ndjson`, an object per line, or `csv`. */
export type RowFormat = 'ndjson' | 'csv'

export const formatOf = (path: string): RowFormat => (path.endsWith('.csv') ? 'csv' : 'ndjson')

/** Numbers, hexadecimal and fixed names, by column. */
export type Row = Readonly<Record<string, unknown>>

/** A format for rows with these columns. What a row does not have is empty in CSV, and left out of JSON. */
export function rowWriter(columns: readonly string[], format: RowFormat) {
  const isCsv = format === 'csv'
  return {
    /** The line before the rows; empty if the format has none. */
    heading: isCsv ? `${columns.join()}\n` : '',
    lineOf(row: Row): string {
      // Nothing in a row needs quotes.
      if (isCsv) return `${columns.map(name => `${row[name] ?? ''}`).join()}\n`
      const fields = columns.flatMap(name => (row[name] == null ? [] : [[name, row[name]] as const]))
      return `${JSON.stringify(Object.fromEntries(fields), (_, field) => (typeof field === 'bigint' ? `${field}` : field))}\n`
    },
  }
}
