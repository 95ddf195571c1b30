import { isBulk, ownerOf } from './whose.ts'

/** Something that waits for its turn. */
export interface Waiting {
  /** It says whose work it is, and whether that is bulk. */
  readonly signal: AbortSignal | undefined
  /** How often it had its turn in vain. */
  readonly retries: number
}

/** Works of one kind, by their owners, who take turns. */
function createLane<Entry extends Waiting>(share: number) {
  /** Those that were refused go first: who asked for them has waited longest. */
  const again = new Set<Entry>()
  const owners = new Map<unknown, Set<Entry>>()
  return {
    share,
    /** How much of the endpoint's time it had, by its share. */
    used: 0,
    isEmpty: () => again.size + owners.size === 0,
    all: () => [again, ...owners.values()].flatMap(entries => [...entries]),
    add(entry: Entry): void {
      const owner = ownerOf(entry.signal)
      const entries = entry.retries > 0 ? again : (owners.get(owner) ?? new Set())
      entries.add(entry)
      if (entries !== again) owners.set(owner, entries)
    },
    remove(entry: Entry): boolean {
      const owner = ownerOf(entry.signal)
      const own = owners.get(owner)
      const wasThere = again.delete(entry) || own?.delete(entry) === true
      if (own?.size === 0) owners.delete(owner)
      return wasThere
    },
    next(): Entry | undefined {
      for (const entry of again) return entry
      for (const [owner, [entry, second]] of owners) {
        const own = owners.get(owner)
        // The next turn is another owner's.
        if (second !== undefined && own && owners.delete(owner)) owners.set(owner, own)
        return entry
      }
      return undefined
    },
  }
}

/** Those that wait: single requests get four turns for each of bulk work, so neither stops the other. */
export function createLanes<Entry extends Waiting>() {
  const [single, bulk] = [createLane<Entry>(4), createLane<Entry>(1)]
  const laneOf = ({ signal }: Entry) => (isBulk(signal) ? bulk : single)
  let length = 0
  return {
    get length() {
      return length
    },
    all: () => [single, bulk].flatMap(lane => lane.all()),
    add(entry: Entry): void {
      const lane = laneOf(entry)
      // Who had nothing to ask has not saved up turns.
      if (lane.isEmpty()) lane.used = Math.max(lane.used, (lane === bulk ? single : bulk).used)
      lane.add(entry)
      length++
    },
    remove(entry: Entry): void {
      if (laneOf(entry).remove(entry)) length--
    },
    /** @param mayBeBulk whether bulk work may have the turn */
    take(mayBeBulk: boolean): Entry | undefined {
      const mayNext = [single, bulk].filter(lane => !lane.isEmpty() && (lane === single || mayBeBulk))
      const lane = mayNext.sort((a, b) => a.used - b.used)[0]
      const entry = lane?.next()
      if (lane === undefined || entry === undefined) return undefined
      lane.used += 1 / lane.share
      lane.remove(entry)
      length--
      return entry
    },
  }
}
