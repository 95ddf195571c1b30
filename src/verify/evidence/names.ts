/** The kinds of evidence: what a bundle says that it proves. */
export type EvidenceName = 'state' | 'logs' | 'message' | 'call'

/** A kind of evidence, as a claim names it: `stateEvidence`, `logsEvidence` or `messageEvidence`. */
export interface NamedEvidence<Name extends string = string> {
  /** What a bundle of this kind says that it proves. */
  readonly name: Name
}
