/** Methods by name. Each gets the parameters of a request as they came, and throws a ProviderError if they do not fit. */
export type Methods = Readonly<Record<string, (given: unknown) => unknown>>
