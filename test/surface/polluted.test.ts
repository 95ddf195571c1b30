import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import type { PollutedReport } from './polluted.ts'

// Minutes, on a machine that others use.
const TIMEOUT = 900_000

it(
  'reaches the same verdicts, with the same codes, whatever stands on the prototypes that all objects share',
  async () => {
    const args = ['--import', 'tsx', 'test/surface/polluted.ts']
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26 })
    const { differences, ...counts }: PollutedReport = JSON.parse(stdout)
    expect(differences).toEqual([])
    const { names, together, alone, values, runs } = counts
    expect(names).toBeGreaterThan(600)
    expect(together).toBeGreaterThan(1000)
    expect({ alone, values }).toEqual({ alone: 3, values: 7 })
    expect(runs).toBeGreaterThan(together + names * alone)
  },
  TIMEOUT,
)
