declare module '*.wasm' {
  /** A WebAssembly.Module. */
  const module: object
  // biome-ignore lint/style/noDefaultExport: workerd decides how it names the module
  export default module
}
