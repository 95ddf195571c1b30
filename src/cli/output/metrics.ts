import { createHttpServer, send } from '../../devnet/http/server.ts'
import type { FollowEvent } from '../../entry/rpc.ts'
import { cannotListen } from '../errors.ts'
import type { Verdict } from '../words/verdict.ts'

const PREFIX = 'rollup_state_proof_follow'

/** What each metric says. Those that end with `_total` are counters, the others gauges. */
const METRICS = {
  polls_total: 'Number of polls for the L1 block hash.',
  finalizations_total: 'Number of finalizations proven.',
  l2_block: 'Last L2 block of the newest proven finalization.',
  l1_block: 'L1 block from which the newest finalization is proven.',
  l2_block_timestamp_seconds: 'Proven Unix time of the L2 block, or of an older one if its own time is not proven.',
  proven_at_timestamp_seconds: 'Unix time of the newest proof, by the clock of this machine.',
  request_failures_total: 'Number of requests that failed or whose answer was refused.',
  retries_total: 'Number of pauses after a round in which every endpoint failed.',
  waits_total: 'Number of times that requests were seen to wait because an endpoint limits their rate.',
  l1_behind_total: 'Number of polls in which the L1 block was older than one before.',
  proofs_unavailable_total: 'Number of times that no L2 endpoint had the proofs of a finalization.',
  skipped_total: 'Number of finalizations skipped because no L2 endpoint has their proofs any longer.',
  hints_refused_total: 'Number of finalizations that an L1 endpoint invented.',
  logs_unusable_total: 'Number of times that the logs of an L1 endpoint lacked the newest finalization.',
  implementation_changes_total: 'Number of times that the code of the contract was seen to have changed.',
  verified: 'Whether the proofs rest on your own word (1: verified) or on that of endpoints (0: consistent).',
}

type Name = keyof typeof METRICS

const COUNTED: Readonly<Record<FollowEvent['name'], Name>> = {
  'follow.poll': 'polls_total',
  'follow.finalization': 'finalizations_total',
  'follow.request.failed': 'request_failures_total',
  'follow.waiting': 'waits_total',
  'follow.l1.behind': 'l1_behind_total',
  'follow.logs.unusable': 'logs_unusable_total',
  'follow.hint.refused': 'hints_refused_total',
  'follow.proof.unavailable': 'proofs_unavailable_total',
  'follow.skipped': 'skipped_total',
  'follow.implementation.changed': 'implementation_changes_total',
  'follow.retry': 'retries_total',
}

type Failure = Extract<FollowEvent, { name: 'follow.request.failed' }>['attributes']

/** A layer, a number and a code need no escapes. */
const labelsOf = ({ layer, 'endpoint.index': index, 'error.type': code }: Failure) =>
  `{layer="${layer}",endpoint="${index}",code="${code}"}`

export type Metrics = ReturnType<typeof createMetrics>

/** The Prometheus metrics of `follow`. */
export function createMetrics({ word }: Pick<Verdict, 'word'>) {
  /** By name, then by labels. */
  const values = new Map<Name, Map<string, number>>()
  const set = (name: Name, value: number, labels = '') => {
    values.set(name, (values.get(name) ?? new Map<string, number>()).set(labels, value))
  }
  const add = (name: Name, labels = '') => set(name, (values.get(name)?.get(labels) ?? 0) + 1, labels)
  set('verified', word === 'verified' ? 1 : 0)
  for (const name of Object.values(COUNTED)) if (name !== 'request_failures_total') set(name, 0)
  return {
    count(event: FollowEvent): void {
      add(COUNTED[event.name], event.name === 'follow.request.failed' ? labelsOf(event.attributes) : '')
      if (event.name !== 'follow.finalization') return
      const { attributes } = event
      set('l2_block', attributes['l2.block.number'])
      set('l1_block', attributes['l1.block.number'])
      set('proven_at_timestamp_seconds', Math.floor(Date.now() / 1000))
      const timestamp = attributes['l2.block.timestamp']
      if (timestamp !== undefined) set('l2_block_timestamp_seconds', timestamp)
    },
    /** The metrics in Prometheus' text format. */
    text(): string {
      const lines = Object.entries(METRICS).flatMap(([name, help]) => {
        const samples = [...(values.get(name as Name) ?? [])].map(
          ([labels, value]) => `${PREFIX}_${name}${labels} ${value}`,
        )
        const type = name.endsWith('_total') ? 'counter' : 'gauge'
        return [`# HELP ${PREFIX}_${name} ${help}`, `# TYPE ${PREFIX}_${name} ${type}`, ...samples]
      })
      return `${lines.join('\n')}\n`
    },
  }
}

/** Serves the metrics at `/metrics`, to programs on this machine only. @throws UsageError if the port is taken */
export async function serveMetrics(metrics: Metrics, port: number): Promise<{ url: string; close(): void }> {
  const server = createHttpServer(async (request, response) => {
    const isKnown = request.url === '/metrics' && request.method === 'GET'
    if (isKnown) send(response, 200, 'text/plain; version=0.0.4; charset=utf-8', metrics.text())
    else response.writeHead(404).end()
  })
  const url = await server.listen(port, '127.0.0.1').catch(cannotListen('--metrics'))
  return { url: `${url}/metrics`, close: () => void server.close(0) }
}
