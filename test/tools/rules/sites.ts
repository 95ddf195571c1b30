import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'

/** The layers that decide verdicts: folders and files below `src/`. */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  'reading and decoding': [
    ...['base/bytes.ts', 'base/json/reader.ts', 'base/json/decoders.ts'],
    ...['verify/field', 'verify/scheme'],
  ],
  answers: ['verify/tree', 'verify/proof', 'verify/verifier'],
  'the way from L1': ['verify/anchor'],
  beacon: ['verify/beacon'],
  blocks: ['verify/blocks'],
  messages: ['verify/messages'],
  transitions: ['verify/transition'],
  evidence: ['verify/state', 'verify/evidence'],
  calls: ['provider/call-evidence'],
}

/** The files of a layer, from the root of the project. */
const filesOf = (parts: readonly string[]): string[] =>
  parts.flatMap(part =>
    part.endsWith('.ts')
      ? [`src/${part}`]
      : readdirSync(`src/${part}`, { recursive: true, encoding: 'utf8' })
          .filter(file => file.endsWith('.ts'))
          .map(file => `src/${part}/${file}`)
          .sort(),
  )

export const layerOfFile: ReadonlyMap<string, string> = new Map(
  Object.entries(LAYERS).flatMap(([layer, parts]) => filesOf(parts).map(file => [file, layer] as const)),
)

const KINDS = ['rule', 'translation', 'call', 'operand'] as const

/**
 * A place that can be switched off.
 *
 * - `rule`: what throws a ProofError, or calls a function that does with a code of its own. Without it, the code goes on as if what
 *   it requires were so.
 * - `translation`: what throws one in a `catch`. It gives the error of a library a code, and cannot be switched off.
 * - `call`: a call of a function that only refuses. Without it, one place is not checked; others still are.
 * - `operand`: one side of `&&` or `||`. Without it, the other decides.
 */
export interface Site {
  readonly kind: (typeof KINDS)[number]
  readonly id: number
  readonly file: string
  readonly line: number
  /** The function that it is in. */
  readonly name: string
  /** The condition of a rule, the call, or the operand in its expression, as the source writes it, in one line. */
  readonly text: string
  /** The whole expression that an operand is a part of. */
  readonly whole?: string
}

interface Insertion {
  readonly at: number
  readonly text: string
  /** Of two at one place, the lower comes first. */
  readonly order: number
}

/** What the marks in the code call: `$out(id)` says whether a place is switched off, `$hit(id)` that a rule refuses. */
export const PRELUDE = `
globalThis.$off = -1;
globalThis.$hits = [];
globalThis.$open = [];
globalThis.$seen = new Set();
globalThis.$out = id => globalThis.$off === id;
globalThis.$operand = id => { globalThis.$seen.add(id); return globalThis.$off === id; };
globalThis.$hit = id => { globalThis.$hits.push({ id, open: [...globalThis.$open] }); };
globalThis.$enter = id => { globalThis.$open.push(id); globalThis.$seen.add(id); };
globalThis.$leave = id => { globalThis.$open.length = globalThis.$open.lastIndexOf(id); };
`

const files = [...layerOfFile.keys()]
/** A number for a place that is the same in every process. A rule and an operand may begin at the same place. */
const idOf = (file: string, position: number, kind: number): number => (files.indexOf(file) * 1e6 + position) * 4 + kind

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ')

/** What is thrown again, one or the other error, or is about the caller's own arguments, is no rule. */
export function isRule({ expression }: ts.ThrowStatement, source: ts.SourceFile): boolean {
  return !/^(\w+( \?\? \w+)?$|invalid\(|new ArgumentError|new ExcessiveJson)/.test(expression.getText(source))
}

const isInCatch = (node: ts.Node): boolean =>
  ts.isCatchClause(node) || (!ts.isFunctionLike(node) && node.parent !== undefined && isInCatch(node.parent))

function nameOf(node: ts.Node): string {
  for (let at: ts.Node = node; at.parent !== undefined; at = at.parent) {
    if ((ts.isFunctionDeclaration(at) || ts.isMethodDeclaration(at)) && at.name) return at.name.getText()
    if (ts.isVariableDeclaration(at) && at.parent.parent.parent.kind === ts.SyntaxKind.SourceFile)
      return at.name.getText()
  }
  return ''
}

const AND = ts.SyntaxKind.AmpersandAmpersandToken
const OR = ts.SyntaxKind.BarBarToken
const isLogical = (node: ts.Node): node is ts.BinaryExpression =>
  ts.isBinaryExpression(node) && (node.operatorToken.kind === AND || node.operatorToken.kind === OR)

/** Marks all places in a file. @param refusing the names of functions that do nothing but refuse */
export function markSites(file: string, refusing: ReadonlySet<string>): { text: string; sites: Site[] } {
  const text = readFileSync(file, 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const [sites, insertions]: [Site[], Insertion[]] = [[], []]
  const add = (kind: Site['kind'], node: ts.Node, shown: ts.Node, whole?: ts.Node): number => {
    const id = idOf(file, node.getStart(source), KINDS.indexOf(kind))
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source))
    const shared = { kind, id, file, line: line + 1, name: nameOf(node), text: oneLine(shown.getText(source)) }
    sites.push({ ...shared, ...(whole && { whole: oneLine(whole.getText(source)) }) })
    return id
  }
  const wrap = (node: ts.Node, before: string, after: string) => {
    const [start, end] = [node.getStart(source), node.getEnd()]
    insertions.push(
      { at: start, text: before, order: 1e6 - (end - start) },
      { at: end, text: after, order: end - start - 1e6 },
    )
  }
  const visit = (node: ts.Node): void => {
    if (ts.isThrowStatement(node) && isRule(node, source)) markThrow(node)
    if (ts.isCallExpression(node)) markCall(node)
    if (isLogical(node)) markOperands(node)
    ts.forEachChild(node, visit)
  }

  function markThrow(node: ts.ThrowStatement): void {
    if (isInCatch(node)) {
      const id = add('translation', node, node)
      wrap(node.expression, `($hit(${id}), `, ')')
      return
    }
    const block = ts.isBlock(node.parent) ? node.parent : undefined
    const branch = block ?? node
    const { parent } = branch
    const isOwnIf =
      ts.isIfStatement(parent) && parent.thenStatement === branch && block?.statements.at(-1) !== undefined
    const isBare = ts.isIfStatement(parent) && parent.thenStatement === node
    // A function that returns where all is well: `if (isWell) return x; throw …`. Between the two, it may describe the error.
    const before = block?.statements
      .slice(0, block.statements.indexOf(node))
      .findLast(one => !ts.isVariableStatement(one))
    const guard =
      before && ts.isIfStatement(before) && !before.elseStatement && endsInReturn(before.thenStatement)
        ? before
        : undefined
    if ((isOwnIf && !guard) || isBare) {
      const { expression } = parent as ts.IfStatement
      const id = add('rule', node, expression)
      wrap(expression, '(', `) && !$out(${id})`)
      wrap(node.expression, `($hit(${id}), `, ')')
    } else if (guard) {
      const id = add('rule', node, guard.expression)
      wrap(guard.expression, '(', `) || $out(${id})`)
      wrap(node.expression, `($hit(${id}), `, ')')
    } else {
      const id = add('rule', node, node)
      wrap(node.expression, `($hit(${id}), `, ')')
      insertions.push({ at: node.getStart(source), text: `if (!$out(${id})) `, order: 0 })
    }
  }

  function markCall(node: ts.CallExpression): void {
    const callee = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression
    if (!refusing.has(callee.getText(source))) return
    const isStatement = ts.isExpressionStatement(node.parent)
    const isBody = ts.isArrowFunction(node.parent) && node.parent.body === node
    if (!isStatement && !isBody) return
    // A function that takes a code is the rule of each of its callers.
    const isCoded = node.arguments.some(one => ts.isStringLiteral(one) && /^[A-Z0-9]+_[A-Z0-9_]+$/.test(one.text))
    const id = add(isCoded ? 'rule' : 'call', node, node)
    const [before, after] = [`($out(${id}) ? undefined : ($enter(${id}), `, `, $leave(${id})))`]
    // In braces, because without a semicolon before it, a parenthesis belongs to the line above.
    if (isStatement) wrap(node, `{ ${before}`, `${after} }`)
    else wrap(node, before, after)
  }

  function markOperands(node: ts.BinaryExpression): void {
    const { kind } = node.operatorToken
    const isPart = (operand: ts.Node) => isLogical(operand) && operand.operatorToken.kind === kind
    let whole: ts.Node = node
    while (isPart(whole.parent)) whole = whole.parent
    for (const operand of [node.left, node.right]) {
      if (isPart(operand)) continue
      const id = add('operand', operand, operand, whole)
      if (kind === AND) wrap(operand, `($operand(${id}) || (`, '))')
      else wrap(operand, `(!$operand(${id}) && (`, '))')
    }
  }

  visit(source)
  let marked = ''
  let done = 0
  for (const { at, text: inserted } of insertions.toSorted((a, b) => a.at - b.at || a.order - b.order)) {
    marked += text.slice(done, at) + inserted
    done = at
  }
  return { text: marked + text.slice(done), sites }
}

/** What decides whether an error is thrown: it is if that is true (`if`), or if it is not. Null if nothing in the source does. */
export function guardOf(node: ts.ThrowStatement): { kind: 'if' | 'guard' | 'catch'; expression: ts.Expression } | null {
  const block = ts.isBlock(node.parent) ? node.parent : undefined
  const branch = block ?? node
  const { parent } = branch
  if (block && ts.isCatchClause(parent)) {
    const end = parent.parent.tryBlock.statements.at(-1)
    return end && ts.isReturnStatement(end) && end.expression ? { kind: 'catch', expression: end.expression } : null
  }
  const before = block?.statements
    .slice(0, block.statements.indexOf(node))
    .findLast(one => !ts.isVariableStatement(one))
  // What is caught is reported below it.
  const last = before && ts.isTryStatement(before) ? before.tryBlock.statements.at(-1) : before
  if (last && ts.isIfStatement(last) && !last.elseStatement && leaves(last.thenStatement)) {
    return { kind: 'guard', expression: last.expression }
  }
  const isOwn =
    ts.isIfStatement(parent) && parent.thenStatement === branch && (before === undefined || block === undefined)
  return isOwn ? { kind: 'if', expression: parent.expression } : null
}

const leaves = (statement: ts.Statement): boolean => endsInReturn(statement) || ts.isContinueStatement(statement)

function endsInReturn(statement: ts.Statement): boolean {
  return ts.isReturnStatement(ts.isBlock(statement) ? (statement.statements.at(-1) ?? statement) : statement)
}

/** As its type says, or, if it has none, its body. */
function returnsNothing(node: ts.SignatureDeclaration): boolean {
  if (node.type) return node.type.kind === ts.SyntaxKind.VoidKeyword
  const returnsValue = (part: ts.Node): boolean =>
    !ts.isFunctionLike(part) &&
    ((ts.isReturnStatement(part) && !!part.expression) || !!ts.forEachChild(part, returnsValue))
  const body = 'body' in node ? (node.body as ts.Node | undefined) : undefined
  return body !== undefined && ts.isBlock(body) && !returnsValue(body)
}

/** The names of the functions of all layers that return nothing, and throw, or call one that does. */
export function refusingFunctions(): ReadonlySet<string> {
  const functions: { name: string; text: string }[] = []
  for (const file of layerOfFile.keys()) {
    const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
    const visit = (node: ts.Node): void => {
      const name = ts.isFunctionLike(node) && (node.name ?? (ts.isVariableDeclaration(node.parent) && node.parent.name))
      if (name && returnsNothing(node)) functions.push({ name: name.getText(source), text: node.getText(source) })
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  const refusing = new Set<string>(functions.filter(({ text }) => /\bthrow\b/.test(text)).map(({ name }) => name))
  // A method of an interface has no body.
  if (functions.some(({ name }) => name === 'verifyStorable')) refusing.add('verifyStorable')
  for (let size = -1; size !== refusing.size; ) {
    size = refusing.size
    for (const { name, text } of functions)
      if ([...refusing].some(other => new RegExp(`\\b${other}\\(`).test(text))) refusing.add(name)
  }
  return refusing
}
