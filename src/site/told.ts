import type { FailureCode } from '../base/errors.ts'

/** What the checks of the verifier tell the page. The build puts these calls around the condition of each check: without it, none tells. */

/** Gets the code of each check that is run and passes, and a function that says where in the document it is. */
export type OnPassed = (code: FailureCode, path: () => string) => void

let onPassed: OnPassed | null = null
/** Where the verifier is, from the outside in. Those in a loop are functions. */
const places: (string | (() => string))[] = []

function pathOf(): string {
  let path = ''
  for (const place of places) {
    const segment = typeof place === 'string' ? place : place()
    path += path === '' || segment === '' || segment.startsWith('[') ? segment : `.${segment}`
  }
  return path
}

/** The condition of a check that refuses if it is true. Returns it unchanged. */
export function told<T>(isBroken: T, code: FailureCode): T {
  if (!isBroken) onPassed?.(code, pathOf)
  return isBroken
}

/** The condition of a check that goes on if it is true. Returns it unchanged. */
export function held<T>(isWell: T, code: FailureCode): T {
  if (isWell) onPassed?.(code, pathOf)
  return isWell
}

/** Runs `work`, which is about a part of the document. */
export function within<T>(place: string | (() => string), work: () => T): T {
  if (onPassed === null) return work()
  places.push(place)
  try {
    return work()
  } finally {
    places.pop()
  }
}

/** Runs `work`, and listens to the checks in it. */
export function listen<T>(listener: OnPassed, work: () => T): T {
  onPassed = listener
  try {
    return work()
  } finally {
    onPassed = null
    places.length = 0
  }
}
