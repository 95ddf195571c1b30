/** Items on which several workers, or requests, are busy at once. */
export interface Work<Item, Outcome> {
  readonly items: AsyncIterable<Item> | Iterable<Item>
  /** How much may be under way, or done before its turn. */
  readonly ahead: number
  /** What an item counts for. Default: 1 */
  readonly weigh?: (item: Item) => number
  run(item: Item): Promise<Outcome>
}

/** Yields the outcomes in the order of the items. Those of items before the source fails are yielded before its error is thrown. */
export async function* inOrder<Item, Outcome>(work: Work<Item, Outcome>): AsyncGenerator<Outcome> {
  const { items, ahead, weigh = () => 1, run } = work
  const pending: { readonly weight: number; readonly outcome: Promise<Outcome> }[] = []
  const rest = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]()
  let weight = 0
  let failure: { readonly error: unknown } | undefined
  try {
    for (let isOver = false; !isOver || pending.length > 0; ) {
      // Runs ahead of the awaited item, so that a slow one does not hold up the others.
      while (!isOver && weight < ahead) {
        try {
          const next = await rest.next()
          isOver = next.done === true
          if (next.done) break
          // Before it runs, which may take it apart.
          const own = weigh(next.value)
          const outcome = run(next.value)
          // Awaited in its turn. Until then, a failure must not count as unhandled.
          outcome.catch(() => {})
          pending.push({ weight: own, outcome })
          weight += own
        } catch (error) {
          failure = { error }
          isOver = true
        }
      }
      const first = pending.shift()
      if (first === undefined) continue
      yield await first.outcome
      weight -= first.weight
    }
    if (failure !== undefined) throw failure.error
  } finally {
    await rest.return?.()
  }
}
