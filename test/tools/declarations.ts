import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The declarations in a folder. */
const declarationsIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.d.ts'))
    .map(name => join(folder, name))

/** Removes the declarations that those of the entry points do not lead to: no program can import them. */
export function keepReachable(folder: string, entryPoints: readonly string[]): void {
  const reached = new Set(entryPoints.map(name => join(folder, name)))
  for (const file of reached) {
    const targets = readFileSync(file, 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]*)\.ts['"]/g)
    for (const [, target = ''] of targets) reached.add(join(dirname(file), `${target}.d.ts`))
  }
  for (const file of declarationsIn(folder)) if (!reached.has(file)) rmSync(file)
}

/** Leaves out the type argument of byte arrays where it is the default: compilers before 5.7 know of none. */
export function omitDefaults(folder: string): void {
  for (const file of declarationsIn(folder)) {
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('Uint8Array<ArrayBufferLike>', 'Uint8Array'))
  }
}

/**
 * Takes the types that the library exports from its entry points, so that they are the same types for a program that uses both
 * packages. A scheme has a unique symbol: the type of a copy would be another.
 *
 * @param folder with the package's own declarations, which import from the library's by relative names
 * @param doors the entry point of each name that the library exports
 */
export function importPublic(folder: string, doors: ReadonlyMap<string, string>): void {
  const imports = /^(import|export) (type )?\{([^}]*)\} from ['"](?:\.\.\/)+(?:base|verify|client|provider)\/.*;$/gm
  for (const file of declarationsIn(folder)) {
    const text = readFileSync(file, 'utf8')
    writeFileSync(
      file,
      text.replace(imports, (statement: string, word: string, _, list: string) => {
        const names = list.split(',').flatMap(item => item.trim().replace(/^type /, '') || [])
        const isPublic = (name: string) => doors.has(name)
        const rest = names.filter(name => !isPublic(name))
        const others = rest.length === 0 ? [] : [statement.replace(/\{[^}]*\}/, `{ ${rest.join(', ')} }`)]
        const taken = names.filter(isPublic).map(name => `${word} type { ${name} } from '${doors.get(name)}';`)
        return [...taken, ...others].join('\n')
      }),
    )
  }
}
