// Changes the declarations of the entry points so that each optional property also accepts undefined, as in the AWS SDK.
// With the option exactOptionalPropertyTypes, TypeScript otherwise rejects the clients of the SDK, whose responses have
// such properties, and a cursor that is undefined. Options that the library passes to a client do not change, because
// some clients reject undefined. A second run changes nothing.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const PASSED_TO_CLIENTS = new Set(['SdkRequestOptions', 'StatementOptions']);

for (const root of ['dist/lib/core', 'dist/lib/testing']) {
  for (const file of readdirSync(root, { recursive: true })) {
    if (!file.endsWith('.d.ts')) continue;
    const path = join(root, file);
    const exact = readFileSync(path, 'utf8');
    const accepting = acceptingUndefined(exact);
    if (accepting !== exact) writeFileSync(path, accepting);
  }
}

function acceptingUndefined(text) {
  const insertions = [];
  const visit = (node) => {
    if (isPassedToClients(node)) return;
    const isProperty = ts.isPropertySignature(node) || ts.isPropertyDeclaration(node);
    if (isProperty && node.questionToken && node.type && !acceptsUndefined(node.type)) {
      const isFunction = ts.isFunctionTypeNode(node.type);
      if (isFunction) insertions.push([node.type.getStart(), '(']);
      insertions.push([node.type.end, isFunction ? ') | undefined' : ' | undefined']);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('declarations.d.ts', text, ts.ScriptTarget.Latest, true));
  // the last insertion comes first, because an insertion moves everything behind it
  return insertions
    .sort(([a], [b]) => b - a)
    .reduce((changed, [at, inserted]) => changed.slice(0, at) + inserted + changed.slice(at), text);
}

function isPassedToClients(node) {
  if (ts.isInterfaceDeclaration(node)) return PASSED_TO_CLIENTS.has(node.name.text);
  return ts.isTypeLiteralNode(node) && ts.isParameter(node.parent) && ts.isMethodSignature(node.parent.parent);
}

function acceptsUndefined(type) {
  const types = ts.isUnionTypeNode(type) ? type.types : [type];
  return types.some(({ kind }) =>
    [ts.SyntaxKind.UndefinedKeyword, ts.SyntaxKind.AnyKeyword, ts.SyntaxKind.UnknownKeyword].includes(kind),
  );
}
