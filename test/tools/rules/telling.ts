import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { guardOf, isRule, layerOfFile } from './sites.ts'

/** Makes the checks of the verifier tell that they are run, for the page: `src/site/told.ts` listens. */

const TOLD = fileURLToPath(new URL('../../../src/site/told.ts', import.meta.url))
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const ERRORS = 'src/base/errors.ts'

/** What makes an error of a code, its first argument. */
const MAKERS = ['refusal', 'mismatch', 'failure', 'ProofError']

/** The source of a file in which each check tells that it is run; null if the file has no checks. @param path absolute */
export function tellChecks(path: string, text: string): string | null {
  const file = path.slice(ROOT.length)
  if (!path.startsWith(ROOT)) return null
  if (file === ERRORS) return tellPlaces(text)
  if (!layerOfFile.has(file)) return null
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const insertions: { at: number; text: string }[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isThrowStatement(node) && isRule(node, source)) tell(node)
    ts.forEachChild(node, visit)
  }
  function tell(node: ts.ThrowStatement): void {
    const code = codeOf(node.expression, source)
    const found = guardOf(node)
    if (code === null || found === null) return
    if (found.kind === 'catch' && !code.startsWith("'")) return
    const isBad = found.kind === 'if'
    const start = startOf(found.expression, isBad).getStart(source)
    insertions.push({ at: start, text: `${isBad ? '$told' : '$held'}(` })
    insertions.push({ at: found.expression.getEnd(), text: `, ${code})` })
  }
  visit(source)
  if (insertions.length === 0) return null
  let marked = `import { held as $held, told as $told } from ${JSON.stringify(TOLD)};`
  let done = 0
  for (const { at, text: inserted } of insertions.toSorted((a, b) => a.at - b.at)) {
    marked += text.slice(done, at) + inserted
    done = at
  }
  return marked + text.slice(done)
}

/** The one function that puts a place in front of an error's path. */
function tellPlaces(text: string): string {
  const [before, after, ...more] = text.split('return work()')
  if (after === undefined || more.length > 0) throw new Error(`${ERRORS} has no one place where atPath works`)
  return `import { within } from ${JSON.stringify(TOLD)};${before}return within(segment, work)${after}`
}

/** The code that an error would have, as an expression; null if it is not known at the condition. */
function codeOf(expression: ts.Expression, source: ts.SourceFile): string | null {
  if (!ts.isCallExpression(expression) && !ts.isNewExpression(expression)) return null
  const callee = expression.expression.getText(source)
  const [code] = expression.arguments ?? []
  if (MAKERS.includes(callee)) return code?.getText(source) ?? null
  // A helper of the file that makes errors of one code.
  const [made] = find(source, node => isNamed(node, callee)).flatMap(helper => find(helper, isMaking))
  return made === undefined ? null : codeOf(made, source)
}

const isMaking = (node: ts.Node): node is ts.CallExpression | ts.NewExpression =>
  (ts.isCallExpression(node) || ts.isNewExpression(node)) && MAKERS.includes(node.expression.getText())

const isNamed = (node: ts.Node, name: string): node is ts.FunctionDeclaration | ts.VariableDeclaration =>
  (ts.isFunctionDeclaration(node) || ts.isVariableDeclaration(node)) && node.name?.getText() === name

function find<T extends ts.Node>(node: ts.Node, is: (node: ts.Node) => node is T): T[] {
  const found: T[] = []
  const visit = (one: ts.Node): void => {
    if (is(one)) found.push(one)
    else ts.forEachChild(one, visit)
  }
  visit(node)
  return found
}

/** Where the comparison begins: what only asks whether there is anything to compare is no check. */
function startOf(condition: ts.Expression, isBad: boolean): ts.Expression {
  const operator = isBad ? ts.SyntaxKind.AmpersandAmpersandToken : ts.SyntaxKind.BarBarToken
  const parts: ts.Expression[] = []
  const split = (node: ts.Expression): void => {
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === operator) {
      split(node.left)
      split(node.right)
    } else parts.push(node)
  }
  split(condition)
  const isTest = (node: ts.Expression) =>
    /^!?\w+$/.test(node.getText()) ||
    new RegExp(`^[\\w.]+ ${isBad ? '!' : '='}== (undefined|null)$`).test(node.getText())
  const first = parts.findIndex(part => !isTest(part))
  return first > 0 && parts[first] ? parts[first] : condition
}
