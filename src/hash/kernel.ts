import { type Hasher, hasherOf } from './hasher.ts'

/** The part of the platform's WebAssembly that is used; TypeScript has its types only among those of browsers. */
declare const WebAssembly: {
  readonly Module: new (binary: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}

/** What a compiled kernel offers, besides the addresses of its tables: see the ends of the files in `assembly/`. */
interface KernelExports {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly input: Global
  readonly inputLength: Global
  readonly output: Global
  readonly outputLength: Global
  begin(): void
  absorb(length: number): void
  finish(): void
  hashEach(count: number, length: number): void
  climb(levels: number, position: number): void
}
interface Global {
  readonly value: number
}

/**
 * Compiles a kernel and gives it a memory of its own.
 *
 * @typeParam Tables the names of the addresses at which it expects its constants
 * @throws whatever the engine throws: WebAssembly is missing, forbidden by the page's policy, or without SIMD
 */
export function instantiateKernel<Tables extends string>(base64: string): KernelExports & Record<Tables, Global> {
  const binary = Uint8Array.from(atob(base64), character => character.charCodeAt(0))
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(binary))
  // The binary is our own: the types say what its source exports.
  return exports as KernelExports & Record<Tables, Global>
}

/**
 * Bytes `start` to `end`, which may lie behind the last. All of them are the array itself, for speed: a view of an array of
 * up to 64 bytes makes the engine move it out of its heap.
 */
function cut(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return start === 0 && end >= bytes.length ? bytes : bytes.subarray(start, end)
}

/** Messages of any length go through the kernel's memory in pieces; answers are copied out of it. */
export function hasherOfKernel(kernel: KernelExports): Hasher {
  const { buffer } = kernel.memory
  const input = new Uint8Array(buffer, kernel.input.value, kernel.inputLength.value)
  const output = new Uint8Array(buffer, kernel.output.value, kernel.outputLength.value)

  function hash(message: Uint8Array): Uint8Array {
    kernel.begin()
    for (let offset = 0; offset < message.length; offset += input.length) {
      const piece = cut(message, offset, offset + input.length)
      input.set(piece)
      kernel.absorb(piece.length)
    }
    kernel.finish()
    return output.slice(0, 32)
  }

  return {
    hash,
    hashEach(messages, length) {
      const atOnce = Math.min(Math.floor(input.length / length), output.length / 32)
      if (atOnce === 0) return hasherOf(hash).hashEach(messages, length)
      const digests = new Uint8Array((messages.length / length) * 32)
      for (let index = 0; index * length < messages.length; index += atOnce) {
        const piece = cut(messages, index * length, (index + atOnce) * length)
        const count = piece.length / length
        input.set(piece)
        kernel.hashEach(count, length)
        digests.set(output.subarray(0, count * 32), index * 32)
      }
      return digests
    },
    climb(digest, siblings, position) {
      output.set(digest)
      for (let offset = 0; offset < siblings.length; offset += input.length) {
        const piece = cut(siblings, offset, offset + input.length)
        input.set(piece)
        kernel.climb(piece.length / 32, Math.floor(position / 2 ** (offset / 32)))
      }
      return output.slice(0, 32)
    },
  }
}

/** The kernel, or what gives the same answers more slowly where WebAssembly with SIMD is not to be had. */
export function kernelOr(kernel: () => Hasher, fallback: () => Hasher): Hasher {
  try {
    return kernel()
  } catch {
    return fallback()
  }
}
