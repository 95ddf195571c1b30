import { plural } from '../base/errors.ts'
import { messageOf } from '../cli/words/value.ts'
import { type Address, nameOf, readAddress, writeAddress } from './address.ts'
import { button, byId, copy, createTabs, h, nodesOf, rowList, showCopied } from './dom.ts'
import { createEngine } from './engine.ts'
import type { ExampleSource } from './examples.ts'
import { changedDigits, type FileTree, fileTree, focusDigits, forgetDigits, refocusDigit } from './file-view.ts'
import { clear, fieldOf, fill, forgetFile, listenToForm, readStatement, showReport } from './form.ts'
import { MAX_KEPT_BYTES, MAX_NAME_CHARACTERS } from './limits.ts'
import { LINKED, packFile, unpackFile } from './linked.ts'
import { chainView, overview, verdictText } from './overview.ts'
import type { Place } from './part.ts'
import { applyPatches } from './patches.ts'
import { proofSection } from './proof-section.ts'
import type { Report } from './report.ts'

/** With `base`, its content is a list of changes to that of another one. */
type Example = Omit<ExampleSource, 'path'> & { readonly content: unknown; readonly base?: string }
/** The build inserts it. */
declare const PAGE_VERSION: string
declare const rollupStateProofExamples: readonly Example[]

const fileStatus = byId('file-status', HTMLElement)
const shareButton = byId('share', HTMLButtonElement)
const results = byId('results', HTMLElement)
const verdict = byId('verdict', HTMLElement)
const verdictStatus = byId('verdict-text', HTMLElement)
const chain = byId('chain', HTMLElement)
const views = byId('views', HTMLElement)
const statement = byId('statement', HTMLDetailsElement)

interface Shown {
  readonly name: string
  readonly digest: string
  readonly example: Example | undefined
  readonly tree: FileTree
  report: Report | null
}
let shown: Shown | null = null
let address = readAddress('')
/** The proof that was asked for last. */
let shownProof = ''
let timer = 0
/** Counts what was opened or cleared: what comes late of an earlier one is dropped. */
let turn = 0

/** Kept beside an address, for a reload and the back button: a file that is not too large, and nothing of what the visitor said. */
interface Kept {
  readonly name: string
  readonly text: string | null
}
// Nothing else is kept there.
const kept = (): Kept => history.state ?? { name: '', text: null }

const engine = createEngine()
const tabs = createTabs(tab => void go({ ...address, tab }))

/** Changes the address, which the page follows. */
function go(next: Address, replaces = false, state: Kept = kept()): Promise<void> {
  address = next
  const fragment = writeAddress(next)
  if (replaces || fragment === location.hash) history.replaceState(state, '', fragment)
  else history.pushState(state, '', fragment)
  return showView()
}

/** Shows what the address names: the visitor came with it, or went back or forward. */
function follow(): void {
  const next = readAddress(location.hash)
  const source = next.source || start
  const isSame = source === address.source && shown !== null
  address = { ...next, source }
  if (isSame) {
    void showView()
    return
  }
  const example = rollupStateProofExamples.find(({ title }) => nameOf(title) === source)
  const { name, text } = kept()
  if (example) openExample(example, true)
  else if (text !== null) void open(name, new Blob([text]), { replaces: true })
  else if (source.startsWith(LINKED)) void open('The file of the link', unpackFile(source), { replaces: true })
  else if (source.startsWith('sha256-')) {
    const digest = `${source.slice(7, 23)}…`
    showNothing(
      `This address is of a file with the SHA-256 ${digest}, which it does not contain. Open the file to see it.`,
    )
  } else showNothing('This address names no example.')
}

/** Ends whatever the page does with a file, and returns the number of what comes now. */
function close(): number {
  clearTimeout(timer)
  engine.forget()
  shown = null
  forgetDigits()
  showChanged()
  shareButton.hidden = true
  for (const old of [views, chain]) old.inert = true
  return ++turn
}

/** Opens a file. @param content null if there is none in a link @param replaces whether the address is already of it, and of one of its views */
async function open(
  name: string,
  content: Blob | Promise<Blob | null>,
  { example, replaces = false }: { readonly example?: Example; readonly replaces?: boolean } = {},
): Promise<void> {
  const mine = close()
  setStale(true)
  fileStatus.textContent = `Reading ${name}…`
  await attempt(async () => {
    const blob = await content
    if (mine !== turn) return
    if (blob === null) {
      throw new Error('This link carries no file that this page can unpack: it is incomplete, or too large.')
    }
    const { kind, fields, holds, suggested, digest } = await engine.ask('load', blob)
    // On disk, it may change.
    const text = example || blob.size > MAX_KEPT_BYTES ? null : await blob.text().catch(() => null)
    if (mine !== turn) return
    const tree = fileTree(askPart, (proof, place) => void goToBytes(proof, place))
    shown = { name, digest, example, tree, report: null }
    tabs.fill('file', tree.content)
    fill(suggested, fields, example !== undefined)
    fileStatus.textContent = `${name}: ${kind}, ${holds}.`
    shareButton.hidden = false
    const source = example ? nameOf(example.title) : `sha256-${digest}`
    // The address is that of the file before its verdict: the visitor can already type, which starts another verdict.
    const next: Address = replaces ? { ...address, source } : { source, tab: 'overview', proof: null }
    void go(next, replaces, { name, text })
    await judge()
    if (!replaces && verdict.getBoundingClientRect().top > window.innerHeight * 0.8) verdict.scrollIntoView()
  })
}

const askPart = (place: Place, start: number) => engine.ask('part', place, start).catch(() => null)

async function goToBytes(proof: number, place: Place): Promise<void> {
  await go({ ...address, tab: 'proof', proof })
  focusDigits('#bytes', place)
}

function findInFile(place: Place): void {
  void go({ ...address, tab: 'file' })
  void shown?.tree.find(place)
}

/** A digit is another one, or was put back. */
function judgeChanged(): void {
  showChanged()
  judgeSoon(0)
}

function showChanged(): void {
  const { length } = changedDigits()
  byId('changed', HTMLElement).hidden = length === 0
  const text = `You changed ${plural(length, 'digit')} of this file. This is not what the server sent.`
  byId('changed-text', HTMLElement).textContent = text
}

async function judge(): Promise<void> {
  if (shown === null) return
  const report = await engine.ask('verify', readStatement(), changedDigits())
  shown.report = report
  verdict.setAttribute('data-verdict', report.verdict)
  showReport(report)
  verdictStatus.replaceChildren(...verdictText(report))
  chain.replaceChildren(...nodesOf(chainView(report, goToProof)))
  tabs.fill('overview', overview(report, goToProof))
  showRecord(shown, report)
  await showProof(report)
  views.hidden = false
  setStale(false)
  void showView()
  byId('changed-verdict', HTMLElement).textContent = `${report.badge}.`
  refocusDigit()
}

/** What a printed page says of itself. */
function showRecord({ name, digest }: Shown, { badge, headline }: Report): void {
  const rows = {
    File: name,
    'SHA-256': digest,
    Verdict: `${badge}. ${headline}`,
    'Verified on': new Date().toISOString(),
    With: `rollup-state-proof ${PAGE_VERSION}, the explorer`,
    'Digits changed by hand': `${changedDigits().length}`,
  }
  byId('record', HTMLElement).replaceChildren(rowList(Object.entries(rows), 'the file'))
}

function goToProof(proof: number): void {
  void go({ ...address, tab: 'proof', proof })
  byId('proof', HTMLElement).focus()
}

/** The proof that the address names or, if something was refused, the one that was. */
function wantedProof({ verdict: name, shown: index, proofs }: Report): number {
  const wanted = address.proof ?? (name === 'refused' ? undefined : shown?.example?.proof)
  return wanted !== undefined && wanted < Math.max(1, proofs.length) ? wanted : index
}

async function showProof(report: Report): Promise<void> {
  const index = wantedProof(report)
  shownProof = writeAddress({ ...address, tab: 'proof', proof: index })
  const { proof, place } = await engine.ask('proof', index)
  const isJudged = report.verdict !== 'unjudged'
  tabs.fill('proof', proof === null ? [] : proofSection(proof, place, isJudged, goToProof, findInFile))
}

async function showView(): Promise<void> {
  const report = shown?.report
  // Whatever is still to be verified is shown afterwards.
  if (!report || results.hasAttribute('data-stale')) return
  tabs.show(address.tab)
  const wanted = writeAddress({ ...address, tab: 'proof', proof: wantedProof(report) })
  if (wanted !== shownProof) await attempt(() => showProof(report).then(() => tabs.show(address.tab)))
}

/** Old results stay where they are, so that nothing moves, but they must not pass for those of a new question. */
function setStale(isStale: boolean): void {
  results.toggleAttribute('data-stale', isStale)
  verdict.setAttribute('aria-busy', String(isStale))
  if (isStale) {
    byId('changed-verdict', HTMLElement).textContent = 'Verifying…'
    showNoVerdict('Verifying…', '\u00a0', '\u00a0')
  } else for (const part of [views, chain]) part.inert = false
}

function showNoVerdict(badge: string, headline: string, text: string): void {
  verdict.setAttribute('data-verdict', 'none')
  verdictStatus.replaceChildren(...verdictText({ badge, headline, text }))
  byId('record', HTMLElement).replaceChildren()
}

async function attempt(work: () => Promise<void>): Promise<void> {
  const mine = turn
  try {
    await work()
  } catch (error) {
    if (mine === turn) showNothing(messageOf(error))
  }
}

function showNothing(message: string): void {
  close()
  setStale(false)
  forgetFile()
  fileStatus.textContent = message
  showNoVerdict('Nothing to verify', message, 'Open a file, or choose an example.')
  chain.replaceChildren()
  views.hidden = true
}

/** Judges what the form and the digits say now: a verdict on what they said before must not arrive any more. */
function judgeSoon(delay: number, then: () => void = () => {}): void {
  clearTimeout(timer)
  // A file that is still read gets its verdict without being asked for.
  if (shown === null) return
  engine.forget()
  setStale(true)
  timer = window.setTimeout(() => void attempt(() => judge().then(then)), delay)
}

const openText = (text: string): void => void open('The pasted text', new Blob([text]))

function openExample(example: Example, replaces = false): void {
  const base = rollupStateProofExamples.find(({ title }) => title === example.base)
  const content = base ? applyPatches(example.content, base.content) : example.content
  void open(`Example “${example.title}”`, new Blob([JSON.stringify(content)]), { example, replaces })
}

function openFiles([file, ...others]: readonly File[]): void {
  if (others.length > 0) showNothing(`These are ${1 + others.length} files. This page shows one at a time.`)
  else if (file) void open(file.name.slice(0, MAX_NAME_CHARACTERS), file)
}

function listExamples(): void {
  const menu = byId('examples', HTMLElement)
  for (const group of new Set(rollupStateProofExamples.map(({ group }) => group))) {
    const items = rollupStateProofExamples
      .filter(one => one.group === group)
      .map(one => {
        const choose = () => {
          menu.hidePopover()
          openExample(one)
        }
        return h('li', {}, button({}, choose, one.title))
      })
    menu.append(h('section', {}, h('h3', {}, group), h('ul', {}, ...items)))
  }
}

/** Leads to the field that is missing or wrong, wherever the page is. */
function fixField(): void {
  const field = shown?.report ? fieldOf(shown.report) : null
  for (let part: Element | null = field; part; part = part.parentElement) {
    if (part instanceof HTMLDetailsElement) part.open = true
  }
  ;(field ?? verdict).focus()
}

function listenToFiles(): void {
  const file = byId('choose', HTMLInputElement)
  file.addEventListener('change', () => {
    openFiles([...(file.files ?? [])])
    file.value = ''
  })
  const paste = byId('paste', HTMLTextAreaElement)
  // Browsers are slow to lay out long texts.
  paste.addEventListener('paste', event => {
    event.preventDefault()
    openText(event.clipboardData?.getData('text') ?? '')
  })
  paste.addEventListener('change', () => {
    openText(paste.value)
    paste.value = ''
  })
  // The whole window accepts drops, because the browser would leave the page for a file dropped outside the target.
  window.addEventListener('dragover', event => event.preventDefault())
  window.addEventListener('drop', event => {
    const files = [...(event.dataTransfer?.files ?? [])]
    const text = event.dataTransfer?.getData('text') ?? ''
    if (files.length === 0 && text === '') return
    event.preventDefault()
    if (files.length > 0) openFiles(files)
    else openText(text)
  })
}

/** A link to what is shown: to an example by its name, to a file with all of it. */
async function share(): Promise<void> {
  const named = address
  const { text } = kept()
  const source = shown?.example ? named.source : text && (await packFile(new Blob([text])))
  const link = `${location.href.replace(/#.*/s, '')}${writeAddress({ ...named, source: source ?? '' })}`
  if (source === null) showCopied('The file is too large for a link: send the file itself.')
  else await copy(link, 'Copied. The link has the file, and nothing of what you entered.')
}

function listen(): void {
  const form = byId('form', HTMLFormElement)
  form.addEventListener('submit', event => {
    event.preventDefault()
    judgeSoon(0, fixField)
  })
  form.addEventListener('reset', event => {
    event.preventDefault()
    clear()
    history.replaceState(null, '')
    statement.open = true
    showNothing('What does the server say?')
  })
  byId('fix', HTMLButtonElement).addEventListener('click', fixField)
  shareButton.addEventListener('click', () => void share())
  byId('put-back', HTMLButtonElement).addEventListener('click', () => {
    forgetDigits()
    judgeChanged()
    verdict.focus()
  })
  views.addEventListener('change', judgeChanged)
  listenToForm(isTyping => judgeSoon(isTyping ? 250 : 0))
  window.addEventListener('popstate', follow)
}

// The page opens with an example, because the chain from L1 to a slot best explains what this is.
const start = nameOf(rollupStateProofExamples.find(({ isStart }) => isStart)?.title ?? '')
// Narrow windows start with the form closed.
statement.open = window.matchMedia('(min-width: 64rem)').matches
byId('no-worker', HTMLElement).hidden = location.protocol !== 'file:'
listExamples()
listenToFiles()
listen()
follow()
// Until here, a first drawing could have shown what has just moved.
byId('main', HTMLElement).removeAttribute('data-starting')
