import type { Source } from '../cli/words/claim.ts'
import { compare, describeComparison } from './compare.ts'
import { byId, h } from './dom.ts'
import type { Report, Unconfirmed } from './report.ts'
import {
  eachField,
  type Field,
  type FieldName,
  fieldNames,
  fieldsFor,
  isFromL1,
  isOwn,
  type Statement,
  type Subject,
  type Suggested,
  unstated,
} from './statement.ts'

// Each field of the form is one of these.
const controls = eachField(
  name => byId(name, HTMLElement) as HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement,
)
/** What is said of each beside its label. */
const notes = eachField(name => h('p', { class: 'source', id: `${name}-source` }))
for (const name of fieldNames) {
  controls[name].after(notes[name])
  controls[name].setAttribute('aria-describedby', notes[name].id)
}

const sources = eachField((): Source => 'user')

/** What the file suggests. */
let ofFile: Suggested = {}

/** The fields that the visitor has emptied, or filled from the clipboard: what is in them is theirs, even if the file says the same. */
const typed = new Set<FieldName>()

const sourceNotes: Readonly<Record<Source, string>> = {
  user: '',
  default: '',
  confirmed: 'confirmed by you',
  file: 'from the file',
  answer: 'from the answer',
  bundle: 'from the bundle',
  endpoint: 'from the endpoint',
  lengths: 'by the lengths of the nodes',
}

let subject: Subject = 'answer'

/** The fields with what was typed before this file was opened. */
const kept = new Set<FieldName>()
const KEPT = 'typed before this file'

function set(name: FieldName, { value, source }: Field): void {
  controls[name].value = value
  sources[name] = source
  showSource(name)
}

function showSource(name: FieldName): void {
  const control = controls[name]
  control.removeAttribute('aria-invalid')
  const hasNote = control.value !== '' && name !== 'trustedKind'
  const note = kept.has(name) ? KEPT : sourceNotes[sources[name]]
  notes[name].textContent = hasNote ? note : ''
  // Fields are narrower than what they hold.
  control.title = name === 'trustedKind' || name === 'scheme' ? '' : control.value.slice(0, 200)
  if (name === 'trustedKind') showFields()
}

/** Shows the fields that the file has use for. */
function showFields(): void {
  const kind = controls.trustedKind.value
  const [chosen] = byId('trustedKind', HTMLSelectElement).selectedOptions
  // Without the article, and without what is in parentheses.
  const [, first = '', rest = ''] = /^an? (.)([^(]*)/.exec(chosen?.text ?? '') ?? []
  byId('trusted-label', HTMLElement).textContent =
    subject === 'traces' ? 'State root before' : `${first.toUpperCase()}${rest}`
  for (const name of fieldNames) {
    const field = controls[name].closest<HTMLElement>('div.field')
    const isOfKind = name !== 'network' || kind === 'beaconBlockRoot'
    if (field) field.hidden = !(fieldsFor(subject).includes(name) && isOfKind)
  }
  byId('contract', HTMLElement).hidden = !isFromL1(subject)
}

/**
 * Fills in what the file says. Keeps what the user typed, unless they chose an example. What they compared with the file before
 * goes with that file.
 */
export function fill(suggested: Suggested, about: Subject, isExample: boolean): void {
  subject = about
  ofFile = suggested
  typed.clear()
  const before = controls.trustedKind.value
  for (const name of fieldNames) {
    const isTyped = sources[name] === 'user' && controls[name].value !== unstated(name).value && !isExample
    // A hash of one kind is no root of another.
    const isOfKind = name !== 'trusted' || controls.trustedKind.value === before
    if (isTyped && isOfKind && (name !== 'trustedKind' || isFromL1(about))) {
      kept.add(name)
      showSource(name)
      continue
    }
    kept.delete(name)
    set(name, suggested[name] ?? unstated(name))
  }
  byId('form', HTMLElement).hidden = fieldsFor(about).length === 0
  showFields()
  showButtons(null)
}

/** Drops what an earlier file said. The fields stay in their places. */
export function forgetFile(): void {
  for (const name of fieldNames) {
    if (sources[name] !== 'user' && name !== 'trustedKind') set(name, unstated(name))
  }
  ofFile = {}
  showButtons(null)
}

const fix = byId('fix', HTMLButtonElement)
const comparing = byId('comparing', HTMLElement)
const compared = byId('compared', HTMLInputElement)

/** What the visitor can compare with a source of their own. */
let unconfirmed: Unconfirmed | null = null

/** Marks the invalid fields, explains the error next to each, and offers what the user can do next. */
export function showReport(report: Report): void {
  for (const name of fieldNames) showSource(name)
  for (const { field, message } of report.inputErrors) {
    controls[field].setAttribute('aria-invalid', 'true')
    notes[field].textContent = message
  }
  showButtons(report)
}

function showButtons(report: Report | null): void {
  fix.hidden = report === null || report.missing === null
  fix.textContent = report !== null && report.inputErrors.length > 0 ? 'Correct it' : 'Enter it'
  const isSame = unconfirmed !== null && unconfirmed.value === report?.unconfirmed?.value
  unconfirmed = report?.unconfirmed ?? null
  // It keeps its place while the visitor corrects a field, so that nothing moves.
  const isWaiting = report?.verdict === 'unjudged' && !comparing.hidden
  const hadFocus = document.activeElement === compared
  comparing.hidden = unconfirmed === null && !isWaiting
  comparing.inert = unconfirmed === null
  if (!isSame) compared.value = ''
  // Whoever has just confirmed the last of them goes on from the verdict.
  if (hadFocus && comparing.hidden) byId('verdict', HTMLElement).focus()
  showComparison()
}

/** The value of the file, in full, with the first digit marked that differs from what the visitor has pasted. */
function showComparison(): void {
  if (unconfirmed === null) return
  const { name, value, about } = unconfirmed
  const { state, at } = compare(value, compared.value)
  const marked = h('mark', {}, value.slice(at, at + 1))
  const shown = state === 'different' ? [value.slice(0, at), marked, value.slice(at + 1)] : [value]
  const of = about === '' ? '' : `, ${about}`
  byId('comparing-file', HTMLElement).replaceChildren(`The file states this ${name}${of}: `, h('code', {}, ...shown))
  byId('comparing-label', HTMLElement).textContent = `The ${name} from a source of your own`
  byId('comparing-result', HTMLElement).textContent = describeComparison(value, compared.value)
}

/** The field that the report asks for. */
export const fieldOf = ({ missing }: Report): HTMLElement | null => (missing === null ? null : controls[missing])

export const clear = (): void => fill({}, 'answer', true)

export const readStatement = (): Statement =>
  eachField(name => ({ value: controls[name].value.trim(), source: sources[name] }))

/** What the visitor has typed or confirmed. */
export const ownWords = (): Suggested =>
  Object.fromEntries(Object.entries(readStatement()).filter(([, { value, source }]) => value !== '' && isOwn(source)))

/** The same of an earlier visit: it is theirs still. */
export function restoreWords(words: Suggested): void {
  for (const name of fieldNames) {
    const word = words[name]
    if (word === undefined || !isOwn(word.source)) continue
    typed.add(name)
    set(name, word)
  }
}

/** What was trusted as one kind of value says nothing as another kind. */
function forgetTrusted(kind: string): void {
  const isOfFile = ofFile.trustedKind?.value === kind && ofFile.trusted !== undefined
  typed.delete('trusted')
  kept.delete('trusted')
  set('trusted', (isOfFile && ofFile.trusted) || unstated('trusted'))
}

/** @param onChange called on every change by the user */
export function listenToForm(onChange: (isTyping: boolean) => void): void {
  compared.addEventListener('input', () => {
    showComparison()
    if (unconfirmed === null || compare(unconfirmed.value, compared.value).state !== 'same') return
    sources[unconfirmed.field] = 'confirmed'
    showSource(unconfirmed.field)
    onChange(false)
  })
  for (const name of fieldNames) {
    controls[name].addEventListener('input', event => {
      const { value } = controls[name]
      const isPasted = event instanceof InputEvent && event.inputType === 'insertFromPaste'
      if (value === '' || isPasted) typed.add(name)
      const suggested = ofFile[name]
      // Who changes a digit of what the file says, and puts it back, has stated nothing.
      sources[name] = suggested?.value === value && !typed.has(name) ? suggested.source : 'user'
      kept.delete(name)
      if (name === 'trustedKind') forgetTrusted(value)
      showSource(name)
      onChange(true)
    })
  }
}
