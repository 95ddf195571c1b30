import type { Source } from '../document/claim.ts'
import { byId } from './dom.ts'
import { isFromL1, type Subject } from './opened-file.ts'
import type { Report } from './report.ts'
import { eachField, type Field, type FieldName, fieldNames, type Statement, type Suggested } from './statement.ts'

// Each field of the form is one of these.
const controls = eachField(
  name => byId(name, HTMLElement) as HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement,
)

const sources = eachField((): Source => 'user')

const sourceNotes: Readonly<Record<Source, string>> = {
  user: '',
  confirmed: 'confirmed by you',
  file: 'from the file',
  answer: 'from the answer',
  bundle: 'from the bundle',
  endpoint: 'from the endpoint',
  lengths: 'by the lengths of the nodes',
}

const trustedLabels = new Map([
  ['beaconBlockRoot', 'Beacon block root'],
  ['l2StateRoot', 'L2 state root'],
  ['l1BlockHash', 'L1 block hash'],
  ['l1StateRoot', 'L1 state root'],
])

let subject: Subject = 'answer'

const defaultOf = (name: FieldName): string => (name === 'trustedKind' ? 'l2StateRoot' : '')

function set(name: FieldName, { value, source }: Field): void {
  controls[name].value = value
  sources[name] = source
  showSource(name)
}

function showSource(name: FieldName): void {
  const control = controls[name]
  control.removeAttribute('aria-invalid')
  const hasNote = control.value !== '' && name !== 'trustedKind'
  byId(`${name}-source`, HTMLElement).textContent = hasNote ? sourceNotes[sources[name]] : ''
  // Fields are narrower than what they hold.
  control.title = name === 'trustedKind' || name === 'scheme' ? '' : control.value.slice(0, 200)
  if (name === 'trustedKind') showFields()
}

/** Shows the fields that the file has use for. */
function showFields(): void {
  const kind = controls.trustedKind.value
  const label = subject === 'traces' ? 'State root before' : trustedLabels.get(kind)
  byId('trusted-label', HTMLElement).textContent = label ?? ''
  for (const field of document.querySelectorAll<HTMLElement>('[data-for]')) {
    const isOfBeacon = field.hasAttribute('data-beacon')
    field.hidden =
      !(field.getAttribute('data-for') ?? '').split(' ').includes(subject) || (isOfBeacon && kind !== 'beaconBlockRoot')
  }
}

/** Fills in what the file says. Keeps what the user typed, unless they chose an example. */
export function fill(suggested: Suggested, about: Subject, isExample: boolean): void {
  subject = about
  for (const name of fieldNames) {
    const isKept = sources[name] === 'user' && controls[name].value !== defaultOf(name)
    if (isKept && !isExample && (name !== 'trustedKind' || isFromL1(about))) continue
    set(name, suggested[name] ?? { value: defaultOf(name), source: 'user' })
  }
  byId('form', HTMLElement).hidden = about === 'other'
  showFields()
  showButtons(null)
}

/** Drops what an earlier file said. The fields stay in their places. */
export function forgetFile(): void {
  for (const name of fieldNames) {
    if (sources[name] !== 'user' && name !== 'trustedKind') set(name, { value: defaultOf(name), source: 'user' })
  }
  showButtons(null)
}

const buttons = ['fix', 'compared', 'confirm'].map(id => byId(id, HTMLButtonElement))

/** Marks the invalid fields, explains the error next to each, and offers what the user can do next. */
export function showReport(report: Report): void {
  for (const name of fieldNames) showSource(name)
  for (const { field, message } of report.inputErrors) {
    controls[field].setAttribute('aria-invalid', 'true')
    byId(`${field}-source`, HTMLElement).textContent = message
  }
  showButtons(report)
}

function showButtons(report: Report | null): void {
  const isVerified = report?.verdict === 'verified'
  const shown = [
    report?.missing !== null && report !== null,
    isVerified && report.basis === 'assumed',
    isVerified && confirmable().length > 0,
  ]
  for (const [index, button] of buttons.entries()) button.hidden = !shown[index]
  const [fix] = buttons
  if (fix) fix.textContent = report !== null && report.inputErrors.length > 0 ? 'Correct it' : 'Enter it'
}

/** The field that the report asks for. */
export const fieldOf = ({ missing }: Report): HTMLElement | null => (missing === null ? null : controls[missing])

/** The fields read from the file that the user can confirm as their own, besides what they trust. */
const confirmable = (): FieldName[] =>
  fieldNames.filter(
    name => !['trusted', 'trustedKind'].includes(name) && sources[name] !== 'user' && controls[name].value !== '',
  )

export const clear = (): void => fill({}, 'answer', true)

export const readStatement = (): Statement =>
  eachField(name => ({ value: controls[name].value.trim(), source: sources[name] }))

/** @param onChange called on every change by the user */
export function listenToForm(onChange: (isTyping: boolean) => void): void {
  const confirm = (names: () => readonly FieldName[]) => () => {
    for (const name of names()) {
      sources[name] = 'user'
      showSource(name)
    }
    onChange(false)
  }
  byId('compared', HTMLElement).addEventListener(
    'click',
    confirm(() => ['trusted', 'trustedKind']),
  )
  byId('confirm', HTMLElement).addEventListener('click', confirm(confirmable))
  for (const name of fieldNames) {
    controls[name].addEventListener('input', () => {
      sources[name] = 'user'
      showSource(name)
      onChange(true)
    })
  }
}
