/** A decoder that also accepts a missing field. */
export const optional =
  <T>(decode: (value: unknown) => T) =>
  (value: unknown): T | undefined =>
    value === undefined ? undefined : decode(value)
