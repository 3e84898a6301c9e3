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
 * Mutants of the core that nobody has chosen: an operator, a bound, a condition, a call or a default is another one. All of them,
 * in an order that chance draws. Each has a place that its text names once in its file, as those of mutants.json have.
 *
 * @param {() => number} random a source of numbers in [0, 1)
 */
export function drawMutants(random) {
  const mutants = readdirSync(ROOT, { recursive: true })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('index.ts'))
    .sort()
    .flatMap((file) => mutantsOf(join(ROOT, file)));
  for (let index = mutants.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [mutants[index], mutants[other]] = [mutants[other], mutants[index]];
  }
  return mutants;
}

function mutantsOf(file) {
  const source = readFileSync(file, 'utf8');
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const mutants = [];
  const mutate = (node, replacement) => {
    const [start, end] = [node.getStart(), node.end];
    const line = tree.getLineAndCharacterOfPosition(start).line + 1;
    const [text, written] = inContext(source, start, end, replacement);
    const rule = `${file}:${line}: ${excerpt(node.getText())} -> ${excerpt(replacement) || 'nothing'}`;
    mutants.push({ rule, file, line, lines: linesOf(source, start, end, replacement), text, replacement: written });
  };
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isImportDeclaration(node)) return;
    // What a message says is no rule.
    if (ts.isTemplateExpression(node)) return;
    mutationsOf(node, mutate);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return mutants;
}

function mutationsOf(node, mutate) {
  if (ts.isBinaryExpression(node)) {
    const operator = node.operatorToken.getText();
    if (Object.hasOwn(OPERATORS, operator)) mutate(node.operatorToken, OPERATORS[operator]);
    if (operator === '??') mutate(node, `(${node.left.getText()})`);
  }
  if (ts.isNumericLiteral(node)) mutate(node, `(${node.getText()} + 1)`);
  if (ts.isBigIntLiteral(node)) mutate(node, `(${node.getText()} + 1n)`);
  if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) {
    const condition = node.expression ?? node.condition;
    mutate(condition, '(true as boolean)');
    mutate(condition, '(false as boolean)');
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken)
    mutate(node, node.operand.getText());
  if (node.kind === SyntaxKind.TrueKeyword) mutate(node, 'false');
  if (node.kind === SyntaxKind.FalseKeyword) mutate(node, 'true');
  if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) mutate(node, ';');
}

/** The text with as much around it as makes it the only one of its file, and what stands there in the mutant. */
function inContext(source, start, end, replacement) {
  let [from, to] = [start, end];
  while (source.split(source.slice(from, to)).length > 2) {
    from = Math.max(0, from - 10);
    to = Math.min(source.length, to + 10);
  }
  return [source.slice(from, to), source.slice(from, start) + replacement + source.slice(end, to)];
}

/** The lines of the place, as they are and as the mutant has them. */
function linesOf(source, start, end, replacement) {
  const from = source.lastIndexOf('\n', start - 1) + 1;
  const to = source.indexOf('\n', end);
  return [
    `- ${source.slice(from, to).trim()}`,
    `+ ${(source.slice(from, start) + replacement + source.slice(end, to)).trim()}`,
  ];
}

function excerpt(text) {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 57)}...` : line;
}
