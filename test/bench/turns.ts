import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

/** One or more runs of Node at once: the arguments of each process, its script first. */
export type Contestant = readonly (readonly string[])[]

export interface Turns {
  /** By the clock, without the time in which the processes were stopped. */
  readonly seconds: number
  /** The peak memory of the largest process, in MiB; 0 if unknown. */
  readonly peak: number
}

/** In milliseconds: short, because the speed of a shared machine changes within seconds. */
const TURN = 200

/**
 * Times several things in one run, on a machine whose speed changes: they take turns, and the others are stopped meanwhile. So a
 * slow minute is slow for all of them. Needs a system with SIGSTOP.
 *
 * @returns one result per contestant
 */
export async function inTurns(contestants: readonly Contestant[]): Promise<Turns[]> {
  const entries = contestants.map(processes => {
    const children = processes.map(args => spawn(process.execPath, args, { stdio: 'ignore' }))
    signal(children, 'SIGSTOP')
    return { children, ended: Promise.all(children.map(endOf)), isEnded: false, seconds: 0, peak: 0 }
  })
  try {
    while (entries.some(({ isEnded }) => !isEnded)) {
      for (const entry of entries) {
        if (entry.isEnded) continue
        const begun = performance.now()
        signal(entry.children, 'SIGCONT')
        entry.isEnded = await Promise.race([entry.ended.then(() => true), setTimeout(TURN, false)])
        signal(entry.children, 'SIGSTOP')
        entry.seconds += (performance.now() - begun) / 1000
        entry.peak = Math.max(entry.peak, ...entry.children.map(peakOf))
      }
    }
  } finally {
    // If one fails, the others would stay stopped for ever.
    for (const { children } of entries) signal(children, 'SIGKILL')
  }
  return entries
}

/** @throws Error if the process fails */
function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', code => (code === 0 ? resolve() : reject(new Error(`${child.spawnargs.join(' ')}: ${code}`))))
  })
}

function signal(children: readonly ChildProcess[], name: NodeJS.Signals): void {
  for (const child of children) child.kill(name)
}

/** The peak so far, in MiB; 0 if the process has ended, or this is not Linux. */
function peakOf({ pid }: ChildProcess): number {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
