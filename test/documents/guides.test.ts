import { execFile, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createService, createWorld } from '../../src/devnet/index.ts'
import { demoCode, tokenSlots } from '../../src/devnet/service/demo-contracts.generated.ts'
import { lineaRollup } from '../../src/entry/anchor.ts'
import { slotKey } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { finalizedBlockHash } from '../../src/entry/rpc.ts'
import { COMMAND_PACKAGE, DEVNET_PACKAGE, PACKAGE, PROGRAM } from '../package/build.ts'
import { freePort } from '../port.ts'
import { blocksOf } from './blocks.ts'

/**
 * Runs each guide as a reader would: in an empty folder, block after block, in one shell. A `js` block is the file that its
 * first line names. A `text` block is the output of the commands above it, where `…` matches anything.
 *
 * Most begin where docs/install.md ends: its commands run before theirs.
 *
 * Steps that need the network are replaced: the package is the local build (or the tarballs in GUIDES_TARBALLS, installed by npm),
 * and a clone is a folder of links to this repository. `sh` blocks with a `…` are patterns for the reader to fill in, which
 * `documents.test.ts` checks.
 */
const GUIDES = ['light-client', 'proxy', 'evidence', 'rollups', 'relayer', 'auditor', 'scrutiny', 'messages']
/** Where most guides tell their reader to begin, and the commands there. */
const START = 'install.md#from-an-empty-folder'
const SETUP = blocksOf('docs/install.md').filter(({ language }) => language === 'sh')
/** The ports in the guides. Each run has others. */
const PORTS = ['8545', '8546'] as const
const ROOT = resolve('.')
const { GUIDES_TARBALLS: TARBALLS } = process.env

const folder = mkdtempSync(join(tmpdir(), 'guides-'))
const modules = join(folder, 'package/node_modules')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeAll(() => {
  for (const home of [PACKAGE, COMMAND_PACKAGE, DEVNET_PACKAGE]) {
    cpSync(home, join(modules, basename(home)), { recursive: true })
  }
  for (const scope of ['@noble', '@ethereumjs', 'tinypool', 'viem', 'ws'])
    symlinkSync(join(ROOT, 'node_modules', scope), join(modules, scope))

  const clone = join(folder, 'clone')
  mkdirSync(clone)
  const isLinked = (name: string) => !['.git', 'dist', 'coverage'].includes(name)
  for (const name of readdirSync(ROOT).filter(isLinked)) symlinkSync(join(ROOT, name), join(clone, name))
  // As after `npm run build`.
  symlinkSync(join(modules, basename(PACKAGE), 'dist'), join(clone, 'dist'))
})

const preamble = `
set -e -m
exec 2>&1
trap 'for pid in $(jobs -p); do kill -- -"$pid" 2>/dev/null || true; done' EXIT
tarball() {
  case "$1" in
    *.tgz) echo '${TARBALLS}'/"\${1##*/}" ;;
    rollup-state-proof*) echo '${TARBALLS}'/"$1"-[0-9]*.tgz ;;
    *) echo "$1" ;;
  esac
}
npm() {
  case "$1 $2" in
    'install '*) ${
      TARBALLS
        ? 'shift; command npm install --silent $(for name in "$@"; do tarball "$name"; done)'
        : `[ -d node_modules ] || cp -a '${modules}' node_modules`
    } ;;
    'ci '* | 'run build') ;;
    'run vectors') command npm run --silent vectors ;;
    run\\ * | test\\ * | start\\ *) node -e 'process.exit(JSON.parse(fs.readFileSync("package.json")).scripts[process.argv[1]] ? 0 : 1)' "\${2:-$1}" ;;
    *) command npm "$@" ;;
  esac
}
${TARBALLS ? '' : `npx() { if [ "$1" = rollup-state-proof ]; then node '${resolve(PROGRAM)}' "\${@:2}"; else command npx "$@"; fi; }`}
git() { cp -a '${join(folder, 'clone')}' rollup-state-proof; }
`

/** Printed before the output of each block. */
const mark = (index: number) => `@@ ${index} @@`

function scriptOf(blocks: ReturnType<typeof blocksOf>): string {
  const steps = blocks.map(({ language, text }, index) => {
    if (language === 'js') {
      const name = /^\/\/ (\S+\.m?js)\n/.exec(text)?.[1]
      expect(name, text).toBeDefined()
      return `cat > ${name} <<'END OF THE FILE'\n${text}END OF THE FILE\n`
    }
    if (language !== 'sh' || text.includes('…')) return ''
    const served = [...text.matchAll(/--port (\d+).* &$/gm)].map(([, port]) => {
      // Until it answers, because it accepts connections before it prints.
      const ask = `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && read -r <&3`
      return `until (${ask}); do [ -n "$(jobs -r)" ] || exit 1; sleep 0.1; done 2>&-\n`
    })
    const wait = served.join('')
    return `echo '${mark(index)}'\n${text}${wait}`
  })
  return preamble + steps.join('')
}

const toPattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Expects every line of `expected` in `printed`, in the same order. `…` matches anything. */
function expectPrinted(printed: string, expected: string): void {
  const lines = printed.split('\n').map(line => line.trimEnd())
  let from = 0
  for (const line of expected.trimEnd().split('\n')) {
    if (line.trim() === '…') continue
    const pattern = new RegExp(`^${line.trimEnd().split('…').map(toPattern).join('.*')}$`)
    const found = lines.findIndex((text, index) => index >= from && pattern.test(text))
    expect(found, `"${line}" in\n${printed}`).toBeGreaterThanOrEqual(from)
    from = found + 1
  }
}

it.each(GUIDES)('runs the guide %s', async name => {
  const page = `docs/${name}.md`
  const setup = readFileSync(page, 'utf8').includes(`](${START})`) ? SETUP : []
  const blocks = [...setup, ...blocksOf(page)]
  const cwd = join(folder, name)
  mkdirSync(cwd)
  const ports = await Promise.all(PORTS.map(async port => ({ port, free: `${await freePort()}` })))
  const script = ports.reduce((text, { port, free }) => text.replaceAll(port, free), scriptOf(blocks))
  const { status, stdout } = spawnSync('bash', ['-c', script], { cwd, encoding: 'utf8', timeout: 600_000 })
  expect(status, stdout).toBe(0)

  // Not where it is a part of a hash.
  const isFree = (free: string) => new RegExp(`\\b${free}\\b`, 'g')
  const printed = ports.reduce((text, { port, free }) => text.replaceAll(isFree(free), port), stdout)
  let [run, compared, last] = [0, 0, -1]
  for (const [index, { language, text }] of blocks.entries()) {
    if (language === 'sh' && !text.includes('…')) {
      expect(printed).toContain(mark(index))
      last = index
      run++
    }
    if (language !== 'text') continue
    const [, after = ''] = printed.split(`${mark(last)}\n`)
    expectPrinted(after.split(/^@@ \d+ @@$/m)[0] ?? '', text)
    compared++
  }
  expect(run).toBeGreaterThan(2)
  expect(compared).toBeGreaterThan(0)
  console.info(`${name}: ${run} sh blocks run, ${compared} outputs compared`)
})

/** The commands and programs for mainnet, in the documents. */
const MAINNET = { 'README.md': undefined, 'docs/light-client.md': 'supply.mjs' }
const PUBLIC = { l1Url: 'https://ethereum-rpc.publicnode.com', url: 'https://rpc.linea.build' }

it('runs what the documents offer for mainnet, against a service with the same contracts', async () => {
  const genesis = createWorld(poseidon2)
  const token = '0x176211869cA2b568f2A7D4EE941E073a821EE1ff'
  genesis.setAccount('0xe5D7C2a44FfDDf6b295A15c148167daaAf5Cf34f', { balance: 50_000_500_000_000_000_000_000n })
  genesis.setAccount(token, { code: demoCode.token })
  genesis.setStorage(token, { key: slotKey(tokenSlots.totalSupply), value: slotKey(7n * 10n ** 18n) })
  const service = createService({ genesis, rollup: lineaRollup })
  const local = await service.listen()
  const hash = await finalizedBlockHash(local.l1Url)()
  const cwd = join(folder, 'mainnet')
  mkdirSync(cwd)

  let script = `${preamble}npm init -y\nnpm install rollup-state-proof rollup-state-proof-cli viem\n`
  for (const [file, name] of Object.entries(MAINNET)) {
    const isHere = ({ language, text }: { language: string; text: string }) =>
      language === 'js' ? text.startsWith(`// ${name}\n`) : /publicnode|weth\.json/.test(text) && language === 'sh'
    const blocks = blocksOf(file).filter(isHere)
    script += scriptOf(blocks.map(block => ({ ...block, text: block.text.replace('0x…', hash) }))).replace(preamble, '')
    if (name !== undefined) script += `node ${name}\n`
  }
  for (const name of ['l1Url', 'url'] as const) {
    expect(script).toContain(PUBLIC[name])
    script = script.replaceAll(PUBLIC[name], local[name])
  }
  expect(script).not.toMatch(/https:|…/)
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd, timeout: 600_000 })
  await service.close()
  expect(stdout.match(/^(Consistent|Verified).* this account exists\.$/gm)).toEqual([
    'Consistent: nobody has confirmed the L1 block hash. If it is right, this account exists.',
    'Verified, for the L2 block that the bundle names: this account exists.',
  ])
  expect(stdout).toMatch(/balance +50000500000000000000000/)
  expect(stdout).toMatch(/^7 tokens at block 0, at least \d+ minutes ago$/m)
})

it('leaves no files behind', () => expect(existsSync('bundle.json')).toBe(false))
