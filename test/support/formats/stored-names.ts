import ts from 'typescript';
import type { StoredFormat } from '../../../lib/core/kernel/format-version';
import { descendants, type SourceProgram } from './source-program';

/** A name that the library stores or sends, and the file that contains it. */
export interface StoredName {
  readonly name: string;
  readonly path: string;
}

const ATTRIBUTE_TYPES = new Set(['S', 'N', 'B', 'BOOL', 'NULL', 'M', 'L', 'SS', 'NS', 'BS']);
const SEALS = new Set(['sealedText', 'sealedCursor']);
/** Stands for a name that the test cannot read from the source. */
export const UNREADABLE = '(a computed name)';

/** The functions that seal texts. A function that passes its own parameters on is not one of them. */
export function* sealedTexts(program: SourceProgram): Generator<StoredName> {
  for (const { node, path } of program.nodes('lib/')) {
    if (!ts.isCallExpression(node) || !SEALS.has(calleeOf(node) ?? '')) continue;
    const caller = functionOf(node);
    if (!SEALS.has(caller)) yield { name: caller, path };
  }
}

/**
 * The attributes of the items that the files below a folder write: attribute values, the properties of keys and items, the
 * placeholders of expressions, and the names that an `ExpressionBuilder` gets.
 */
export function* attributes(program: SourceProgram, folder: string): Generator<StoredName> {
  for (const { node, path } of program.nodes(folder)) {
    for (const name of attributesOf(program, node)) yield { name: name ?? UNREADABLE, path };
  }
}

function* attributesOf(program: SourceProgram, node: ts.Node): Generator<string | undefined> {
  if (ts.isCallExpression(node) && calleeOf(node) === 'name') yield program.textOf(node.arguments[0]!);
  if (!ts.isObjectLiteralExpression(node)) return;
  const { parent } = node;
  if (isAttributeValue(node)) {
    if (ts.isPropertyAssignment(parent)) yield* [program.nameOf(parent.name)].filter((name) => !name?.startsWith(':'));
    if (ts.isBinaryExpression(parent) && ts.isPropertyAccessExpression(parent.left)) yield parent.left.name.text;
  }
  const isItem = ts.isPropertyAssignment(parent) && ['Item', 'Key'].includes(parent.name.getText());
  for (const property of node.properties) {
    if (!property.name) continue;
    const name = program.nameOf(property.name);
    if (isItem) yield name;
    if (name?.startsWith('#') && ts.isPropertyAssignment(property)) yield program.textOf(property.initializer);
  }
}

function isAttributeValue({ properties }: ts.ObjectLiteralExpression): boolean {
  const [first, ...others] = properties;
  return others.length === 0 && first?.name !== undefined && ATTRIBUTE_TYPES.has(first.name.getText());
}

/** The texts and the names of properties that match a pattern. */
export function* texts(program: SourceProgram, pattern: RegExp): Generator<StoredName> {
  for (const { node, path } of program.nodes()) {
    const text = ts.isPropertyAccessExpression(node) ? node.name.text : ts.isStringLiteralLike(node) ? node.text : '';
    if (pattern.test(text)) yield { name: text, path };
  }
}

/** The texts that the calls of a function or a method have as an argument. Skips names that depend on a parameter. */
export function* argumentsOf(program: SourceProgram, callee: string, index: number): Generator<StoredName> {
  for (const { node, path } of program.nodes()) {
    if (!ts.isCallExpression(node) || calleeOf(node) !== callee) continue;
    const argument = node.arguments[index];
    const names =
      argument !== undefined && ts.isObjectLiteralExpression(argument)
        ? argument.properties.map(({ name }) => name && program.nameOf(name))
        : [argument && program.textOf(argument)];
    for (const name of names) if (name !== undefined) yield { name, path };
  }
}

function calleeOf({ expression }: ts.CallExpression): string | undefined {
  if (ts.isIdentifier(expression)) return expression.text;
  return ts.isPropertyAccessExpression(expression) ? expression.name.text : undefined;
}

/** The exit codes of the commands. `128+` stands for 128 plus the number of a signal. */
export function* exitCodes(program: SourceProgram): Generator<StoredName> {
  for (const { node, path } of program.nodes('bin/')) {
    // This process runs a function of the user, and its exit code is not the exit code of a command.
    if (path === 'bin/local/functions/function-host.ts') continue;
    const code = codeOf(node);
    if (code !== undefined) for (const name of numbersOf(program, code)) yield { name, path };
  }
}

function codeOf(node: ts.Node): ts.Expression | undefined {
  if (ts.isCallExpression(node) && node.expression.getText() === 'process.exit') return node.arguments[0];
  const isAssignment = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken;
  return isAssignment && node.left.getText() === 'process.exitCode' ? node.right : undefined;
}

function* numbersOf(program: SourceProgram, code: ts.Node): Generator<string> {
  if (ts.isConditionalExpression(code)) {
    yield* numbersOf(program, code.whenTrue);
    yield* numbersOf(program, code.whenFalse);
  } else if (ts.isAwaitExpression(code))
    return; // the exit code of a program that the command has started
  else if (ts.isBinaryExpression(code)) yield `${program.textOf(code.left)}+`;
  else if (ts.isCallExpression(code)) {
    const called = program.declarationOf(code.expression);
    for (const node of called ? descendants(called) : []) {
      if (ts.isReturnStatement(node) && node.expression) yield* numbersOf(program, node.expression);
    }
  } else yield program.textOf(code) ?? UNREADABLE;
}

/** The values of the constants of a file whose names match a pattern. For an object, the values of its properties. */
export function* constants(program: SourceProgram, path: string, pattern: RegExp): Generator<StoredName> {
  for (const { node } of program.nodes(path)) {
    if (!ts.isVariableDeclaration(node) || !pattern.test(node.name.getText())) continue;
    for (const value of valuesOf(node.initializer!)) yield { name: program.textOf(value) ?? UNREADABLE, path };
  }
}

function valuesOf(initializer: ts.Expression): readonly ts.Expression[] {
  const value = ts.isAsExpression(initializer) ? initializer.expression : initializer;
  if (!ts.isObjectLiteralExpression(value)) return [value];
  return value.properties.filter(ts.isPropertyAssignment).map((property) => property.initializer);
}

/** The names of the stored formats, from the type `StoredFormat`. */
export function* storedFormats(program: SourceProgram): Generator<StoredFormat> {
  for (const { node } of program.nodes('lib/core/kernel/format-version.ts')) {
    if (!ts.isTypeAliasDeclaration(node) || node.name.text !== 'StoredFormat') continue;
    for (const literal of descendants(node.type)) if (ts.isStringLiteral(literal)) yield literal.text as StoredFormat;
  }
}

/** The name of the function or method that contains a node. */
function functionOf(node: ts.Node): string {
  for (let each = node.parent; each !== undefined; each = each.parent) {
    if ((ts.isFunctionDeclaration(each) || ts.isMethodDeclaration(each)) && each.name) return each.name.getText();
  }
  return node.getSourceFile().fileName;
}
