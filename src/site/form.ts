import type { Source } from '../cli/words/answer.ts'
import { sourceWords } from '../cli/words/wording.ts'
import { compare } from './compare.ts'
import { byId, h } from './dom.ts'
import type { Report, Unconfirmed } from './report.ts'
import {
  ANSWER_FIELDS,
  eachField,
  type Field,
  type FieldName,
  fieldNames,
  isFromL1,
  type Statement,
  type Suggested,
  unstated,
} from './statement.ts'

/** The fields of the form, who has stated what is in each, and what is said of that beside its label. */
const fields = eachField(name => {
  const control = byId(name, HTMLElement) as HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement
  const note = h('p', { class: 'source', id: `${name}-source` })
  control.after(note)
  control.setAttribute('aria-describedby', note.id)
  return {
    control,
    note,
    source: 'user' as Source,
    // The visitor has emptied it, or filled it from the clipboard: what is in it is theirs, even if the file says the same.
    isTyped: false,
    // It was typed before this file was opened.
    isKept: false,
  }
})

let ofFile: Suggested = {}
let asked: readonly FieldName[] = ANSWER_FIELDS

function set(name: FieldName, { value, source }: Field): void {
  Object.assign(fields[name], { source, isKept: false })
  fields[name].control.value = value
  showSource(name)
}

function showSource(name: FieldName): void {
  const { control, note, source, isKept } = fields[name]
  control.removeAttribute('aria-invalid')
  const words = isKept ? 'typed before this file' : source === 'user' ? '' : sourceWords[source].replace(/,.*/, '')
  note.textContent = control.value === '' || name === 'trustedKind' ? '' : words
}

function showFields(): void {
  const isOfBeacon = fields.trustedKind.control.value === 'beaconBlockRoot'
  for (const name of fieldNames) {
    const isUsed = asked.includes(name) && (name !== 'network' || isOfBeacon)
    fields[name].control.closest('div.field')?.toggleAttribute('hidden', !isUsed)
  }
}

/** Fills in what the file says. Keeps what the user typed, unless they chose an example, but not what they compared with a file before. */
export function fill(suggested: Suggested, used: readonly FieldName[], isExample: boolean): void {
  asked = used
  ofFile = suggested
  const { control: kind } = fields.trustedKind
  const before = kind.value
  for (const name of fieldNames) {
    const field = fields[name]
    field.isTyped = false
    const isWord = field.source === 'user' && field.control.value !== unstated(name).value && !isExample
    // A hash of one kind is no root of another.
    const isOfKind = name === 'trusted' ? kind.value === before : name !== 'trustedKind' || isFromL1(used)
    field.isKept = isWord && isOfKind
    if (field.isKept) showSource(name)
    else set(name, suggested[name] ?? unstated(name))
  }
  showFields()
  showButtons(null)
}

/** Drops what an earlier file said. The fields stay in their places. */
export function forgetFile(): void {
  const { control, source } = fields.trustedKind
  fill({ trustedKind: { value: control.value, source } }, asked, false)
}

const fix = byId('fix', HTMLButtonElement)
const comparing = byId('comparing', HTMLElement)
const compared = byId('compared', HTMLInputElement)

let unconfirmed: Unconfirmed | null = null

/** Marks the invalid fields, explains the error next to each, and offers what the user can do next. */
export function showReport(report: Report): void {
  for (const name of fieldNames) showSource(name)
  for (const { field, message } of report.inputErrors) {
    fields[field].control.setAttribute('aria-invalid', 'true')
    fields[field].note.textContent = message
  }
  showButtons(report)
}

function showButtons(report: Report | null): void {
  fix.hidden = report === null || report.missing === null
  fix.textContent = report !== null && report.inputErrors.length > 0 ? 'Correct it' : 'Enter it'
  if (unconfirmed?.value !== report?.unconfirmed?.value) compared.value = ''
  unconfirmed = report?.unconfirmed ?? null
  // It keeps its place while the visitor corrects a field, so that nothing moves.
  const isWaiting = report?.verdict === 'unjudged' && !comparing.hidden
  const hadFocus = document.activeElement === compared
  comparing.hidden = unconfirmed === null && !isWaiting
  comparing.inert = unconfirmed === null
  // Whoever has just confirmed the last of them goes on from the verdict.
  if (hadFocus && comparing.hidden) byId('verdict', HTMLElement).focus()
  showComparison()
}

/** The value of the file, in full, with the first digit marked that differs from what the visitor has pasted. */
function showComparison(): void {
  if (unconfirmed === null) return
  const { name, value, about } = unconfirmed
  const { state, at, words } = compare(value, compared.value)
  const marked = h('mark', {}, value.slice(at, at + 1))
  const shown = state === 'different' ? [value.slice(0, at), marked, value.slice(at + 1)] : [value]
  const of = about === '' ? '' : `, ${about}`
  byId('comparing-file', HTMLElement).replaceChildren(`The file states this ${name}${of}: `, h('code', {}, ...shown))
  byId('comparing-label', HTMLElement).textContent = `The ${name} from a source of your own`
  byId('comparing-result', HTMLElement).textContent = words
}

export const fieldOf = ({ missing }: Report): HTMLElement | null => missing && fields[missing].control

export const clear = (): void => fill({}, ANSWER_FIELDS, true)

export const readStatement = (): Statement =>
  eachField(name => ({ value: fields[name].control.value.trim(), source: fields[name].source }))

/** @param onChange called on every change by the user */
export function listenToForm(onChange: (isTyping: boolean) => void): void {
  compared.addEventListener('input', () => {
    showComparison()
    if (unconfirmed === null || compare(unconfirmed.value, compared.value).state !== 'same') return
    fields[unconfirmed.field].source = 'confirmed'
    showSource(unconfirmed.field)
    onChange(false)
  })
  for (const name of fieldNames) {
    const field = fields[name]
    field.control.addEventListener('input', event => {
      const { value } = field.control
      if (value === '' || (event instanceof InputEvent && event.inputType === 'insertFromPaste')) field.isTyped = true
      const suggested = ofFile[name]
      // Who changes a digit of what the file says, and puts it back, has stated nothing.
      const isOfFile = suggested?.value === value && !field.isTyped
      set(name, { value, source: isOfFile ? suggested.source : 'user' })
      if (name === 'trustedKind') {
        // What was trusted as one kind of value says nothing as another kind.
        fields.trusted.isTyped = false
        set('trusted', (ofFile.trustedKind?.value === value && ofFile.trusted) || unstated('trusted'))
        showFields()
      }
      onChange(true)
    })
  }
}
