import { byId, h, nodesOf } from './dom.ts'
import { createEngine, EngineError } from './engine.ts'
import { clear, fill, listenToForm, readStatement, showInputErrors } from './form.ts'
import type { Loaded, Report } from './messages.ts'
import { proofSection } from './proof-section.ts'
import { reportView, verdictDetails, verdictText } from './report-view.ts'

interface Example {
  readonly group: string
  readonly title: string
  /** The proof to show. */
  readonly proof?: number
  readonly content: unknown
  /** Whether the page opens with it. */
  readonly isStart?: boolean
}
declare const rollupStateProofExamples: readonly Example[]

const EXAMPLE_TYPE = 'application/x-explorer-example'
/** Longer text is read but not shown, because browsers are slow to lay it out. */
const MAX_SHOWN_TEXT = 20_000

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
  showVerdict('none', 'Reading…', '')
  fileStatus.textContent = `Reading ${name}…`
  exampleProof = example?.proof ?? null
  await attempt(async () => {
    const reply = await engine.ask<'load'>({ kind: 'load', blob })
    if (reply.kind === 'problem') throw new EngineError(reply.message)
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
  const reply = await engine.ask<'verify'>({ kind: 'verify', statement: readStatement() })
  if (reply.kind === 'problem') throw new EngineError(reply.message)
  const { report } = reply
  const shown = report.verdict !== 'refused' && exampleProof !== null ? exampleProof : report.shown
  verdict.setAttribute('data-verdict', report.verdict)
  verdict.toggleAttribute('data-stated', report.isStated)
  showInputErrors(report.inputErrors)
  // Something is missing or wrong in the form.
  if (report.verdict === 'unjudged') statement.open = true
  verdictStatus.replaceChildren(...nodesOf(verdictText(report)))
  verdictMore.replaceChildren(...nodesOf(verdictDetails(report)))
  reportPlace.replaceChildren(
    ...nodesOf(reportView(report, shown, index => void attempt(() => goToProof(report, index)))),
  )
  await showProof(report, shown)
}

/** Shows the proof that the user chose, and moves the focus there. */
async function goToProof(report: Report, index: number): Promise<void> {
  await showProof(report, index)
  proofPlace.focus()
}

async function showProof(report: Report, index: number): Promise<void> {
  const reply = await engine.ask<'proof'>({ kind: 'proof', index })
  if (reply.kind === 'problem') throw new EngineError(reply.message)
  proofPlace.replaceChildren(...nodesOf(proofSection(reply.proof, report.verdict !== 'unjudged')))
  proofPlace.hidden = false
}

/** Also clears the old results, because they must not appear next to a new question. */
function showVerdict(state: string, headline: string, text: string): void {
  verdict.setAttribute('data-verdict', state)
  verdictStatus.replaceChildren(h('p', { class: 'headline' }, headline), h('p', {}, text))
  for (const place of [verdictMore, reportPlace, proofPlace]) place.replaceChildren()
  proofPlace.hidden = true
}

async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    // The request was abandoned.
    if (message === '') return
    loaded = null
    fileStatus.textContent = message
    showVerdict('none', 'Nothing to verify', message)
  }
}

function judgeSoon(delay: number, then: () => void = () => {}): void {
  clearTimeout(timer)
  if (loaded === null) return
  // A verdict on the previous content of the form must not arrive now.
  engine.forget()
  showVerdict('none', 'Verifying…', '')
  timer = window.setTimeout(() => void attempt(judge).then(then), delay)
}

function openText(text: string): void {
  void open(new Blob([text], { type: 'application/json' }), 'The pasted text', null)
}

function openExample(example: Example, scrolls = true): void {
  paste.value = ''
  const blob = new Blob([JSON.stringify(example.content)], { type: 'application/json' })
  void open(blob, `Example “${example.title}”`, example, scrolls)
}

/** @returns whether there was anything to open */
function openTransfer(data: DataTransfer | null): boolean {
  const [file] = data?.files ?? []
  if (file) {
    paste.value = ''
    void open(file, file.name.slice(0, 100), null)
    return true
  }
  const example = rollupStateProofExamples[Number.parseInt(data?.getData(EXAMPLE_TYPE) ?? '', 10)]
  if (example) openExample(example)
  else if (data?.getData('text')) takeText(data.getData('text'))
  else return false
  return true
}

function takeText(text: string): void {
  paste.value = text.length <= MAX_SHOWN_TEXT ? text : ''
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
    const [chosen] = file.files ?? []
    if (chosen) void open(chosen, chosen.name.slice(0, 100), null)
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
    if (loaded === null) showVerdict('none', 'Nothing to verify yet', 'Open a file or choose an example.')
    else judgeSoon(0, () => verdict.focus())
  })
  form.addEventListener('reset', event => {
    event.preventDefault()
    clear()
    paste.value = ''
    fileStatus.textContent = ''
    loaded = null
    engine.forget()
    statement.open = true
    showVerdict('none', 'Nothing to verify yet', 'Open a file or choose an example.')
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
