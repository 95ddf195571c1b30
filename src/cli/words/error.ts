/** A file that cannot be used for its purpose. The message says why, and is worded to follow the file's name. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError'
}
