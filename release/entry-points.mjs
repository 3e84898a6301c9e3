/**
 * Compares the entry points of two packages, except the constructs, which jsii-diff compares. The TypeScript compiler
 * decides: code that was written for the last release must compile with the current package.
 *
 * - A value, and each member of a class, must be assignable to its old type.
 * - An input, such as the options of a constructor, must accept each value of its old type.
 * - An output, such as the result of a function, must be assignable to its old type.
 * - A type that no exported value uses is an input and an output.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { comparingHost } from './comparable-declarations.mjs';
import { defaultValues } from './defaults.mjs';
import { behindAlias, reachedSymbols, typeUses } from './type-uses.mjs';

const OPTIONS = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ES2023,
  lib: ['lib.es2023.d.ts'],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  types: ['node'],
  typeRoots: [join(import.meta.dirname, '../node_modules/@types')],
};

/** The breaks of the entry points: a map from the name of each break to an explanation. */
export function entryPointBreaks(lastFolder, currentFolder) {
  const [last, current] = [lastFolder, currentFolder].map(declarationFiles);
  const host = comparingHost([lastFolder, currentFolder], OPTIONS);
  const program = ts.createProgram([...last.values(), ...current.values()], OPTIONS, host);
  const checker = program.getTypeChecker();
  const [before, after] = [last, current].map((files) => exportsOf(program, files));
  const breaks = new Map(removals(before, after));

  const pairs = pairsOf(before, after, { last, current });
  const isOwn = (symbol) =>
    !(symbol.flags & ts.SymbolFlags.TypeParameter) &&
    (symbol.declarations ?? []).some((each) => each.getSourceFile().fileName.startsWith(lastFolder));
  const uses = typeUses(
    checker,
    [...before.values()].flatMap((names) => [...names.values()]),
    isOwn,
  );
  const checks = pairs.flatMap((pair) => checksOf(checker, pair, uses.get(pair.before), pairs));
  for (const check of causes(checker, failing(checks, program, host), isOwn)) breaks.set(check.name, check.explanation);
  for (const pair of pairs) for (const change of changedDefaults(pair)) breaks.set(...change);
  return breaks;
}

/** The declaration file of each entry point. */
function declarationFiles(folder) {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return new Map(
    Object.entries(exports).flatMap(([key, target]) => {
      const file = typeof target === 'string' ? target : target.default;
      const isConstructs = key === '.';
      if (isConstructs || !file.endsWith('.js')) return [];
      return [[key.slice('./'.length), join(folder, file.replace(/\.js$/, '.d.ts'))]];
    }),
  );
}

/** For each entry point, the symbol of each export. */
function exportsOf(program, files) {
  const checker = program.getTypeChecker();
  return new Map(
    [...files].map(([entry, file]) => {
      const source = program.getSourceFile(file);
      if (source === undefined) throw new Error(`the entry point ${entry} has no file ${file}`);
      const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(source));
      return [entry, new Map(symbols.map((symbol) => [symbol.name, behindAlias(checker, symbol)]))];
    }),
  );
}

/** `core` exports the names of the other entry points, so its removals are reported only if no other entry point has them. */
function removals(before, after) {
  const breaks = new Map();
  const reported = new Set();
  for (const [entry, names] of [...before].sort(([a], [b]) => (a === 'core') - (b === 'core'))) {
    const now = after.get(entry);
    if (now === undefined) breaks.set(entry, 'the entry point is removed');
    for (const name of now === undefined ? [] : names.keys()) {
      if (now.has(name) || (entry === 'core' && reported.has(name))) continue;
      breaks.set(`${entry}: ${name}`, 'the export is removed');
      reported.add(name);
    }
  }
  return breaks;
}

/** Each symbol that both packages export, with the first entry point that exports the symbol. */
function pairsOf(before, after, { last, current }) {
  const pairs = new Map();
  for (const [entry, names] of before) {
    for (const [name, symbol] of names) {
      const now = after.get(entry)?.get(name);
      if (now === undefined || pairs.has(symbol)) continue;
      const types = { old: inModule(last.get(entry), name), new: inModule(current.get(entry), name) };
      pairs.set(symbol, { name: `${entry}: ${name}`, before: symbol, after: now, types });
    }
  }
  return [...pairs.values()];
}

function inModule(file, name) {
  return `import(${JSON.stringify(file.replace(/\.d\.ts$/, ''))}).${name}`;
}

/** The assignments that must compile. */
function checksOf(checker, pair, uses = new Set(['input', 'output']), pairs) {
  const { name, before, after, types } = pair;
  const isClass = (before.flags & ts.SymbolFlags.Class) !== 0;
  const exported = new Set(pairs.map((each) => each.before));
  const checks = [];
  const output = (place, symbols, suffix, kind) =>
    checks.push({ name: place, ...symbols, from: kind(types.new) + suffix, to: kind(types.old) + suffix });
  const input = (place, symbols, suffix, kind) =>
    checks.push({ name: place, ...symbols, from: kind(types.old) + suffix, to: kind(types.new) + suffix });
  const fails = (place, symbols, explanation) => checks.push({ name: place, ...symbols, explanation });

  const value = (type) => `(typeof ${type})`;
  if (isClass && (before.flags & after.flags & ts.SymbolFlags.Class) !== 0) {
    const construct = { before: before.members.get('__constructor'), after: after.members.get('__constructor') };
    if (!isPrivate(construct.before)) {
      const parameters = (type) => `ConstructorParameters<typeof ${type}>`;
      input(`${name}.constructor`, owned(construct, pair), '', parameters);
    }
    for (const [before_, after_, key] of members(pair, (symbol) => checker.getTypeOfSymbol(symbol), exported)) {
      if (key === 'prototype') continue;
      const place = `${name}.${key}`;
      if (after_ === undefined) fails(place, { before: before_ }, 'the static member is removed');
      else output(place, { before: before_, after: after_ }, `[${JSON.stringify(key)}]`, value);
    }
  } else if (before.flags & ts.SymbolFlags.Value) {
    output(name, { before, after }, '', value);
  }
  if (!(before.flags & ts.SymbolFlags.Type)) return checks;

  const instance = (symbol) => (type) => type + anyArguments(symbol);
  const [old, now] = [instance(before), instance(after)];
  const typeOf = (type) => (type === types.old ? old(type) : now(type));
  const directions = isClass ? new Set(['output']) : uses;
  for (const [before_, after_, key] of members(pair, (symbol) => checker.getDeclaredTypeOfSymbol(symbol), exported)) {
    const place = `${name}.${key}`;
    const symbols = { before: before_, after: after_ };
    const suffix = `[${JSON.stringify(key)}]`;
    if (after_ === undefined) fails(place, symbols, 'the member is removed');
    else if (before_ === undefined) {
      const isRequired = !(after_.flags & ts.SymbolFlags.Optional);
      if (isRequired && directions.has('input')) fails(place, symbols, 'the member is new and required');
    } else {
      if (directions.has('output')) output(place, symbols, suffix, typeOf);
      if (directions.has('input')) input(place, symbols, suffix, typeOf);
    }
  }
  if (directions.has('output')) output(name, { before, after, isWhole: true }, '', typeOf);
  if (directions.has('input')) input(name, { before, after, isWhole: true }, '', typeOf);
  return checks;
}

/** A class without a constructor of its own has the constructor of its base class. */
function owned(construct, { before, after }) {
  return { before: construct.before ?? before, after: construct.after ?? after };
}

function isPrivate(symbol) {
  return (symbol?.declarations ?? []).some(
    (each) => (ts.getCombinedModifierFlags(each) & ts.ModifierFlags.Private) !== 0,
  );
}

/** The named members of either version. The members of an exported base belong to the base. */
function members({ before, after }, typeOf, exported) {
  const isObject = (type) => (type.flags & ts.TypeFlags.Object) !== 0;
  const types = [before, after].map(typeOf);
  if (!types.every(isObject)) return [];
  const [old, now] = types.map((type) => new Map(type.getProperties().map((member) => [member.name, member])));
  const isInherited = (member) => {
    const parent = member?.declarations?.[0]?.parent?.symbol;
    return parent !== before && parent !== after && (exported.has(parent) || isExternal(member));
  };
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((key) => !key.startsWith('__@') && !isInherited(old.get(key) ?? now.get(key)))
    .map((key) => [old.get(key), now.get(key), key]);
}

function isExternal(member) {
  return (member.declarations ?? []).every((each) => !each.getSourceFile().fileName.includes('/dist/lib/'));
}

function anyArguments({ declarations }) {
  const count = Math.max(0, ...declarations.map(({ typeParameters = [] }) => typeParameters.length));
  return count === 0 ? '' : `<${Array(count).fill('any')}>`;
}

/** The checks that do not compile. */
function failing(checks, oldProgram, host) {
  const file = join(import.meta.dirname, 'assignments.ts');
  const lines = checks.map(({ from, to }, at) =>
    from === undefined ? '' : `const c${at} = (x: ${from}): ${to} => x;`,
  );
  const source = ts.createSourceFile(file, `export {};${lines.join('\n')}`, OPTIONS.target, true);
  const own = { ...host, getSourceFile: (name, target) => (name === file ? source : host.getSourceFile(name, target)) };
  const program = ts.createProgram([...oldProgram.getRootFileNames(), file], OPTIONS, own, oldProgram);
  const errors = new Map();
  for (const { start, messageText } of program.getSemanticDiagnostics(source)) {
    const { line } = source.getLineAndCharacterOfPosition(start);
    const chain = ts.flattenDiagnosticMessageText(messageText, '\n').split('\n');
    errors.set(line, chain.at(-1).trim());
  }
  return checks.flatMap((check, at) => {
    const explanation = check.explanation ?? errors.get(at);
    return explanation === undefined ? [] : [{ ...check, explanation }];
  });
}

/**
 * Leaves out each failure that another failure causes: its own declaration has the same text as before, and refers to the
 * declaration of the other failure.
 */
function causes(checker, failures, isOwn) {
  const isChanged = ({ before, after }) => textOf(before) !== textOf(after);
  const changed = failures.filter((failure) => !failure.isWhole && isChanged(failure));
  const owners = new Set(changed.flatMap(({ before, after }) => [before, ownerOf(before ?? after)]));
  const others = failures
    .filter((failure) => !changed.includes(failure))
    .filter(({ name, isWhole }) => !isWhole || !failures.some((each) => each.name.startsWith(`${name}.`)))
    .map((failure) => ({
      ...failure,
      owner: failure.isWhole ? failure.before : ownerOf(failure.before),
      reached: reachedSymbols(checker, failure.before?.declarations ?? [], isOwn),
    }));
  const isCaused = ({ before, owner, reached }) =>
    [...reached].some((symbol) => symbol !== before && owners.has(symbol)) ||
    others.some((other) => other.owner !== owner && reached.has(other.owner) && !other.reached.has(owner));
  return [...changed, ...others.filter((failure) => !isCaused(failure))];
}

function ownerOf(symbol) {
  return symbol?.declarations?.[0]?.parent?.symbol;
}

function textOf(symbol) {
  return (symbol?.declarations ?? []).map((each) => each.getText()).join('\n');
}

/** The members and functions whose `@default` names other values than before. */
function changedDefaults({ name, before, after }) {
  const [old, now] = [before, after].map(documentedDefaults);
  return [...old].flatMap(([place, text]) => {
    const next = now.get(place);
    if (next === undefined || defaultValues(text) === defaultValues(next)) return [];
    return [[`${name}${place} @default`, `the default was: ${text}; it is: ${next}`]];
  });
}

/** The comments are only in the original files. */
function documentedDefaults(symbol) {
  const defaults = new Map();
  for (const declaration of symbol.declarations ?? []) {
    const { fileName } = declaration.getSourceFile();
    const source = ts.createSourceFile(fileName, readFileSync(fileName, 'utf8'), OPTIONS.target, true);
    for (const statement of source.statements.filter((each) => each.name?.text === symbol.name)) {
      const nodes = [['', statement], ...(statement.members ?? []).map((each) => [`.${each.name?.getText()}`, each])];
      for (const [place, node] of nodes) {
        const tag = ts.getJSDocTags(node).find(({ tagName }) => tagName.text === 'default');
        if (tag) defaults.set(place, ts.getTextOfJSDocComment(tag.comment) ?? '');
      }
    }
  }
  return defaults;
}
