import type { EvidenceName } from '../../verify/evidence/kinds.ts'

export const evidenceNames: Readonly<Record<EvidenceName, string>> = {
  state: 'an evidence bundle',
  logs: 'logs as evidence',
  message: 'a message as evidence',
  call: 'a call as evidence',
}
