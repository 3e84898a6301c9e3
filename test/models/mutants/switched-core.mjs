import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const ROOT = 'lib/core';
const { SyntaxKind } = ts;

/** What a stranger may write by mistake in place of an operator. */
const OPERATORS = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '+=': '-=',
  '-=': '+=',
};

/**
 * The core with all of its mutants in place, each behind a switch: an operator, a bound, a condition, a call or a default is
 * another one while `isMutant(number)` is true. So a process loads the core once for all of them.
 *
 * @returns the text of each file, and the mutants: the number, the file, a rule with its place, what is there, and what stands there
 *   instead, and the same as a key which stays when lines above it come and go
 */
export function switchedCore() {
  const mutants = [];
  const files = readdirSync(ROOT, { recursive: true })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('index.ts'))
    .sort()
    .map((file) => join(ROOT, file));
  const sources = Object.fromEntries(files.map((file) => [file, switched(file, mutants)]));
  return { sources, mutants };
}

function switched(file, mutants) {
  const source = readFileSync(file, 'utf8');
  const lines = source.split('\n');
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const written = (node) => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isImportDeclaration(node)) return node.getText();
    // What a message says is no rule.
    if (ts.isTemplateExpression(node)) return node.getText();
    const alternatives = mutationsOf(node).map(([place, replacement, whole = replacement]) => {
      const { line, character } = tree.getLineAndCharacterOfPosition(place.getStart());
      const text = lines[line].trim();
      const column = character - lines[line].indexOf(text) + 1;
      const change = `${excerpt(place.getText())} -> ${excerpt(replacement) || 'nothing'}`;
      const rule = `${file}:${line + 1}:${character + 1}: ${change}`;
      const key = [file, text, column, change].join('\t');
      return [mutants.push({ number: mutants.length, file, rule, key }) - 1, whole];
    });
    return alternatives.reduce(
      (rest, [number, whole]) => `(isMutant(${number}) ? ${whole || 'undefined'} : ${rest})`,
      withSwitches(node),
    );
  };
  const withSwitches = (node) => {
    let [text, from] = ['', node.getStart()];
    for (const child of node.getChildren().filter(({ kind }) => kind !== SyntaxKind.JSDoc)) {
      text += source.slice(from, child.getStart()) + written(child);
      from = child.end;
    }
    text += source.slice(from, node.end);
    return ts.isExpression(node) && mutationsOf(node).length > 0 ? `(${text})` : text;
  };
  return written(tree);
}

/** What may stand in a place by mistake: the place, the replacement, and the whole expression with it. */
function mutationsOf(node) {
  const text = node.getText();
  const { parent } = node;
  const mutations = [];
  if (ts.isBinaryExpression(node)) {
    const [left, operator, right] = [node.left, node.operatorToken, node.right].map((part) => part.getText());
    const other = Object.hasOwn(OPERATORS, operator) && OPERATORS[operator];
    if (other) mutations.push([node.operatorToken, other, `(${left} ${other} ${right})`]);
    if (operator === '??') mutations.push([node, `(${left})`]);
  }
  if (ts.isNumericLiteral(node) && parent.name !== node) mutations.push([node, `(${text} + 1)`]);
  if (ts.isBigIntLiteral(node)) mutations.push([node, `(${text} + 1n)`]);
  if (ts.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken)
    mutations.push([node, node.operand.getText()]);
  if (node.kind === SyntaxKind.TrueKeyword) mutations.push([node, 'false']);
  if (node.kind === SyntaxKind.FalseKeyword) mutations.push([node, 'true']);
  const decides =
    (parent?.kind === SyntaxKind.IfStatement && parent.expression === node) ||
    (parent?.kind === SyntaxKind.ConditionalExpression && parent.condition === node);
  if (decides) mutations.push([node, 'true'], [node, 'false']);
  const isStatement = ts.isCallExpression(node) && ts.isExpressionStatement(parent);
  if (isStatement && node.expression.kind !== SyntaxKind.SuperKeyword) mutations.push([node, '']);
  return mutations;
}

function excerpt(text) {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 57)}...` : line;
}
