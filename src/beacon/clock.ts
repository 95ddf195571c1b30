/**
 * The clock of beacon chains: seconds per slot, slots per epoch and per sync-committee period. They are numbers, which bundlers
 * put in place: clients that use them carry nothing of this layer.
 */
export const SECONDS_PER_SLOT = 12
export const SLOTS_PER_EPOCH = 32
export const SLOTS_PER_PERIOD = 8192
