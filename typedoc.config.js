const doors = [
  'index',
  'mimc',
  'poseidon2',
  'anchor',
  'beacon',
  'blocks',
  'messages',
  'transition',
  'rpc',
  'provider',
  'provider/evm',
]

/** @type {import('typedoc').TypeDocOptions} */
export default {
  name: 'rollup-state-proof',
  entryPoints: [...doors.map(door => `src/entry/${door}.ts`), 'src/devnet/index.ts'],
  tsconfig: 'tsconfig.json',
  out: 'site',
  disableSources: true,
  sort: ['source-order'],
  sortEntryPoints: false,
  groupOrder: ['Guides', 'Reference', 'Project', '*'],
  navigation: { includeFolders: false, includeGroups: true },
  // A slash stands for the root of the site.
  navigationLinks: {
    Guides: '/documents/Documentation.html',
    API: '/modules.html#modules',
    Explorer: '/explorer/index.html',
  },
  favicon: 'docs/explorer/icon.svg',
  hideGenerator: true,
  highlightLanguages: ['ts', 'js', 'sh', 'json', 'scala', 'yaml'],
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
  // The types of their keys are written out there.
  intentionallyNotExported: [
    ...['answer', 'evidence', 'beacon', 'blocks', 'messages', 'transition'].map(
      family => `src/base/error-meanings.ts:${family}`,
    ),
    ...['client/transport', 'provider'].map(room => `src/${room}/error.ts:meanings`),
    // Parts of the types that refer to them.
    ...['src/verify/evidence/types.ts:StateOf', 'src/verify/evidence/logs.ts:LogsAnchor'],
  ],
  treatWarningsAsErrors: true,
}
