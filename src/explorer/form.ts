import { byId } from './dom.ts'
import { type Field, type FieldName, fieldNames, type InputError, type Source, type Statement } from './messages.ts'

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

const controls = Object.fromEntries(
  fieldNames.map(name => {
    const control = document.getElementById(name)
    if (control === null) throw new Error(`the form has no field ${name}`)
    return [name, control]
  }),
) as Record<FieldName, Control>

const sources = Object.fromEntries(fieldNames.map(name => [name, 'user'])) as Record<FieldName, Source>

const sourceNotes: Readonly<Record<Source, string>> = {
  user: '',
  file: 'stated by the file',
  answer: 'read from the answer: is it what you asked for?',
  bundle: 'read from the bundle: is it what you asked for?',
}

const trustedLabels = new Map([
  ['beaconBlockRoot', 'Beacon checkpoint: root of a finalized beacon block, 32 bytes'],
  ['l2StateRoot', 'L2 state root, 32 bytes'],
  ['l1BlockHash', 'L1 block hash, 32 bytes'],
  ['l1StateRoot', 'L1 state root, 32 bytes'],
])

/** The initial values of choices. */
const defaults: Readonly<Partial<Record<FieldName, string>>> = { trustedKind: 'l2StateRoot' }

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
  showIf('[data-checkpoint]', value === 'beaconBlockRoot')
}

/** Fills in what the file says. Keeps what the user typed, unless they chose an example. */
export function fill(
  suggested: Readonly<Partial<Record<FieldName, Field>>>,
  isBundle: boolean,
  isExample: boolean,
): void {
  for (const name of fieldNames) {
    const isTyped = sources[name] === 'user' && controls[name].value !== (defaults[name] ?? '')
    if (isTyped && !isExample) continue
    set(name, suggested[name] ?? { value: defaults[name] ?? '', source: 'user' })
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

export function readStatement(): Statement {
  return Object.fromEntries(
    fieldNames.map(name => [name, { value: controls[name].value.trim(), source: sources[name] }]),
  ) as Record<FieldName, Field>
}

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
