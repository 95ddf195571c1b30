/** Runs a program for React Native with what its engine has: no modules, no WebAssembly. */
import { readFileSync } from 'node:fs'
import { createContext, runInContext } from 'node:vm'

const { console, performance, setTimeout, clearTimeout, setImmediate, queueMicrotask } = globalThis
const { fetch, URL, AbortController, AbortSignal, TextEncoder, crypto } = globalThis
const context = createContext({
  ...{ console, performance, setTimeout, clearTimeout, setImmediate, queueMicrotask },
  ...{ fetch, URL, AbortController, AbortSignal, TextEncoder, crypto },
})
runInContext('globalThis.window = globalThis.global = globalThis; delete globalThis.WebAssembly', context)
runInContext(readFileSync(process.argv[2], 'utf8'), context)
