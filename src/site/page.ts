import { messageOf } from '../cli/words/value.ts'
import type { Row } from '../cli/words/wording.ts'
import { type Address, nameOf, readAddress, writeAddress } from './address.ts'
import { chainView } from './chain-view.ts'
import { changedDigits, focusDigits, forgetDigits, refocusDigit } from './digits.ts'
import { button, byId, copy, h, nodesOf, rowList, showCopied } from './dom.ts'
import { createEngine } from './engine.ts'
import type { ExampleSource } from './examples.ts'
import { type FileTree, fileTree } from './file-view.ts'
import {
  clear,
  fieldOf,
  fill,
  forgetFile,
  listenToForm,
  ownWords,
  readStatement,
  restoreWords,
  showReport,
} from './form.ts'
import { MAX_FILES_KEPT, MAX_NAME_CHARACTERS, MAX_SHOWN_CHARACTERS } from './limits.ts'
import {
  forgetKept,
  type KeptFile,
  keepForReload,
  keepWords,
  keptForReload,
  keptWords,
  LINKED,
  packFile,
  unpackFile,
} from './linked.ts'
import type { Loaded } from './opened-file.ts'
import { overview, verdictText } from './overview.ts'
import type { Place } from './part.ts'
import { applyPatches } from './patches.ts'
import { proofSection } from './proof-section.ts'
import type { Report } from './report.ts'
import { createTabs } from './tabs.ts'

/** With `base`, its content is a list of changes to that of another one. */
type Example = Omit<ExampleSource, 'path'> & { readonly content: unknown; readonly base?: string }
/** The build inserts it. */
declare const PAGE_VERSION: string
declare const rollupStateProofExamples: readonly Example[]

const fileStatus = byId('file-status', HTMLElement)
const stopButton = byId('stop', HTMLButtonElement)
const paste = byId('paste', HTMLTextAreaElement)
const drop = byId('drop', HTMLElement)
const menu = byId('examples', HTMLElement)
const results = byId('results', HTMLElement)
const verdict = byId('verdict', HTMLElement)
const verdictStatus = byId('verdict-text', HTMLElement)
const chain = byId('chain', HTMLElement)
const views = byId('views', HTMLElement)
const statement = byId('statement', HTMLDetailsElement)
/** Narrow windows start with the form closed. */
const isWide = () => window.matchMedia('(min-width: 64rem)').matches

/** What the page shows. */
let loaded: Loaded | null = null
let report: Report | null = null
let address: Address = readAddress('')
let example: Example | null = null
let tree: FileTree | null = null
let timer = 0
/** Counts what was opened or cleared: what comes late of an earlier one is dropped. */
let turn = 0
/** Files of this visit, for the browser's back button. The browser keeps their content, not the page. */
const opened = new Map<string, KeptFile>()
/** The SHA-256 of the file. */
let digest = ''

const engine = createEngine(
  isBusy => {
    verdict.setAttribute('aria-busy', String(isBusy))
    stopButton.hidden = !isBusy
  },
  () => {
    byId('no-worker', HTMLElement).hidden = false
  },
)

const tabs = createTabs(tab => void go({ ...address, tab }))

/** Changes the address, which the page follows. */
function go(next: Address, replaces = false): Promise<void> {
  address = next
  const fragment = writeAddress(next)
  if (fragment !== location.hash) {
    if (replaces) history.replaceState(null, '', fragment)
    else history.pushState(null, '', fragment)
  }
  return showView()
}

/** Shows what the address names: the visitor came with it, or went back or forward. */
function follow(): void {
  const next = readAddress(location.hash)
  const source = next.source || (start ? nameOf(start.title) : '')
  const isSame = source === address.source && loaded !== null
  address = { ...next, source }
  if (isSame) {
    void showView()
    return
  }
  const named = rollupStateProofExamples.find(({ title }) => nameOf(title) === source)
  const file = opened.get(source) ?? keptForReload(source)
  if (named) openExample(named, true)
  else if (file) void open(file.blob, file.name, { replaces: true })
  else if (source.startsWith(LINKED)) void open(unpackFile(source), LINK_NAME, { isLinked: true, replaces: true })
  else if (source.startsWith('sha256-')) {
    showProblem(
      `This address is of a file with the SHA-256 ${source.slice(7, 23)}…, which it does not contain. Open the file to see it.`,
    )
  } else showProblem('This address names no example.')
}

const LINK_NAME = 'The file of the link'

interface Opening {
  readonly example?: Example
  /** Whether it came with a link, which names the view. */
  readonly isLinked?: boolean
  /** Whether the address stays that of a link, or of a text that is still typed. */
  readonly replaces?: boolean
}

/** Ends whatever the page does with a file, and returns the number of what comes now. */
function close(): number {
  clearTimeout(timer)
  engine.forget()
  loaded = null
  report = null
  tree = null
  forgetDigits()
  showChanged()
  byId('share', HTMLButtonElement).hidden = true
  return ++turn
}

/** Opens what was dropped, pasted or chosen. @param content null if there is none in a link */
async function open(
  content: Blob | Promise<Blob | null>,
  name: string,
  { example: of, isLinked = false, replaces = false }: Opening = {},
): Promise<void> {
  const mine = close()
  setStale(true)
  fileStatus.textContent = `Reading ${name}…`
  const blob = await content
  if (mine !== turn) return
  if (blob === null) {
    showProblem('This link carries no file that this page can unpack: it is incomplete, or too large.')
    return
  }
  await attempt(async () => {
    const reply = await engine.ask<'load'>({ kind: 'load', blob })
    const source = of ? nameOf(of.title) : `sha256-${reply.digest}`
    // Kept before the address names it: whoever reloads then finds it.
    if (!of) await keep(source, { blob, name })
    if (mine !== turn) return
    loaded = reply.loaded
    example = of ?? null
    digest = reply.digest
    fill(loaded.suggested, loaded.subject, of !== undefined)
    // Of a reload, or of the browser's back button.
    if (replaces) restoreWords(keptWords(digest))
    fileStatus.textContent = describeFile(name, loaded)
    markExample()
    byId('share', HTMLButtonElement).hidden = false
    const isLink = isLinked || (replaces && address.source === source)
    // The address is that of the file before its verdict: the visitor can already type, which starts another verdict.
    void go(isLink ? { ...address, source } : { source, tab: 'overview', proof: null }, replaces)
    await judge()
    if (!replaces && verdict.getBoundingClientRect().top > window.innerHeight * 0.8) verdict.scrollIntoView()
  })
}

const askPart = async (place: Place, start: number) =>
  (await engine.ask<'part'>({ kind: 'part', place, start }).catch(() => null))?.part ?? null

async function goToBytes(proof: number, place: Place): Promise<void> {
  await go({ ...address, tab: 'proof', proof })
  focusDigits('#bytes', place)
}

function findInFile(place: Place): void {
  void go({ ...address, tab: 'file' })
  void tree?.find(place)
}

/** A digit is another one, or was put back. */
function judgeChanged(): void {
  showChanged()
  judgeSoon(0)
}

function showChanged(): void {
  const all = changedDigits()
  const [first] = all
  byId('changed', HTMLElement).hidden = first === undefined
  if (first === undefined) return
  const { place, at, original, digit } = first
  const what =
    all.length === 1
      ? `1 digit of this file, from ${original} to ${digit}: digit ${at - 1} of ${place.join('.')}`
      : `${all.length} digits of this file`
  byId('changed-text', HTMLElement).textContent = `You changed ${what}. This is not what the server sent.`
}

function keep(source: string, file: KeptFile): Promise<void> {
  opened.delete(source)
  opened.set(source, file)
  for (const oldest of [...opened.keys()].slice(0, -MAX_FILES_KEPT)) opened.delete(oldest)
  return keepForReload(source, file)
}

/** An example is often described by little more than its title. */
const describeFile = (name: string, { kind, holds, description }: Loaded): string => {
  const isSaid = description === '' || (example !== null && nameOf(description).includes(nameOf(example.title)))
  return `${name}: ${kind}, ${holds}.${isSaid ? '' : ` ${description}`}`
}

async function judge(): Promise<void> {
  if (loaded === null) return
  const reply = await engine.ask<'verify'>({ kind: 'verify', statement: readStatement(), changes: changedDigits() })
  report = reply.report
  keepWords(digest, ownWords())
  const { verdict: name } = report
  verdict.setAttribute('data-verdict', name)
  // What follows from something that nobody has confirmed is not proven.
  results.toggleAttribute(
    'data-assumed',
    name === 'consistent' || report.boxes.some(({ state }) => state === 'assumed'),
  )
  showReport(report)
  verdictStatus.replaceChildren(...verdictText(report))
  chain.replaceChildren(...nodesOf(chainView(report, goToProof)))
  await showProof()
  tabs.fill('overview', overview(report, goToProof))
  if (tree === null) {
    tree = fileTree(askPart, (proof, place) => void goToBytes(proof, place))
    tabs.fill('file', tree.content)
  }
  views.hidden = false
  setStale(false)
  void showView()
  byId('changed-verdict', HTMLElement).textContent = `${report.badge}.`
  refocusDigit()
}

function goToProof(proof: number): void {
  void go({ ...address, tab: 'proof', proof })
  tabs.focus('proof')
}

/** The proof that was asked for last. */
let shownProof = ''

/** The proof that the address names or, if something was refused, the one that was. */
function wantedProof({ verdict: name, shown, proofs }: Report): number {
  const wanted = address.proof ?? (name === 'refused' ? null : example?.proof)
  return wanted !== null && wanted !== undefined && wanted < Math.max(1, proofs.length) ? wanted : shown
}

async function showProof(): Promise<void> {
  if (report === null) return
  const index = wantedProof(report)
  shownProof = writeAddress({ ...address, tab: 'proof', proof: index })
  const { proof, place } = await engine.ask<'proof'>({ kind: 'proof', index })
  const isJudged = report.verdict !== 'unjudged'
  tabs.fill('proof', proof === null ? [] : proofSection(proof, place, isJudged, goToProof, findInFile))
}

/** Shows the view and the proof that the address names, of the file that is open. */
async function showView(): Promise<void> {
  // Whatever is still to be verified is shown afterwards.
  if (report === null || results.hasAttribute('data-stale')) return
  tabs.show(address.tab)
  const wanted = writeAddress({ ...address, tab: 'proof', proof: wantedProof(report) })
  if (wanted !== shownProof) await attempt(() => showProof().then(() => tabs.show(address.tab)))
}

/** Old results stay where they are, so that nothing moves, but they must not pass for those of a new question. */
function setStale(isStale: boolean): void {
  results.toggleAttribute('data-stale', isStale)
  views.inert = isStale
  chain.inert = isStale
  if (!isStale) return
  byId('changed-verdict', HTMLElement).textContent = 'Verifying…'
  verdict.setAttribute('data-verdict', 'none')
  verdictStatus.replaceChildren(...verdictText({ badge: 'Verifying…', headline: '\u00a0', text: '\u00a0' }))
}

async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const message = messageOf(error)
    // The request was abandoned.
    if (message !== '') showProblem(message)
  }
}

/** There is nothing to show but a message. */
function showNothing(badge: string, headline: string): void {
  close()
  setStale(false)
  forgetFile()
  verdict.setAttribute('data-verdict', 'none')
  verdictStatus.replaceChildren(...verdictText({ badge, headline, text: 'Open a file, or choose an example.' }))
  chain.replaceChildren()
  views.hidden = true
}

function showProblem(message: string): void {
  fileStatus.textContent = message
  showNothing('Nothing to verify', message)
}

/** Judges what the form and the digits say now: a verdict on what they said before must not arrive any more. */
function judgeSoon(delay: number, then: () => void = () => {}): void {
  clearTimeout(timer)
  // A file that is still read gets its verdict without being asked for.
  if (loaded === null) return
  engine.forget()
  setStale(true)
  const work = () => judge().then(then)
  timer = window.setTimeout(() => void attempt(work), delay)
}

const openText = (text: string, replaces: boolean): void => void open(new Blob([text]), 'The pasted text', { replaces })

function openExample(of: Example, replaces = false): void {
  paste.value = ''
  const base = rollupStateProofExamples.find(({ title }) => title === of.base)
  const content = base ? applyPatches(of.content, base.content) : of.content
  void open(new Blob([JSON.stringify(content)]), `Example “${of.title}”`, { example: of, replaces })
}

function openFiles([file, ...others]: readonly File[]): void {
  paste.value = ''
  if (others.length > 0) showProblem(`These are ${1 + others.length} files. This page shows one at a time.`)
  else if (file) void open(file, file.name.slice(0, MAX_NAME_CHARACTERS))
}

/** @returns whether there was anything to open */
function openTransfer(data: DataTransfer | null): boolean {
  const files = [...(data?.files ?? [])]
  const isFolder = files.length === 1 && data?.items[0]?.webkitGetAsEntry()?.isDirectory
  if (isFolder) showProblem('This is a folder. Open one of the files in it.')
  else openFiles(files)
  if (files.length > 0) return true
  if (!data?.getData('text')) return false
  takeText(data.getData('text'))
  return true
}

function takeText(text: string): void {
  paste.value = text.length <= MAX_SHOWN_CHARACTERS ? text : ''
  openText(text, false)
}

function listExamples(): void {
  for (const group of new Set(rollupStateProofExamples.map(({ group }) => group))) {
    const items = rollupStateProofExamples
      .filter(one => one.group === group)
      .map(one => {
        const choose = () => {
          menu.hidePopover?.()
          openExample(one)
        }
        return h('li', {}, button({}, choose, one.title))
      })
    menu.append(h('section', {}, h('h3', {}, group), h('ul', {}, ...items)))
  }
}

function markExample(): void {
  for (const item of menu.querySelectorAll('button')) {
    if (item.textContent === example?.title) item.setAttribute('aria-current', 'true')
    else item.removeAttribute('aria-current')
  }
}

/** Leads to the field that is missing or wrong, wherever the page is. */
function fixField(): void {
  const field = report && fieldOf(report)
  for (let part: Element | null = field ?? null; part; part = part.parentElement) {
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
  paste.addEventListener('paste', event => {
    event.preventDefault()
    takeText(event.clipboardData?.getData('text') ?? '')
  })
  paste.addEventListener('input', () => {
    if (paste.value.trim() !== '') openText(paste.value, true)
  })
  // The whole window accepts drops, because the browser would leave the page for a file dropped outside the target.
  window.addEventListener('dragover', event => {
    event.preventDefault()
    drop.setAttribute('data-over', '')
  })
  window.addEventListener('dragleave', () => drop.removeAttribute('data-over'))
  window.addEventListener('drop', event => {
    drop.removeAttribute('data-over')
    if (openTransfer(event.dataTransfer)) event.preventDefault()
  })
}

/** A link to what is shown: to an example by its name, to a file with all of it. */
async function share(): Promise<void> {
  const shown = address
  const file = opened.get(shown.source)
  const source = file === undefined ? shown.source : await packFile(file.blob)
  if (source === null) showCopied('The file is too large for a link: send the file itself.')
  else
    await copy(
      `${location.href.replace(/#.*/s, '')}${writeAddress({ ...shown, source })}`,
      'Copied. The link has the file, and nothing of what you entered.',
    )
}

/** What a printed page says of itself. */
function showRecord(): void {
  const { name } = opened.get(address.source) ?? { name: example === null ? '' : `Example “${example.title}”` }
  const changed = changedDigits().length
  const rows: Row[] = [
    ['File', name],
    ['SHA-256', digest],
    ['Verdict', report === null ? '' : `${report.badge}. ${report.headline}`],
    ['Verified on', new Date().toISOString()],
    ['With', `rollup-state-proof ${PAGE_VERSION}, the explorer`],
    ['Changed', changed === 0 ? '' : `${changed} digits of it, by hand: this is not what the server sent`],
  ]
  byId('record', HTMLElement).replaceChildren(
    rowList(
      rows.filter(([, value]) => value !== ''),
      'the file',
    ),
  )
}

/** On paper, nothing is folded. */
function listenToPrinter(): void {
  let folded: HTMLDetailsElement[] = []
  window.addEventListener('beforeprint', () => {
    showRecord()
    folded = [statement, ...results.querySelectorAll<HTMLDetailsElement>('details:not([open])')].filter(
      one => !one.open && !one.closest('#file'),
    )
    for (const one of folded) one.open = true
  })
  window.addEventListener('afterprint', () => {
    for (const one of folded) one.open = false
  })
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
    paste.value = ''
    forgetKept()
    fileStatus.textContent = ''
    statement.open = true
    showNothing('Nothing to verify yet', 'What does the server say?')
  })
  document.querySelector('.skip')?.addEventListener('click', event => {
    // The address is that of a file.
    event.preventDefault()
    verdict.focus()
  })
  byId('fix', HTMLButtonElement).addEventListener('click', fixField)
  byId('share', HTMLButtonElement).addEventListener('click', () => void share())
  listenToPrinter()
  stopButton.addEventListener('click', () => engine.stop('Stopped.'))
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
const start = rollupStateProofExamples.find(({ isStart }) => isStart)
statement.open = isWide()
listExamples()
listenToFiles()
listen()
follow()
// Until here, a first drawing could have shown what has just moved.
byId('main', HTMLElement).removeAttribute('data-starting')
