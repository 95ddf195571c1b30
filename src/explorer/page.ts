import { messageOf } from '../document/value.ts'
import { byId, h, nodesOf } from './dom.ts'
import { createEngine } from './engine.ts'
import type { ExampleSource } from './examples.ts'
import { clear, fill, listenToForm, readStatement, showInputErrors, wrongField } from './form.ts'
import type { Report } from './judge.ts'
import { MAX_NAME_CHARACTERS, MAX_SHOWN_CHARACTERS } from './limits.ts'
import type { Loaded } from './opened-file.ts'
import { proofSection } from './proof-section.ts'
import { reportView, verdictDetails, verdictText } from './report-view.ts'

type Example = Omit<ExampleSource, 'path'> & { readonly content: unknown }
declare const rollupStateProofExamples: readonly Example[]

const EXAMPLE_TYPE = 'application/x-explorer-example'

const fileStatus = byId('file-status', HTMLElement)
const stopButton = byId('stop', HTMLButtonElement)
const paste = byId('paste', HTMLTextAreaElement)
const drop = byId('drop', HTMLElement)
const verdict = byId('verdict', HTMLElement)
const verdictStatus = byId('verdict-text', HTMLElement)
const verdictMore = byId('verdict-details', HTMLElement)
const reportPlace = byId('report', HTMLElement)
const proofPlace = byId('proof', HTMLElement)
const statement = byId('statement', HTMLDetailsElement)
/** Narrow windows start with long sections closed. */
const isWide = () => window.matchMedia('(min-width: 64rem)').matches

let loaded: Loaded | null = null
let timer = 0
/** The proof that an example is about. */
let exampleProof: number | null = null

const engine = createEngine(
  isBusy => {
    verdict.setAttribute('aria-busy', String(isBusy))
    stopButton.hidden = !isBusy
  },
  () => {
    byId('no-worker', HTMLElement).hidden = false
  },
)

/** Opens what was dropped, pasted or chosen. */
async function open(blob: Blob, name: string, example: Example | null, scrolls = true): Promise<void> {
  clearTimeout(timer)
  loaded = null
  showVerdict('Reading…')
  fileStatus.textContent = `Reading ${name}…`
  exampleProof = example?.proof ?? null
  await attempt(async () => {
    const reply = await engine.ask<'load'>({ kind: 'load', blob })
    loaded = reply.loaded
    fill(loaded.suggested, loaded.isBundle, example !== null)
    fileStatus.textContent = describeFile(name, loaded)
    await judge()
    if (scrolls && verdict.getBoundingClientRect().top > window.innerHeight * 0.8) verdict.scrollIntoView()
  })
}

const describeFile = (name: string, { kind, slotCount, description }: Loaded): string =>
  `${name}: ${kind}, ${slotCount} storage ${slotCount === 1 ? 'proof' : 'proofs'}.${description === '' ? '' : ` ${description}`}`

async function judge(): Promise<void> {
  if (loaded === null) return
  const { report } = await engine.ask<'verify'>({ kind: 'verify', statement: readStatement() })
  const shown = report.verdict !== 'refused' && exampleProof !== null ? exampleProof : report.shown
  verdict.setAttribute('data-verdict', report.verdict)
  verdict.toggleAttribute('data-stated', report.isStated)
  showInputErrors(report.inputErrors)
  // Something is missing or wrong in the form.
  if (report.verdict === 'unjudged') statement.open = true
  verdictStatus.replaceChildren(...verdictText(report))
  verdictMore.replaceChildren(...nodesOf(verdictDetails(report)))
  const goToProof = (index: number) => void attempt(() => showProof(report, index).then(() => proofPlace.focus()))
  reportPlace.replaceChildren(...nodesOf(reportView(report, shown, goToProof)))
  await showProof(report, shown)
}

async function showProof(report: Report, index: number): Promise<void> {
  const { proof } = await engine.ask<'proof'>({ kind: 'proof', index })
  proofPlace.replaceChildren(...nodesOf(proofSection(proof, report.verdict !== 'unjudged')))
  proofPlace.hidden = false
}

/** Also clears the old results, because they must not appear next to a new question. */
function showVerdict(headline: string, text = ''): void {
  verdict.setAttribute('data-verdict', 'none')
  verdictStatus.replaceChildren(...verdictText({ headline, text }))
  for (const place of [verdictMore, reportPlace, proofPlace]) place.replaceChildren()
  proofPlace.hidden = true
}

const showNothing = () => showVerdict('Nothing to verify yet', 'Open a file or choose an example.')

async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const message = messageOf(error)
    // The request was abandoned.
    if (message !== '') showProblem(message)
  }
}

function showProblem(message: string): void {
  loaded = null
  fileStatus.textContent = message
  showVerdict('Nothing to verify', message)
}

/** Shows why nothing is opened, and drops what was asked before. */
function refuse(message: string): void {
  clearTimeout(timer)
  engine.forget()
  showProblem(message)
}

function judgeSoon(delay: number, then: () => void = () => {}): void {
  clearTimeout(timer)
  if (loaded === null) return
  // A verdict on the previous content of the form must not arrive now.
  engine.forget()
  showVerdict('Verifying…')
  timer = window.setTimeout(() => void attempt(judge).then(then), delay)
}

const openText = (text: string): void => void open(new Blob([text]), 'The pasted text', null)

function openExample(example: Example, scrolls = true): void {
  paste.value = ''
  void open(new Blob([JSON.stringify(example.content)]), `Example “${example.title}”`, example, scrolls)
}

function openFiles([file, ...others]: readonly File[]): void {
  paste.value = ''
  if (others.length > 0) refuse(`These are ${1 + others.length} files. This page shows one at a time.`)
  else if (file) void open(file, file.name.slice(0, MAX_NAME_CHARACTERS), null)
}

/** @returns whether there was anything to open */
function openTransfer(data: DataTransfer | null): boolean {
  const files = [...(data?.files ?? [])]
  const isFolder = files.length === 1 && data?.items[0]?.webkitGetAsEntry()?.isDirectory
  if (isFolder) refuse('This is a folder. Open one of the files in it.')
  else openFiles(files)
  if (files.length > 0) return true
  const example = rollupStateProofExamples[Number.parseInt(data?.getData(EXAMPLE_TYPE) ?? '', 10)]
  if (example) openExample(example)
  else if (data?.getData('text')) takeText(data.getData('text'))
  else return false
  return true
}

function takeText(text: string): void {
  paste.value = text.length <= MAX_SHOWN_CHARACTERS ? text : ''
  openText(text)
}

function listExamples(): void {
  const place = byId('examples', HTMLDetailsElement)
  place.open = isWide()
  for (const group of new Set(rollupStateProofExamples.map(example => example.group))) {
    const items = rollupStateProofExamples.flatMap((example, index) => {
      if (example.group !== group) return []
      const button = h('button', { type: 'button' }, example.title)
      button.addEventListener('click', () => openExample(example))
      const item = h('li', { draggable: 'true' }, button)
      item.addEventListener('dragstart', event => event.dataTransfer?.setData(EXAMPLE_TYPE, String(index)))
      return [item]
    })
    place.append(h('h3', {}, group), h('ul', {}, ...items))
  }
}

function listen(): void {
  const file = byId('file', HTMLInputElement)
  file.addEventListener('change', () => {
    openFiles([...(file.files ?? [])])
    file.value = ''
  })
  paste.addEventListener('paste', event => {
    event.preventDefault()
    takeText(event.clipboardData?.getData('text') ?? '')
  })
  paste.addEventListener('input', () => {
    if (paste.value.trim() !== '') openText(paste.value)
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
  const form = byId('form', HTMLFormElement)
  form.addEventListener('submit', event => {
    event.preventDefault()
    if (loaded === null) showNothing()
    else judgeSoon(0, () => (wrongField() ?? verdict).focus())
  })
  form.addEventListener('reset', event => {
    event.preventDefault()
    clear()
    paste.value = ''
    fileStatus.textContent = ''
    loaded = null
    engine.forget()
    statement.open = true
    showNothing()
  })
  stopButton.addEventListener('click', () => engine.stop('Stopped.'))
  listenToForm(() => judgeSoon(400))
}

clear()
statement.open = isWide()
listExamples()
listen()
// The page opens with an example, because the chain from L1 to a slot best explains what this is.
const [start] = rollupStateProofExamples.filter(({ isStart }) => isStart)
if (start) openExample(start, false)
