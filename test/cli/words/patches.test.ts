import { expect, it } from 'vitest'
import { DocumentError } from '../../../src/cli/words/error.ts'
import { applyPatches, baseNameOf } from '../../../src/cli/words/patches.ts'

it('names the base of a vector, which is a plain name', () => {
  expect(baseNameOf({ base: 'electra-2', patches: [] })).toBe('electra-2')
  for (const none of [{ base: 'x' }, { patches: [] }, null, [], 'x']) expect(baseNameOf(none)).toBeNull()
  for (const base of ['../x', 'a/b', '', 'A', 'a.json', 'a'.repeat(101), '.', 7, null, ['x'], 'a\n']) {
    expect(() => baseNameOf({ base, patches: [] }), String(base)).toThrow(DocumentError)
  }
})

const base = () => ({ input: { a: { b: 1 }, list: [1, 2, 3], text: 'x', none: null }, other: 7 })
const patched = (...patches: readonly unknown[]) => applyPatches({ name: 'v', base: 'x', patches }, base())

it('changes a copy of the base, in order', () => {
  const original = base()
  const vector = {
    name: 'v',
    patches: [
      { path: 'a.b', value: { c: 2 } },
      { path: 'a.b.c', value: 3 },
    ],
  }
  expect(applyPatches(vector, original)).toEqual({ name: 'v', input: { ...base().input, a: { b: { c: 3 } } } })
  expect(original).toEqual(base())
  expect(patched()).toEqual({ name: 'v', base: 'x', input: base().input })
})

it.each([
  [
    { path: 'a.new', value: null },
    { ...base().input, a: { b: 1, new: null } },
  ],
  [
    { path: 'list.1', value: 'x' },
    { ...base().input, list: [1, 'x', 3] },
  ],
  [
    { path: 'list.3', value: 4 },
    { ...base().input, list: [1, 2, 3, 4] },
  ],
  [
    { path: 'list', length: 1 },
    { ...base().input, list: [1] },
  ],
  [{ path: 'list', length: 3 }, base().input],
  [
    { path: 'list', length: 0, value: 7 },
    { ...base().input, list: [] },
  ],
])('applies %j', (patch, input) => {
  expect(patched(patch)).toMatchObject({ input })
})

it.each([
  [{ value: 1 }, 'a patch needs a path'],
  [{ path: ['a'], value: 1 }, 'a patch needs a path'],
  [null, 'a patch needs a path'],
  [{ path: 'a.b' }, 'at the path a.b'],
  [{ path: 'a.x.y', value: 1 }, 'at the path a.x.y'],
  [{ path: 'text.0', value: 1 }, 'at the path text.0'],
  [{ path: 'text.length.x', value: 1 }, 'at the path text.length.x'],
  [{ path: 'none.x', value: 1 }, 'at the path none.x'],
  [{ path: 'list.4', value: 1 }, 'at the path list.4'],
  [{ path: 'list.-1', value: 1 }, 'at the path list.-1'],
  [{ path: 'list.length', value: 9 }, 'at the path list.length'],
  [{ path: 'list.9999999999', value: 1 }, 'at the path list.9999999999'],
  [{ path: 'a', length: 0 }, 'at the path a'],
  [{ path: 'text', length: 0 }, 'at the path text'],
  [{ path: 'list', length: 4 }, 'at the path list'],
  [{ path: 'list', length: -1 }, 'at the path list'],
  [{ path: 'list', length: 1.5 }, 'at the path list'],
  [{ path: 'list', length: '1' }, 'at the path list'],
])('refuses %j', (patch, message) => {
  expect(() => patched(patch)).toThrow(DocumentError)
  expect(() => patched(patch)).toThrow(message)
})

it('refuses patches that are no list, and reaches no prototype', () => {
  for (const patches of [undefined, null, {}, 'x']) {
    expect(() => applyPatches({ patches }, base())).toThrow('patches: expected an array')
  }
  for (const path of ['__proto__.polluted', 'a.__proto__.polluted', 'a.constructor.prototype.polluted']) {
    expect(() => patched({ path, value: 1 }), path).toThrow(DocumentError)
  }
  const { input } = patched({ path: 'a.__proto__', value: { polluted: 1 } }) as { input: { a: object } }
  expect(Object.getPrototypeOf(input.a)).toBe(Object.prototype)
  expect(Object.keys(input.a)).toEqual(['b', '__proto__'])
  expect(Reflect.get({}, 'polluted')).toBeUndefined()
})
