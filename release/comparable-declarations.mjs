/**
 * Declarations of a package for the TypeScript compiler, without comments and with three changes:
 *
 * - Private members and members with `@internal` are left out. Otherwise two equal classes with private members would differ.
 * - A method becomes a property with a function type. The compiler accepts a method whose parameter requires more than before.
 * - A unique symbol becomes a symbol.
 */
import { readFileSync } from 'node:fs';
import ts from 'typescript';

const { factory } = ts;
const PRINTER = ts.createPrinter({ removeComments: true });

/** A compiler host that reads the declarations in the folders as comparable declarations. */
export function comparingHost(folders, options) {
  const host = ts.createCompilerHost(options, true);
  const read = new Map();
  const sourceFile = (file, target) => {
    if (!folders.some((folder) => file.startsWith(folder))) return host.getSourceFile(file, target);
    return ts.createSourceFile(file, comparable(readFileSync(file, 'utf8')), target, true);
  };
  return {
    ...host,
    getSourceFile: (file, target) => {
      if (!read.has(file)) read.set(file, sourceFile(file, target));
      return read.get(file);
    },
  };
}

function comparable(text) {
  const source = ts.createSourceFile('declarations.d.ts', text, ts.ScriptTarget.ES2023, true);
  const { transformed } = ts.transform(source, [
    (context) => {
      const visit = (node) => {
        const visited = ts.visitEachChild(node, visit, context);
        if (ts.isTypeOperatorNode(visited) && visited.operator === ts.SyntaxKind.UniqueKeyword) return visited.type;
        if (ts.isClassDeclaration(visited)) {
          const { modifiers, name, typeParameters, heritageClauses } = visited;
          const members = comparableMembers(node.members, visited.members);
          return factory.updateClassDeclaration(visited, modifiers, name, typeParameters, heritageClauses, members);
        }
        if (ts.isInterfaceDeclaration(visited)) {
          const { modifiers, name, typeParameters, heritageClauses } = visited;
          const members = comparableMembers(node.members, visited.members);
          return factory.updateInterfaceDeclaration(visited, modifiers, name, typeParameters, heritageClauses, members);
        }
        if (ts.isTypeLiteralNode(visited)) {
          return factory.updateTypeLiteralNode(visited, comparableMembers(node.members, visited.members));
        }
        return visited;
      };
      return (file) => ts.visitNode(file, visit);
    },
  ]);
  return PRINTER.printFile(transformed[0]);
}

/** The original members have the comments. The visited members have the comparable types. */
function comparableMembers(originals, visited) {
  const members = new Map();
  for (const [at, member] of visited.entries()) {
    if (isHidden(originals[at])) continue;
    const isStatic = hasModifier(member, ts.SyntaxKind.StaticKeyword);
    const key = member.name === undefined ? `${at}` : `${isStatic} ${originals[at].name.getText()}`;
    members.set(key, [...(members.get(key) ?? []), member]);
  }
  return [...members.values()].map(comparableMember);
}

function isHidden(member) {
  const isPrivate = hasModifier(member, ts.SyntaxKind.PrivateKeyword) && !ts.isConstructorDeclaration(member);
  if (isPrivate || (member.name !== undefined && ts.isPrivateIdentifier(member.name))) return true;
  return ts.getJSDocTags(member).some(({ tagName }) => tagName.text === 'internal');
}

/** A member, or the overloads of a method as one property, or a getter and its setter as one property. */
function comparableMember(overloads) {
  const [member] = overloads;
  const { name, questionToken } = member;
  const modifiers = [ts.SyntaxKind.StaticKeyword, ts.SyntaxKind.ReadonlyKeyword].filter((kind) =>
    hasModifier(member, kind),
  );
  if (ts.isMethodDeclaration(member) || ts.isMethodSignature(member)) {
    const [only, ...others] = overloads.map(({ typeParameters, parameters, type }) =>
      factory.createCallSignature(typeParameters, parameters, type),
    );
    const type =
      others.length > 0
        ? factory.createTypeLiteralNode([only, ...others])
        : factory.createFunctionTypeNode(only.typeParameters, only.parameters, only.type);
    return property(member, modifiers, name, questionToken, type);
  }
  if (ts.isGetAccessor(member) || ts.isSetAccessor(member)) {
    const getter = overloads.find(ts.isGetAccessor);
    const type = getter?.type ?? member.parameters[0]?.type;
    const isReadonly = !overloads.some(ts.isSetAccessor);
    return property(
      member,
      [...modifiers, ...(isReadonly ? [ts.SyntaxKind.ReadonlyKeyword] : [])],
      name,
      questionToken,
      type,
    );
  }
  if (ts.isPropertyDeclaration(member)) return property(member, modifiers, name, questionToken, member.type);
  return member;
}

function property(member, modifiers, name, questionToken, type) {
  const tokens = modifiers.map((kind) => factory.createModifier(kind));
  return ts.isClassElement(member) && !ts.isTypeElement(member)
    ? factory.createPropertyDeclaration(tokens, name, questionToken, type, undefined)
    : factory.createPropertySignature(tokens, name, questionToken, type);
}

function hasModifier(node, kind) {
  return ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some((modifier) => modifier.kind === kind);
}
