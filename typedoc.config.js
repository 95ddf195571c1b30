import { readFileSync } from 'node:fs'

const doors = [
  'index',
  'mimc',
  'poseidon2',
  'anchor',
  'beacon',
  'bulk',
  'rpc',
  'provider',
  'service',
  'service/demo',
  'world',
]

/** In these tables a property's value is its documentation. */
const tables = {
  'rollup-state-proof.errorMeanings': 'src/errors.ts',
  'rollup-state-proof/rpc.rpcAdvice': 'src/rpc/error.ts',
  'rollup-state-proof/provider.providerRefusals': 'src/provider/error.ts',
}
const rowsOf = file => {
  const rows = readFileSync(file, 'utf8').matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)
  // A file may have two tables with the same names.
  return [...new Set([...rows].map(([, name]) => name))]
}

/** @type {import('typedoc').TypeDocOptions} */
export default {
  name: 'rollup-state-proof',
  entryPoints: doors.map(door => `src/${door}.ts`),
  tsconfig: 'src/tsconfig.json',
  out: 'docs/api',
  readme: 'none',
  disableSources: true,
  sort: ['source-order'],
  sortEntryPoints: false,
  navigation: { includeFolders: false },
  validation: true,
  requiredToBeDocumented: [
    'Module',
    'Variable',
    'Function',
    'Class',
    'Interface',
    'TypeAlias',
    'Constructor',
    'ConstructorSignature',
    'Property',
    'Method',
    'Accessor',
    'GetSignature',
    'SetSignature',
    'CallSignature',
    'IndexSignature',
  ],
  intentionallyNotDocumented: Object.entries(tables).flatMap(([table, file]) =>
    rowsOf(file).flatMap(name => {
      const row = `${table}.__type.${name}`
      return table.endsWith('Refusals') ? [row, `${row}.__type.code`, `${row}.__type.meaning`] : [row]
    }),
  ),
  treatWarningsAsErrors: true,
}
