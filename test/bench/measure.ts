/** The median, which is robust against outliers from a busy machine. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2
}

/**
 * The median time in microseconds of each of the `works`. They run in turns, so that other load on the machine affects all of
 * them alike and their ratios stay meaningful. Each turn repeats a work until it lasts `turnMs`.
 */
export function measureInTurns<Name extends string>(
  works: Readonly<Record<Name, () => unknown>>,
  { turns, turnMs }: { turns: number; turnMs: number },
): Record<Name, number> {
  // The keys of a record are its names.
  const names = Object.keys(works) as Name[]
  const times = new Map(names.map(name => [name, [] as number[]]))
  const repeats = new Map(names.map(name => [name, repeatsFor(works[name], turnMs)]))
  for (let turn = 0; turn < turns; turn++) {
    for (const name of names) times.get(name)?.push(timeOf(works[name], repeats.get(name) ?? 1))
  }
  return Object.fromEntries(names.map(name => [name, median(times.get(name) ?? [])])) as Record<Name, number>
}

/** The mean microseconds per run of `repeats` runs in a row. */
function timeOf(work: () => unknown, repeats: number): number {
  const start = performance.now()
  for (let run = 0; run < repeats; run++) work()
  return ((performance.now() - start) * 1000) / repeats
}

/** How often to repeat a work in a turn. Measuring this also warms it up. */
function repeatsFor(work: () => unknown, turnMs: number): number {
  let repeats = 1
  for (;;) {
    const ms = (timeOf(work, repeats) * repeats) / 1000
    if (ms >= turnMs) return repeats
    repeats = Math.max(repeats + 1, Math.min(10 * repeats, Math.ceil((repeats * turnMs) / Math.max(ms, 0.001))))
  }
}

const [TURNS, TURN_MS] = [15, 30]

/**
 * The microseconds of processor time that each work takes, turn by turn: other programs lengthen them less than those of a clock.
 * What is asynchronous is awaited.
 */
export async function measureProcessor(works: readonly (() => unknown)[], turns = TURNS): Promise<number[][]> {
  const time = async (work: () => unknown, runs: number) => {
    const before = process.cpuUsage()
    for (let run = 0; run < runs; run++) {
      const outcome = work()
      if (outcome instanceof Promise) await outcome
    }
    const { user, system } = process.cpuUsage(before)
    return (user + system) / runs
  }
  const runs: number[] = []
  const times: number[][] = works.map(() => [])
  for (const [index, work] of works.entries()) {
    await time(work, 20)
    runs[index] = Math.max(1, Math.ceil((TURN_MS * 1000) / (await time(work, 20))))
  }
  for (let turn = 0; turn < turns; turn++) {
    for (const [index, work] of works.entries()) times[index]?.push(await time(work, runs[index] ?? 1))
  }
  return times
}
