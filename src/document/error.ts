/** The file cannot be used for what it was opened for. The message says why, and can follow the name of the file. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError'
}
