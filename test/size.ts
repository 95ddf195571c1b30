const { TEST_SIZE = '1' } = process.env

/** How much the expensive properties try. `TEST_SIZE=10 npm test` tries ten times as much; the seeds stay the same. */
const SIZE = Number(TEST_SIZE)
if (!(SIZE >= 1)) throw new Error(`TEST_SIZE: expected a number from 1, got ${TEST_SIZE}`)

/** How many runs, when `npm test` makes `count`. */
export const sized = (count: number): number => Math.ceil(count * SIZE)

/** One case of how many, when `npm test` takes one of `stride`. */
export const strided = (stride: number): number => Math.max(1, Math.floor(stride / SIZE))
