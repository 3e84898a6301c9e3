import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

const ROOT = join(__dirname, '..', '..', '..');

/** The sources of the library, of the functions and of the commands, with the declarations to which their names refer. */
export class SourceProgram {
  private readonly checker: ts.TypeChecker;
  private readonly files: ReadonlyMap<string, readonly ts.Node[]>;

  constructor(folders: readonly string[] = ['lib', 'lambda', 'bin']) {
    const paths = folders.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => join(ROOT, folder, name)),
    );
    const options: ts.CompilerOptions = { noLib: true, types: [], skipLibCheck: true };
    const host = ts.createCompilerHost(options, true);
    // Dependencies contain no names of stored formats, and their declarations would take most of the time.
    host.resolveModuleNameLiterals = (imports, from) =>
      imports.map(({ text }) => ({ resolvedModule: moduleOf(text, from) }));
    const program = ts.createProgram(paths, options, host);
    this.checker = program.getTypeChecker();
    const files = program.getSourceFiles();
    this.files = new Map(files.map((file) => [file.fileName.slice(ROOT.length + 1), descendants(file)]));
  }

  /** All nodes of the files whose path begins with a text, with the path of their file. */
  *nodes(start = ''): Generator<{ node: ts.Node; path: string }> {
    for (const [path, nodes] of this.files) {
      if (path.startsWith(start)) for (const node of nodes) yield { node, path };
    }
  }

  /** The name of a property, also of a computed property. Undefined if the name depends on a parameter. */
  nameOf(name: ts.PropertyName | ts.MemberName): string | undefined {
    return ts.isComputedPropertyName(name) ? this.textOf(name.expression) : name.text;
  }

  /**
   * The text of an expression. `…` stands for a part that is known only at run time. Undefined if nothing of the text is known.
   */
  textOf(node: ts.Node): string | undefined {
    if (ts.isStringLiteralLike(node)) return node.text;
    if (ts.isNumericLiteral(node)) return node.text;
    if (ts.isTemplateExpression(node)) return `${node.head.text}…`;
    if (ts.isAsExpression(node) || ts.isParenthesizedExpression(node) || ts.isNonNullExpression(node)) {
      return this.textOf(node.expression);
    }
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
      const start = this.textOf(node.left);
      return start === undefined ? undefined : start + (this.textOf(node.right) ?? '…');
    }
    if (ts.isCallExpression(node) && node.expression.getText() === 'Buffer.from')
      return this.textOf(node.arguments[0]!);
    if (!ts.isIdentifier(node) && !ts.isPropertyAccessExpression(node)) return undefined;
    const declaration = this.declarationOf(node);
    if (declaration === undefined) return undefined;
    const initializer = initializerOf(declaration);
    if (initializer !== undefined) return this.textOf(initializer);
    return this.textOfConstant(ts.isIdentifier(node) ? node : node.name);
  }

  /** The declaration of a name, also if the name is imported. */
  declarationOf(node: ts.Node): ts.Declaration | undefined {
    const symbol = this.checker.getSymbolAtLocation(node);
    if (symbol === undefined) return undefined;
    const declared = symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
    return declared.declarations?.[0];
  }

  /** The text of a parameter or a property, if a constant of the same file has the same name. */
  private textOfConstant(name: ts.MemberName): string | undefined {
    for (const each of descendants(name.getSourceFile())) {
      if (!ts.isVariableDeclaration(each) || each.name.getText() !== name.text || !each.initializer) continue;
      const text = this.textOf(each.initializer);
      if (text !== undefined) return text;
    }
    return undefined;
  }
}

/** A node and all nodes within it. */
export function descendants(node: ts.Node): ts.Node[] {
  const all = [node];
  for (let index = 0; index < all.length; index++) ts.forEachChild(all[index]!, (child) => void all.push(child));
  return all;
}

function initializerOf(declaration: ts.Declaration): ts.Expression | undefined {
  if (ts.isVariableDeclaration(declaration) || ts.isPropertyAssignment(declaration)) return declaration.initializer;
  return undefined;
}

function moduleOf(name: string, from: string): ts.ResolvedModuleFull | undefined {
  if (!name.startsWith('.')) return undefined;
  const path = join(dirname(from), name);
  const resolvedFileName = [`${path}.ts`, join(path, 'index.ts')].find((file) => existsSync(file));
  return resolvedFileName === undefined ? undefined : { resolvedFileName, extension: ts.Extension.Ts };
}
