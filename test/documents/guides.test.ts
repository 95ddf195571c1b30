import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PACKAGE } from '../package/build.ts'
import { blocksOf } from './blocks.ts'

/**
 * Runs each guide as a reader would: in an empty folder, block after block, in one shell. A `js` block is the file that its
 * first line names. A `text` block is the output of the commands above it, where `…` matches anything.
 *
 * Steps that need the network are replaced: the package is the local build (or the tarball GUIDES_TARBALL, installed by npm),
 * and a clone is a folder of links to this repository. `sh` blocks with a `…` are patterns for the reader to fill in, which
 * `documents.test.ts` checks.
 */
const GUIDES = ['light-client', 'relayer', 'auditor']
const PORT = '8545'
const ROOT = resolve('.')
const { GUIDES_TARBALL: TARBALL } = process.env

const folder = mkdtempSync(join(tmpdir(), 'guides-'))
const modules = join(folder, 'package/node_modules')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeAll(() => {
  const home = join(modules, 'rollup-state-proof')
  const dist = join(home, 'dist')
  cpSync(PACKAGE, home, { recursive: true })
  for (const scope of ['@noble', '@ethereumjs', 'tinypool', 'viem'])
    symlinkSync(join(ROOT, 'node_modules', scope), join(modules, scope))
  mkdirSync(join(modules, '.bin'))
  spawnSync('chmod', ['+x', join(dist, 'cli/main.js')])
  symlinkSync('../rollup-state-proof/dist/cli/main.js', join(modules, '.bin/rollup-state-proof'))

  const clone = join(folder, 'clone')
  mkdirSync(clone)
  const isLinked = (name: string) => !['.git', 'dist', 'coverage'].includes(name)
  for (const name of readdirSync(ROOT).filter(isLinked)) symlinkSync(join(ROOT, name), join(clone, name))
  symlinkSync(dist, join(clone, 'dist'))
}, 120_000)

const preamble = `
set -e -m
exec 2>&1
trap 'for pid in $(jobs -p); do kill -- -"$pid" 2>/dev/null || true; done' EXIT
npm() {
  case "$1 $2" in
    'install rollup-state-proof') ${TARBALL ? `shift 2; command npm install --silent '${TARBALL}' "$@"` : `cp -a '${modules}' node_modules`} ;;
    'ci '* | 'run build') ;;
    run\\ * | test\\ * | start\\ *) node -e 'process.exit(JSON.parse(fs.readFileSync("package.json")).scripts[process.argv[1]] ? 0 : 1)' "\${2:-$1}" ;;
    *) command npm "$@" ;;
  esac
}
${TARBALL ? '' : 'npx() { if [ "$1" = rollup-state-proof ]; then "./node_modules/.bin/$@"; else command npx "$@"; fi; }'}
git() { cp -a '${join(folder, 'clone')}' rollup-state-proof; }
`

/** Printed before the output of each block. */
const mark = (index: number) => `@@ ${index} @@`

function scriptOf(blocks: ReturnType<typeof blocksOf>, port: string): string {
  const steps = blocks.map(({ language, text }, index) => {
    if (language === 'js') {
      const name = /^\/\/ (\S+\.js)\n/.exec(text)?.[1]
      expect(name, text).toBeDefined()
      return `cat > ${name} <<'END OF THE FILE'\n${text}END OF THE FILE\n`
    }
    if (language !== 'sh' || text.includes('…')) return ''
    const isServing = /\bserve\b.*&$/m.test(text)
    // Until it answers, because it accepts connections before it prints.
    const ask = `exec 3<>/dev/tcp/127.0.0.1/${PORT} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && read -r <&3`
    const wait = isServing ? `for i in {1..300}; do (${ask}) && break; sleep 0.1; done 2>&-\n` : ''
    return `echo '${mark(index)}'\n${text}${wait}`
  })
  return (preamble + steps.join('')).replaceAll(PORT, port)
}

function freePort(): Promise<string> {
  return new Promise(found => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => found(String(typeof address === 'object' ? address?.port : PORT)))
    })
  })
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
  const blocks = blocksOf(`docs/${name}.md`)
  const cwd = join(folder, name)
  mkdirSync(cwd)
  const port = await freePort()
  const script = scriptOf(blocks, port)
  const { status, stdout } = spawnSync('bash', ['-c', script], { cwd, encoding: 'utf8', timeout: 110_000 })
  expect(status, stdout).toBe(0)

  const printed = stdout.replaceAll(port, PORT)
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

it('leaves no files behind', () => expect(existsSync('bundle.json')).toBe(false))
