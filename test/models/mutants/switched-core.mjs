import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { drawnChangesOf, isType } from './changes.mjs';

const ROOT = 'lib/core';

/**
 * Every possible random mutant of the core. `nth` counts the same change of the same expression in a function.
 *
 * @returns {{ file: string, function: string, change: string, before: string, after: string, nth: number }[]}
 */
export function drawableMutants() {
  const names = readdirSync(ROOT, { recursive: true }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('index.ts'),
  );
  return names.sort().flatMap((name) => drawableOf(join(ROOT, name)).map(({ mutant }) => mutant));
}

/**
 * The text of each file of the core with mutants. Each mutant has a switch and is active while `isMutant(number)` is true, so a
 * process loads the core once for all mutants.
 *
 * @param {object[]} mutants some of `drawableMutants()`, each with its `number`
 */
export function switchedCore(mutants) {
  const files = [...new Set(mutants.map(({ file }) => file))];
  const numbers = new Map(mutants.map((mutant) => [keyOf(mutant), mutant.number]));
  return Object.fromEntries(files.map((file) => [file, switched(file, numbers)]));
}

function drawableOf(file) {
  const counts = new Map();
  return drawnChangesOf(readFileSync(file, 'utf8')).map(({ node, text, function: owner, change }) => {
    const place = { file, function: owner, change, before: node.getText(), after: text };
    const nth = (counts.get(keyOf(place)) ?? 0) + 1;
    counts.set(keyOf(place), nth);
    return { node, mutant: { ...place, nth } };
  });
}

function keyOf({ file, function: owner, change, before, after, nth }) {
  return [file, owner, change, before, after, nth].join('\n');
}

function switched(file, numbers) {
  const drawable = drawableOf(file);
  const tree = drawable[0].node.getSourceFile();
  const alternatives = new Map();
  for (const { node, mutant } of drawable) {
    const number = numbers.get(keyOf(mutant));
    if (number !== undefined)
      alternatives.set(node, [...(alternatives.get(node) ?? []), { number, text: mutant.after }]);
  }
  const written = (node) => {
    if (isType(node)) return node.getText();
    const ofNode = alternatives.get(node);
    if (ofNode === undefined) return withSwitches(node);
    if (ts.isStatement(node)) return `{ if (!isMutant(${ofNode[0].number})) ${withSwitches(node)} }`;
    return ofNode.reduce(
      (rest, { number, text }) => `(isMutant(${number}) ? ${text} : ${rest})`,
      `(${withSwitches(node)})`,
    );
  };
  const withSwitches = (node) => {
    let [text, from] = ['', node.getStart()];
    for (const child of node.getChildren().filter(({ kind }) => kind !== ts.SyntaxKind.JSDoc)) {
      text += tree.text.slice(from, child.getStart()) + written(child);
      from = child.end;
    }
    return text + tree.text.slice(from, node.end);
  };
  return written(tree);
}
