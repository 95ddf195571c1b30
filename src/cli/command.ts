/** Where a command reads and writes: the process, or a test's stand-ins. */
export interface Io {
  readonly stdin: AsyncIterable<string | Uint8Array>
  readonly stdout: Output
  readonly stderr: Output
}

export type Output = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }

export interface Command {
  readonly help: string
  run(args: readonly string[], io: Io): Promise<number>
}

/** See `exitCodeOf` for those of a verdict. After `noAnswer`, the same command may succeed another time. */
export const exitCodes = { verified: 0, refused: 1, unusable: 2, noAnswer: 3, consistent: 4 } as const
