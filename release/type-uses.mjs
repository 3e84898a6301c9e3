/**
 * Finds how the users of a package use each type. A type of a parameter is an input, and a type of a result is an output.
 * A parameter of a function that the user passes is an output.
 */
import ts from 'typescript';

const OPPOSITE = { input: 'output', output: 'input' };

/** The uses of each symbol that the exported values reach: a map from the symbol to a set of "input" and "output". */
export function typeUses(checker, exported, isOwn) {
  const uses = new Map();
  for (const symbol of exported) if (symbol.flags & ts.SymbolFlags.Value) use(symbol, 'output');
  return uses;

  function use(symbol, direction) {
    const known = uses.get(symbol) ?? new Set();
    if (known.has(direction)) return;
    uses.set(symbol, known.add(direction));
    // Users pass only instances that the library has created, so the members of a class are always outputs.
    const isClass = (symbol.flags & ts.SymbolFlags.Class) !== 0;
    if (isClass && direction === 'input') return use(symbol, 'output');
    for (const declaration of symbol.declarations ?? []) visit(declaration, direction);
  }

  function visit(node, direction) {
    const name = referencedName(node);
    if (name !== undefined) {
      const symbol = resolved(checker, name);
      if (symbol !== undefined && isOwn(symbol)) use(symbol, direction);
      for (const argument of node.typeArguments ?? []) visit(argument, direction);
    } else if (ts.isFunctionLike(node)) {
      for (const parameter of node.parameters) visit(parameter, OPPOSITE[direction]);
      for (const { constraint } of node.typeParameters ?? []) if (constraint) visit(constraint, OPPOSITE[direction]);
      if (node.type) visit(node.type, direction);
    } else {
      ts.forEachChild(node, (child) => visit(child, direction));
    }
  }
}

/** All symbols of the package that a node refers to, directly or through other declarations. */
export function reachedSymbols(checker, nodes, isOwn) {
  const reached = new Set();
  const visit = (node) => {
    const name = referencedName(node);
    const symbol = name === undefined ? undefined : resolved(checker, name);
    if (symbol !== undefined && isOwn(symbol) && !reached.has(symbol)) {
      reached.add(symbol);
      for (const declaration of symbol.declarations ?? []) visit(declaration);
    }
    ts.forEachChild(node, visit);
  };
  for (const node of nodes) visit(node);
  return reached;
}

/** The symbol behind an import or an export. */
export function behindAlias(checker, symbol) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

function referencedName(node) {
  if (ts.isTypeReferenceNode(node)) return node.typeName;
  if (ts.isExpressionWithTypeArguments(node)) return node.expression;
  if (ts.isTypeQueryNode(node)) return node.exprName;
  return undefined;
}

function resolved(checker, name) {
  const symbol = checker.getSymbolAtLocation(name);
  return symbol === undefined ? undefined : behindAlias(checker, symbol);
}
