/** The parts of a browser page that the view checks need. */
export interface BrowserPage {
  goto(url: string): Promise<void>
  /** Runs a function in the page. It must not refer to anything outside itself or contain named functions. */
  evaluate<Arguments extends readonly unknown[], Result>(
    script: (...args: Arguments) => Result,
    ...args: Arguments
  ): Promise<Awaited<Result>>
  /** Runs a script in the page. */
  run(source: string): Promise<void>
  press(key: Key): Promise<void>
  chooseFile(selector: string, path: string): Promise<void>
  screenshot(): Promise<Uint8Array>
  /** The console output and errors that the browser reports by itself. WebDriver reports none. */
  complaints?(): readonly string[]
  close(): Promise<void>
}

export type Key = 'Tab' | 'Enter' | 'ArrowDown' | 'End'

export interface PageOptions {
  readonly width: number
  readonly height: number
  readonly colorScheme: 'light' | 'dark'
}

export type OpenPage = (options: PageOptions) => Promise<BrowserPage>
