import { afterEach, describe, expect, it, vi } from 'vitest'
import { bytesToHex } from '../../../src/base/bytes.ts'
import { provideKernel } from '../../../src/verify/hash/kernel.ts'
import { mimcWasm } from '../../../src/verify/hash/mimc/generated.ts'
import { mimcHasher, mimcKernel } from '../../../src/verify/hash/mimc/kernel.ts'
import { poseidon2Wasm } from '../../../src/verify/hash/poseidon2/generated.ts'
import { poseidon2Hasher, poseidon2Kernel } from '../../../src/verify/hash/poseidon2/kernel.ts'
import { mimcReference } from './reference/mimc.ts'
import { poseidon2Reference } from './reference/poseidon2.ts'

const message = new Uint8Array(64).fill(1)
const schemes = [
  { name: 'mimc', wasm: mimcWasm, shipped: mimcHasher, kernel: mimcKernel, reference: mimcReference },
  {
    name: 'poseidon2',
    wasm: poseidon2Wasm,
    shipped: poseidon2Hasher,
    kernel: poseidon2Kernel,
    reference: poseidon2Reference,
  },
] as const

const refuse = vi.fn(function forbidden() {
  throw new Error('unsafe-eval is not allowed')
})

afterEach(() => {
  vi.unstubAllGlobals()
  refuse.mockClear()
})

for (const { name, wasm, shipped, kernel, reference } of schemes) {
  const expected = bytesToHex(reference().hash(message))

  describe(`the shipped ${name} hasher`, () => {
    it('is the kernel if WebAssembly is available', () => {
      const { Instance, Module } = WebAssembly
      const instances = vi.fn()
      class Counted extends Instance {
        constructor(module: object) {
          super(module)
          instances()
        }
      }
      vi.stubGlobal('WebAssembly', { Module, Instance: Counted })
      expect(bytesToHex(shipped().hash(message))).toBe(expected)
      expect(instances).toHaveBeenCalledTimes(1)
    })

    it('is the fallback without WebAssembly', () => {
      vi.stubGlobal('WebAssembly', undefined)
      expect(() => kernel()).toThrow(TypeError)
      expect(bytesToHex(shipped().hash(message))).toBe(expected)
    })

    it('is the fallback if a policy forbids WebAssembly or SIMD is unsupported', () => {
      vi.stubGlobal('WebAssembly', { Module: refuse, Instance: refuse })
      expect(bytesToHex(shipped().hash(message))).toBe(expected)
      expect(refuse).toHaveBeenCalledTimes(1)
    })

    // Last, because what is provided stays.
    it('is the kernel that the runtime compiled, and the fallback if that is something else', () => {
      const { Instance, Module } = WebAssembly
      vi.stubGlobal('WebAssembly', { Module: refuse, Instance })
      provideKernel(wasm, new Module(Buffer.from(wasm, 'base64')))
      expect(bytesToHex(kernel().hash(message))).toBe(expected)
      provideKernel(wasm, {})
      expect(() => kernel()).toThrow(TypeError)
      expect(bytesToHex(shipped().hash(message))).toBe(expected)
      expect(refuse).not.toHaveBeenCalled()
    })
  })
}

declare const WebAssembly: {
  readonly Module: new (binary: Uint8Array) => object
  readonly Instance: new (module: object) => object
}
