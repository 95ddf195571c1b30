/** The folders of vectors. Each has `valid/` and `invalid/`. */
export const VECTOR_FOLDERS = [
  ...['mimc', 'poseidon2', 'evidence', 'beacon', 'calls', 'blocks', 'logs', 'messages', 'transitions'],
] as const
