import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { isArgumentError } from '../../src/entry/index.ts'
import { type Case, cases, closeCases, doors, isWhole, objects, TAKES_ANYTHING, WITHOUT_OPTIONS } from './cases.ts'

/**
 * Walks over every exported function, and spoils a good call of it in every way: a name misspelt, a required one left out, an
 * unknown one added, two arguments swapped, a copied scheme. None of them may pass.
 */
type Path = readonly (string | number)[]

afterAll(closeCases)

const functions = Object.values(doors).flatMap(door =>
  Object.entries(door).filter(([, value]) => typeof value === 'function'),
)

it('has a case for every exported function of every entry point', () => {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(Object.keys(doors)).toEqual([...Object.keys(exports).filter(name => !name.endsWith('.json')), 'devnet'])
  const names = functions.map(([name]) => name)
  expect(names.length).toBeGreaterThan(50)
  const covered = (name: string) => Object.hasOwn(cases, name) || Object.hasOwn(TAKES_ANYTHING, name)
  expect(names.filter(name => !covered(name))).toEqual([])
  const known = (name: string) => name.includes('()') || names.includes(name.split(',')[0] ?? '')
  expect([...Object.keys(cases), ...Object.keys(TAKES_ANYTHING)].filter(name => !known(name))).toEqual([])
})

it('has a case for every function that they return, or knows that it takes no options', () => {
  const names = Object.entries(objects).flatMap(([of, object]) =>
    Object.keys(object).flatMap(name => (typeof Reflect.get(object, name) === 'function' ? `${of}.${name}` : [])),
  )
  const exempt = Object.values(WITHOUT_OPTIONS).flat()
  const missing = Object.keys(cases).filter(name => name.includes('()') && !names.includes(name))
  expect(missing).toEqual([])
  expect(names.filter(name => !Object.hasOwn(cases, name)).sort()).toEqual(exempt.sort())
})

/** Whether the value is an object of the caller's, whose fields are options. */
const isOptions = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isWhole(value)

const at = (value: unknown, path: Path): unknown =>
  path.reduce((holder, name) => Reflect.get(Object(holder), name), value)

/** A copy in which `change` was applied to what is at the path. */
function changed(value: unknown, [name, ...rest]: Path, change: (value: unknown) => unknown): unknown {
  if (name === undefined) return change(value)
  const copy: object = Array.isArray(value) ? [...value] : { ...Object(value) }
  Reflect.set(copy, name, changed(Reflect.get(copy, name), rest, change))
  return copy
}

/** Every place in the arguments that the caller writes: fields at any depth, and the arguments themselves. */
function placesIn({ args, free = [] }: Case): Path[] {
  const visit = (value: unknown, path: Path): Path[] => {
    if (free.includes(path.join('.'))) return []
    const names =
      Array.isArray(value) && !isWhole(value) ? [...value.keys()] : isOptions(value) ? Object.keys(value) : []
    return [path, ...names.flatMap(name => visit(Reflect.get(Object(value), name), [...path, name]))]
  }
  return args.flatMap((value, index) => visit(value, [index]))
}

type Outcome = 'accepted' | 'refused as an argument' | `${string}`

async function outcomeOf({ call }: Case, args: readonly unknown[]): Promise<{ outcome: Outcome; path?: string }> {
  try {
    let result: unknown = (call as (...args: unknown[]) => unknown)(...args)
    const iterator: unknown = Reflect.get(Object(result), Symbol.asyncIterator)
    if (typeof iterator === 'function') {
      const items = result as AsyncGenerator<unknown>
      result = items.next()
      await result
      await items.return(undefined)
    }
    await result
    return { outcome: 'accepted' }
  } catch (error) {
    return isArgumentError(error) ? { outcome: 'refused as an argument', path: error.path } : { outcome: String(error) }
  }
}

/** A field without which less is claimed: that of any rollup, and what the case says. */
const isClaim = ({ claims = [] }: Case, place: string): boolean =>
  claims.includes(place) || /(^|\.)rollup\.implementation$/.test(place)

interface Spoilt {
  readonly what: string
  readonly args: readonly unknown[]
  /** What the error must name. */
  readonly names?: string | undefined
}

const asList = (args: unknown) => args as readonly unknown[]
const without = (name: string, value: unknown) =>
  Object.fromEntries(Object.entries(Object(value)).filter(([own]) => own !== name))

/** What may be any text. */
const LABELS = /\.(name|method|network|apiKeys\.\d|forward\.\d)$/

/** Values of the right type that are wrong wherever this one is right. */
function oddFor(value: unknown, place: string): readonly unknown[] {
  // An age may be a fraction.
  if (typeof value === 'number') return place.endsWith('AgeSeconds') ? [-1, Number.NaN] : [-1, 1.5, Number.NaN]
  if (typeof value === 'bigint') return [-1n, 2n ** 300n]
  return typeof value !== 'string' || LABELS.test(place) ? [] : ['x', '0x1']
}

/** A proxy of the same kind whose every use throws. */
function revokedOf(value: unknown): object {
  const { proxy, revoke } = Proxy.revocable(Array.isArray(value) ? [] : {}, {})
  revoke()
  return proxy
}

/** The calls that must be refused. */
function spoil(one: Case): Spoilt[] {
  const { args, optional = [] } = one
  const isRequired = (path: Path) => !optional.includes(path.join('.'))
  const fields = placesIn(one).filter(path => path.length > 1 && isOptions(at(args, path.slice(0, -1))))
  const change = (path: Path, to: (value: unknown) => unknown) => asList(changed(args, path, to))
  const spoilt: Spoilt[] = []
  for (const path of placesIn(one)) {
    const [value, place] = [at(args, path), path.join('.')]
    if (isOptions(value)) {
      const what = `an unknown field in ${place}`
      spoilt.push({ what, args: change(path, own => ({ ...Object(own), unexpected: 1 })), names: 'unexpected' })
    }
    if (Reflect.get(Object(value), 'name') === 'poseidon2') {
      spoilt.push({
        what: `a copied scheme in ${place}`,
        args: change(path, own => ({ ...Object(own) })),
        names: 'scheme',
      })
    }
    if (path.length === 1 && isRequired(path)) {
      spoilt.push({ what: `no argument ${place}`, args: change(path, () => undefined) })
      spoilt.push({ what: `null for argument ${place}`, args: change(path, () => null) })
    }
  }
  for (const path of placesIn(one)) {
    const [value, place] = [at(args, path), path.join('.')]
    const wrong = typeof value === 'object' && value !== null ? 5 : { wrong: 1 }
    spoilt.push({ what: `${place} of another type`, args: change(path, () => wrong) })
    // A function that throws is the caller's: what it throws is passed on.
    if (typeof value !== 'function')
      spoilt.push({ what: `a revoked proxy for ${place}`, args: change(path, revokedOf) })
    for (const odd of oddFor(value, place)) spoilt.push({ what: `${odd} for ${place}`, args: change(path, () => odd) })
  }
  for (const path of fields) {
    const [holder, name, place] = [path.slice(0, -1), String(path.at(-1)), path.join('.')]
    const rename = (own: unknown) => ({ ...without(name, own), [`${name}s`]: at(own, [name]) })
    spoilt.push({ what: `${place} misspelt`, args: change(holder, rename) })
    if (isClaim(one, place))
      spoilt.push({ what: `${place} undefined`, args: change(path, () => undefined), names: name })
    if (!isRequired(path)) continue
    spoilt.push({ what: `${place} left out`, args: change(holder, own => without(name, own)), names: name })
    spoilt.push({ what: `${place} undefined`, args: change(path, () => undefined), names: name })
  }
  const isFree = (index: number) => one.free?.includes(`${index}`) ?? false
  for (const [i, j] of args.flatMap((_, i) => args.slice(i + 1).map((_, more) => [i, i + 1 + more] as const))) {
    if (isFree(i) && isFree(j)) continue
    const swapped = args.map((own, index) => (index === i ? args[j] : index === j ? args[i] : own))
    spoilt.push({ what: `arguments ${i} and ${j} swapped`, args: swapped })
  }
  return spoilt
}

describe.each(Object.entries(cases))('%s', (_, one) => {
  it('accepts the call as it is, and without each optional part', async () => {
    expect(typeof one.call).toBe('function')
    const first = await outcomeOf(one, one.args)
    // While other cases compute, the service closes a connection that the next request uses.
    const { outcome } = first.outcome.includes('ECONNRESET') ? await outcomeOf(one, one.args) : first
    expect(outcome).toBe('accepted')
    for (const place of one.optional ?? []) {
      const path = place.split('.')
      const leaveOut = (own: unknown) => without(path.at(-1) ?? '', own)
      const args = isClaim(one, place)
        ? changed(one.args, path.slice(0, -1), leaveOut)
        : changed(one.args, path, () => undefined)
      expect(await outcomeOf(one, asList(args)), `${place} left out`).not.toMatchObject({
        outcome: 'refused as an argument',
      })
    }
  })

  it('refuses every spoilt one', async () => {
    const passed: string[] = []
    const spoilt = spoil(one)
    expect(spoilt.length).toBeGreaterThan(0)
    for (const { what, args, names = '' } of spoilt) {
      const { outcome, path = '' } = await outcomeOf(one, args)
      if (outcome !== 'refused as an argument') passed.push(`${what}: ${outcome}`)
      // Without a kind, a claim is one about state, and the rest of it is unknown.
      else if (!path.includes(names) && !/\.kind\b/.test(what) && !(path !== '' && what.includes(`.${path}.`)))
        passed.push(`${what}: refused as ${path || 'a whole'}`)
    }
    expect(passed).toEqual([])
  })
})
