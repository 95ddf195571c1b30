import type { Hasher } from './hasher.ts'

/** The part of the WebAssembly API that is used. TypeScript declares it only in its browser library. */
declare const WebAssembly: {
  readonly Module: new (binary: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}

/** What a compiled kernel exports: see the ends of the files in `assembly/`. */
export interface KernelExports {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly input: Global
  readonly inputLength: Global
  readonly output: Global
  begin(): void
  absorb(length: number): void
  finish(): void
}
/** What a kernel with the batch forms of a {@link Hasher} also exports. */
export interface BatchExports extends KernelExports {
  readonly outputLength: Global
  hashEach(count: number, length: number): void
  climb(levels: number, position: number): void
}
/** An address, or a length. */
export interface Global {
  readonly value: number
}

/** Kernels that the runtime has compiled, by their base64. */
const compiled = /* @__PURE__ */ new Map<string, object>()

/** Provides a compiled kernel to a runtime that does not compile bytes: a WebAssembly.Module, or else the fallback is used. */
export const provideKernel = (base64: string, module: object): unknown => compiled.set(base64, module)

/** @throws whatever the engine throws if WebAssembly is missing, is forbidden by the page's policy, or lacks SIMD */
export function instantiateKernel<Exports extends KernelExports>(base64: string): Exports {
  const binary = () => Uint8Array.from(atob(base64), character => character.charCodeAt(0))
  const { exports } = new WebAssembly.Instance(compiled.get(base64) ?? new WebAssembly.Module(binary()))
  // The binary is our own: the types list what its source exports.
  return exports as Exports
}

/** Passes a message of any length through the kernel's memory in pieces, and copies the digest out of it. */
export function hashOfKernel(kernel: KernelExports): Hasher['hash'] {
  const [input, output] = buffersOf(kernel, 32)
  return message => {
    kernel.begin()
    for (let offset = 0; offset < message.length; offset += input.length) {
      // Avoid views of whole messages: a view of an array of up to 64 bytes makes the engine move the array off its heap.
      const piece = message.length <= input.length ? message : message.subarray(offset, offset + input.length)
      input.set(piece)
      kernel.absorb(piece.length)
    }
    kernel.finish()
    return output.slice()
  }
}

export function hasherOfKernel(kernel: BatchExports): Hasher {
  const [input, output] = buffersOf(kernel, kernel.outputLength.value)
  const hash = hashOfKernel(kernel)
  const digestsAtOnce = output.length / 32
  const siblingsAtOnce = input.length / 32

  const fill = (pieces: readonly Uint8Array[], length: number) => {
    for (let index = 0; index < pieces.length; index++) input.set(pieces[index] ?? [], index * length)
  }

  return {
    hash,
    hashBatch(messages) {
      const length = messages[0]?.length ?? 0
      const atOnce = Math.min(Math.floor(input.length / length), digestsAtOnce)
      if (atOnce === 0) return messages.map(hash)
      const digests: Uint8Array[] = []
      for (let start = 0; start < messages.length; start += atOnce) {
        const piece = messages.slice(start, start + atOnce)
        fill(piece, length)
        kernel.hashEach(piece.length, length)
        for (let offset = 0; offset < piece.length * 32; offset += 32) digests.push(output.slice(offset, offset + 32))
      }
      return digests
    },
    foldPath(digest, siblings, leafIndex) {
      output.set(digest)
      for (let level = 0; level < siblings.length; level += siblingsAtOnce) {
        const piece = siblings.slice(level, level + siblingsAtOnce)
        fill(piece, 32)
        kernel.climb(piece.length, Math.floor(leafIndex / 2 ** level))
      }
      return output.slice(0, 32)
    },
  }
}

const buffersOf = ({ memory: { buffer }, input, inputLength, output }: KernelExports, outputLength: number) =>
  [new Uint8Array(buffer, input.value, inputLength.value), new Uint8Array(buffer, output.value, outputLength)] as const

/** The kernel or, if WebAssembly or its SIMD is unavailable, the fallback, which computes the same digests more slowly. */
export function kernelOr<T>(kernel: () => T, fallback: () => T): T {
  try {
    return kernel()
  } catch {
    return fallback()
  }
}
