import ts from 'typescript';

const { SyntaxKind } = ts;

/** Operators that a reader could mistake for each other. */
const OTHER_OPERATOR = {
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '+=': '-=',
  '-=': '+=',
  '||=': '=',
  '??=': '=',
};
const OTHER_BOUND = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
const OPPOSITE = { '===': '!==', '!==': '===' };
const LOGICAL = ['&&', '||', '??'];
const REMOVABLE = [
  SyntaxKind.ExpressionStatement,
  SyntaxKind.IfStatement,
  SyntaxKind.ThrowStatement,
  SyntaxKind.ReturnStatement,
  SyntaxKind.ContinueStatement,
  SyntaxKind.ForOfStatement,
];

/**
 * The kinds of changes of a mutant. Each function returns the changes of one node. A change is the new text of the node and the
 * part of the node that changes.
 *
 * @type {Record<string, (node: ts.Node) => { text: string, about: ts.Node }[]>}
 */
export const CHANGES = {
  'leave out the statement': (node) =>
    REMOVABLE.includes(node.kind) && node.expression?.expression?.kind !== SyntaxKind.SuperKeyword
      ? [{ text: ';', about: node }]
      : [],
  'end the function instead': (node) =>
    ts.isBreakStatement(node) || ts.isContinueStatement(node) ? [{ text: 'return;', about: node.parent }] : [],
  'swap with the next': (node) => {
    const siblings = REMOVABLE.includes(node.kind) ? node.parent.statements : elementsBeside(node);
    const [first, second] = siblings?.slice(siblings.indexOf(node)) ?? [];
    if (second === undefined || first !== node) return [];
    const between = node.getSourceFile().text.slice(first.end, second.getStart());
    return [{ text: `${textOf(second)}${between}${textOf(first)}`, about: node, end: second.end }];
  },
  'leave out the operand': (node) => {
    if (!isBinary(node, LOGICAL)) return [];
    const isFirst = !isBinary(node.left, [operatorOf(node)]);
    return [
      ...(isFirst ? [{ text: textOf(node.right), about: node.left }] : []),
      { text: textOf(node.left), about: node.right },
    ];
  },
  'leave out the argument': (node) =>
    isArgument(node) ? [{ text: ts.isSpreadElement(node) ? '...[]' : 'undefined', about: node }] : [],
  'leave out the element': (node) => withoutEach(node, ts.isArrayLiteralExpression(node) ? node.elements : []),
  'leave out the property': (node) => withoutEach(node, ts.isObjectLiteralExpression(node) ? node.properties : []),
  'leave out the call': (node) => {
    if (!ts.isCallExpression(node)) return [];
    const { expression } = node;
    const receiver =
      ts.isPropertyAccessExpression(expression) && !/^[A-Z]/.test(textOf(expression)) && expression.expression;
    const kept = receiver ? [receiver] : node.arguments;
    return kept.map((rest) => ({ text: textOf(rest), about: node }));
  },
  'only the first': (node) => (isIterated(node) ? [{ text: `[...${textOf(node)}].slice(0, 1)`, about: node }] : []),
  'the other way round': (node) => (isIterated(node) ? [{ text: `[...${textOf(node)}].reverse()`, about: node }] : []),
  'do not wait': (node) => (ts.isAwaitExpression(node) ? [{ text: textOf(node.expression), about: node }] : []),
  'always true': (node) => (isCondition(node) ? [{ text: 'true', about: node }] : []),
  'always false': (node) => (isCondition(node) ? [{ text: 'false', about: node }] : []),
  negate: (node) => {
    if (isBinary(node, Object.keys(OPPOSITE))) return [{ text: withOperator(node, OPPOSITE), about: node }];
    if (isNot(node)) return [{ text: textOf(node.operand), about: node }];
    const decides = isBinary(node.parent, ['&&', '||']) || isCondition(node);
    const isPlain = decides && !isBinary(node, [...LOGICAL, ...Object.keys(OTHER_BOUND)]);
    return isPlain && ts.isExpression(node) ? [{ text: `!(${textOf(node)})`, about: node }] : [];
  },
  'move the bound': (node) =>
    isBinary(node, Object.keys(OTHER_BOUND)) ? [{ text: withOperator(node, OTHER_BOUND), about: node }] : [],
  'swap the operator': (node) =>
    isBinary(node, Object.keys(OTHER_OPERATOR)) ? [{ text: withOperator(node, OTHER_OPERATOR), about: node }] : [],
  'add one': (node) => {
    if (node.parent?.name === node) return [];
    if (ts.isNumericLiteral(node)) return [{ text: `(${textOf(node)} + 1)`, about: node }];
    return ts.isBigIntLiteral(node) ? [{ text: `(${textOf(node)} + 1n)`, about: node }] : [];
  },
  'flip the literal': (node) => {
    if (node.kind === SyntaxKind.TrueKeyword) return [{ text: 'false', about: node.parent }];
    return node.kind === SyntaxKind.FalseKeyword ? [{ text: 'true', about: node.parent }] : [];
  },
  'undefined instead of the value': (node) => (isValue(node) ? [{ text: 'undefined', about: node.parent }] : []),
  'one more than the value': (node) =>
    isValue(node)
      ? [{ text: `((value) => value + (typeof value === 'bigint' ? 1n : 1))(${textOf(node)})`, about: node.parent }]
      : [],
  'use another name': (node, name) => {
    if (name === undefined) return [];
    if (ts.isStringLiteral(node)) return [{ text: `'${name}'`, about: node }];
    return isUse(node)
      ? [{ text: (ts.isShorthandPropertyAssignment(node.parent) ? `${textOf(node)}: ` : '') + name, about: node }]
      : [];
  },
  'forget the field': (node, name) =>
    name !== undefined && ts.isBlock(node) && ts.isMethodDeclaration(node.parent)
      ? [{ text: `${textOf(node).slice(0, -1)} this.${name} = undefined; }`, about: node.parent }]
      : [],
  'leave out the SQL condition': (node) =>
    ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node) ? withoutEachCondition(node) : [],
};

/** The kinds of changes for random mutants. These mistakes can occur in any code. */
const DRAWN = [
  'leave out the statement',
  'leave out the operand',
  'always true',
  'always false',
  'negate',
  'move the bound',
  'swap the operator',
  'add one',
  'flip the literal',
];

/**
 * Every change of a module.
 *
 * @param {string} source the text of the module
 * @param {{ kinds?: string[], name?: string }} options only these kinds; the name that `use another name` and `forget
 *   the field` write
 * @returns {{ function: string, change: string, of: string, nth: number, node: ts.Node, start: number, end: number, text: string }[]}
 *   `nth` counts the changes of the same kind about the same name in the same function
 */
export function changesOf(source, { kinds = Object.keys(CHANGES), name: written } = {}) {
  const changes = [];
  const counts = new Map();
  const visit = (node, name) => {
    if (isType(node)) return;
    for (const change of kinds) {
      for (const { text, about, end = node.end } of CHANGES[change](node, written)) {
        const of = nameOf(about);
        const key = [name, change, of].join('\n');
        const nth = (counts.get(key) ?? 0) + 1;
        counts.set(key, nth);
        changes.push({ function: name, change, of, nth, node, start: node.getStart(), end, text });
      }
    }
    ts.forEachChild(node, (child) => visit(child, name));
  };
  const tree = ts.createSourceFile('module.ts', source, ts.ScriptTarget.Latest, true);
  for (const statement of tree.statements) eachFunction(statement, visit);
  return changes;
}

/** Every change of a module for random mutants. Changes of messages and of whole `if` statements are left out. */
export function drawnChangesOf(source) {
  return changesOf(source, { kinds: DRAWN }).filter(({ change, node }) => {
    if (ts.findAncestor(node, ts.isTemplateExpression)) return false;
    return change !== 'leave out the statement' || !(ts.isIfStatement(node) || ts.isForOfStatement(node));
  });
}

/** Calls `visit` with each function, member of a class and constant of a module, and its name. */
function eachFunction(statement, visit) {
  if (ts.isClassDeclaration(statement)) {
    for (const member of statement.members) {
      const name = ts.isConstructorDeclaration(member) ? 'constructor' : nameOf(member);
      visit(member, `${nameOf(statement)}.${name}`);
    }
  } else if (ts.isVariableStatement(statement)) {
    for (const declaration of statement.declarationList.declarations) visit(declaration, nameOf(declaration));
  } else visit(statement, nameOf(statement));
}

export function isType(node) {
  return (
    ts.isTypeNode(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isImportDeclaration(node)
  );
}

/** The name of a node: the identifier that the node calls, reads, writes or declares. */
export function nameOf(node) {
  if (node === undefined) return '';
  if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) return node.text;
  if (ts.isLiteralExpression(node))
    return ts.isNoSubstitutionTemplateLiteral(node) ? 'text' : node.getText().replaceAll("'", '');
  if (node.name !== undefined) return nameOf(node.name);
  const inner =
    node.expression ??
    node.operand ??
    node.left ??
    node.condition ??
    node.body ??
    node.elements?.[0] ??
    node.properties?.[0];
  return inner === undefined ? textOf(node).split(/\W/)[0] : nameOf(inner);
}

function textOf(node) {
  return node.getText();
}

function operatorOf(node) {
  return textOf(node.operatorToken);
}

function isBinary(node, operators) {
  return node !== undefined && ts.isBinaryExpression(node) && operators.includes(operatorOf(node));
}

function withOperator(node, others) {
  return `(${textOf(node.left)} ${others[operatorOf(node)]} ${textOf(node.right)})`;
}

function isNot(node) {
  return ts.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken;
}

/** Whether the node is the condition of an `if` or a `?:`, or another comparison. The condition of a loop does not count. */
function isCondition(node) {
  const { parent } = node;
  if (parent === undefined || !ts.isExpression(node)) return false;
  if (ts.isIfStatement(parent)) return parent.expression === node;
  if (ts.isConditionalExpression(parent) && parent.condition === node) return true;
  const isLoop = ts.isIterationStatement(parent, false);
  return (
    !isLoop &&
    !isBinary(parent, LOGICAL) &&
    !isNot(parent) &&
    (isComparison(node) || isNot(node) || isBinary(node, ['&&', '||']))
  );
}

function isComparison(node) {
  return isBinary(node, [...Object.keys(OTHER_BOUND), ...Object.keys(OPPOSITE)]);
}

function isArgument(node) {
  const isCall = node.parent !== undefined && (ts.isCallExpression(node.parent) || ts.isNewExpression(node.parent));
  return isCall && (node.parent.arguments?.includes(node) ?? false);
}

/** Whether the node is a name that is read, called or written, or the name of a property of an object. */
function isUse(node) {
  const { parent } = node;
  if (!ts.isIdentifier(node)) return false;
  if (ts.isShorthandPropertyAssignment(parent) || ts.isPropertyAssignment(parent)) return true;
  return ts.isExpression(parent) || ts.isStatement(parent) || parent.initializer === node;
}

/** Whether the node is the value of a constant, a property or an assignment. */
function isValue(node) {
  const { parent } = node;
  if (parent === undefined || !ts.isExpression(node)) return false;
  if (ts.isReturnStatement(parent)) return true;
  return isBinary(parent, ['=']) ? parent.right === node : parent.initializer === node;
}

function elementsBeside({ parent }) {
  return parent !== undefined && ts.isArrayLiteralExpression(parent) ? parent.elements : undefined;
}

/** Whether the node is the iterable of a loop, or the object of `map` or a similar method. */
function isIterated(node) {
  const { parent } = node;
  if (parent === undefined) return false;
  if (ts.isForOfStatement(parent)) return parent.expression === node;
  return (
    ts.isPropertyAccessExpression(parent) &&
    parent.expression === node &&
    /^(map|flatMap|filter|forEach)$/.test(parent.name.text)
  );
}

function withoutEach(list, parts) {
  return parts.map((about) => {
    const rest = parts
      .filter((part) => part !== about)
      .map(textOf)
      .join(', ');
    return { text: ts.isArrayLiteralExpression(list) ? `[${rest}]` : `({ ${rest} })`, about };
  });
}

/** Returns one text for each `AND` condition: the SQL without this condition. */
function withoutEachCondition(template) {
  const sql = textOf(template);
  return [...sql.matchAll(/\s+AND\s/g)].map(({ index, 0: and }) => {
    const end = endOfCondition(sql, index + and.length);
    const [name] = sql.slice(index + and.length, end).match(/\w+/);
    return { text: sql.slice(0, index) + sql.slice(end), about: ts.factory.createIdentifier(name) };
  });
}

/** The end of a condition: the next keyword at the same depth, or the end of its brackets. */
function endOfCondition(sql, from) {
  let depth = 0;
  for (let index = from; index < sql.length; index++) {
    if ('({'.includes(sql[index])) depth += 1;
    else if (')}`;'.includes(sql[index])) depth -= 1;
    if (
      depth < 0 ||
      (depth === 0 && /^\s+(AND|OR|FOR|ORDER|GROUP|LIMIT|RETURNING|ON|UNION)\b/.test(sql.slice(index, index + 20)))
    )
      return index;
  }
  return sql.length;
}
