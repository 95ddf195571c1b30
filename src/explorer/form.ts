import type { Source } from '../document/claim.ts'
import { byId } from './dom.ts'
import type { InputError } from './judge.ts'
import { eachField, type Field, type FieldName, fieldNames, type Statement, type Suggested } from './statement.ts'

// Each field of the form is one of these.
const controls = eachField(
  name => byId(name, HTMLElement) as HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement,
)

const sources = eachField((): Source => 'user')

const sourceNotes: Readonly<Record<Source, string>> = {
  user: '',
  file: 'stated by the file',
  answer: 'read from the answer: is it what you asked for?',
  bundle: 'read from the bundle: is it what you asked for?',
  lengths: 'found by the lengths of the nodes',
}

const trustedLabels = new Map([
  ['beaconBlockRoot', 'Root of a finalized beacon block, 32 bytes'],
  ['l2StateRoot', 'L2 state root, 32 bytes'],
  ['l1BlockHash', 'L1 block hash, 32 bytes'],
  ['l1StateRoot', 'L1 state root, 32 bytes'],
])

const defaultOf = (name: FieldName): string => (name === 'trustedKind' ? 'l2StateRoot' : '')

function set(name: FieldName, { value, source }: Field): void {
  controls[name].value = value
  sources[name] = source
  showSource(name)
}

function showSource(name: FieldName): void {
  controls[name].removeAttribute('aria-invalid')
  const hasNote = controls[name].value !== '' && name !== 'trustedKind'
  byId(`${name}-source`, HTMLElement).textContent = hasNote ? sourceNotes[sources[name]] : ''
  if (name !== 'trustedKind') return
  const { value } = controls.trustedKind
  byId('trusted-label', HTMLElement).textContent = trustedLabels.get(value) ?? ''
  showIf('[data-beacon]', value === 'beaconBlockRoot')
}

/** Fills in what the file says. Keeps what the user typed, unless they chose an example. */
export function fill(suggested: Suggested, isBundle: boolean, isExample: boolean): void {
  for (const name of fieldNames) {
    const isTyped = sources[name] === 'user' && controls[name].value !== defaultOf(name)
    if (isTyped && !isExample) continue
    set(name, suggested[name] ?? { value: defaultOf(name), source: 'user' })
  }
  showIf('[data-bundle]', isBundle)
}

/** Marks the invalid fields, and explains the error next to each. */
export function showInputErrors(errors: readonly InputError[]): void {
  for (const name of fieldNames) showSource(name)
  for (const { field, message } of errors) {
    controls[field].setAttribute('aria-invalid', 'true')
    byId(`${field}-source`, HTMLElement).textContent = message
  }
  confirmButton.hidden = errors.length > 0 || confirmable().length === 0
}

/** The first field that is marked as wrong. */
export const wrongField = (): HTMLElement | undefined =>
  fieldNames.map(name => controls[name]).find(control => control.getAttribute('aria-invalid') === 'true')

const confirmButton = byId('confirm', HTMLButtonElement)

/** The fields read from the file that the user can confirm as their own. The root is not among them: users enter it. */
const confirmable = (): FieldName[] =>
  fieldNames.filter(
    name => !['trusted', 'trustedKind'].includes(name) && sources[name] !== 'user' && controls[name].value !== '',
  )

export function clear(): void {
  fill({}, false, true)
  confirmButton.hidden = true
}

function showIf(selector: string, isShown: boolean): void {
  for (const field of document.querySelectorAll<HTMLElement>(selector)) field.hidden = !isShown
}

export const readStatement = (): Statement =>
  eachField(name => ({ value: controls[name].value.trim(), source: sources[name] }))

/** @param onChange called on every change by the user */
export function listenToForm(onChange: () => void): void {
  confirmButton.addEventListener('click', () => {
    for (const name of confirmable()) {
      sources[name] = 'user'
      showSource(name)
    }
    confirmButton.hidden = true
    onChange()
  })
  for (const name of fieldNames) {
    controls[name].addEventListener('input', () => {
      sources[name] = 'user'
      showSource(name)
      onChange()
    })
  }
}
