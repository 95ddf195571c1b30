import { invalid } from '../../base/arguments.ts'

export type Hardfork = 'london' | 'paris' | 'shanghai' | 'cancun' | 'prague' | 'osaka'

export const HARDFORKS: readonly Hardfork[] = ['london', 'paris', 'shanghai', 'cancun', 'prague', 'osaka']
/** Linea has run it since 28 October 2025. */
export const DEFAULT_HARDFORK: Hardfork = 'prague'

export function verifyHardfork(hardfork: Hardfork): Hardfork {
  if (HARDFORKS.includes(hardfork)) return hardfork
  throw invalid('hardfork', `one of ${HARDFORKS.join(', ')}`, hardfork)
}

export const isSince = (first: Hardfork, hardfork: Hardfork): boolean =>
  HARDFORKS.indexOf(hardfork) >= HARDFORKS.indexOf(first)
