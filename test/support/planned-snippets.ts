import {
  adaptiveIndexSnippet,
  type CodeIndex,
  evenStreamSnippet,
  exampleIndex,
  exampleTable,
  importedIndexSnippet,
  indexSnippet,
  keyspacesSnippet,
  streamSnippet,
  tableSnippet,
} from '../../bin/plan/cdk-snippet';
import type { Language } from '../../bin/plan/code-language';
import { planIndex } from '../../lib/core/planning/plan-index';

/**
 * Every kind of code that `even-shards plan --language` prints. The name of each snippet is the name of the class that
 * contains it. With the argument `python` or `java`, this program prints one file for each snippet, as JSON. `npm run
 * languages` compiles these files with the built packages.
 */

const uniform = planIndex({ writesPerSecond: 5_000, itemKb: 1 });
const byValue = planIndex({ writesPerSecond: 5_000, itemKb: 1, shares: { 'it\'s "open"': 70, 'a\\b\n$x': 30 } });
const unsharded = planIndex({ writesPerSecond: 10, itemKb: 1, shares: { open: 1 } });

/** The index of a table that `doctor` has read. */
const KNOWN: CodeIndex = {
  table: { id: 'Orders', partitionKey: { name: 'orderId', type: 'S' }, sortKey: { name: 'at', type: 'N' } },
  indexName: 'byStatusSharded',
  value: { name: 'status', type: 'S' },
};

const SHARD_FORMAT = { firstShard: 1, separator: '-', shardWidth: 2 };

export function plannedSnippets(language: Language): Record<string, string> {
  const snippets = {
    PlannedStream: streamSnippet(7, false, language),
    PlannedBalancedStream: streamSnippet(4, true, language),
    PlannedEvenStream: evenStreamSnippet('Events', 4, language),
    PlannedIndexOfKnownTable: indexSnippet(byValue, KNOWN, language),
    PlannedIndexOfAnotherOwner: importedIndexSnippet(byValue, KNOWN, 'orders', language),
    PlannedIndex: indexSnippet(byValue, exampleIndex('status'), language),
    PlannedIndexOfOddName: indexSnippet(uniform, exampleIndex('it\'s a "name"'), language),
    PlannedIndexOfTheTable: indexSnippet(uniform, exampleIndex(undefined), language),
    PlannedUnshardedIndex: indexSnippet(unsharded, exampleIndex('status'), language),
    PlannedAdaptiveIndex: adaptiveIndexSnippet(uniform, language),
    PlannedTable: tableSnippet(byValue, exampleTable('it\'s a "key"'), language),
    PlannedNumberedIndex: indexSnippet(byValue, exampleIndex('status'), language, {
      ...SHARD_FORMAT,
      shardPlacement: 'prefix',
    }),
    PlannedNumberedAdaptiveIndex: adaptiveIndexSnippet(uniform, language, SHARD_FORMAT),
    PlannedNumberedTable: tableSnippet(uniform, exampleTable('invoice'), language, SHARD_FORMAT),
    PlannedNumberedKeyspacesTable: keyspacesSnippet(uniform, language, { firstShard: 1 }),
    PlannedKeyspacesTable: keyspacesSnippet(byValue, language),
  };
  const unindented = (lines: readonly string[]) => lines.map((line) => line.replace(/^ {2}/, '')).join('\n');
  return Object.fromEntries(Object.entries(snippets).map(([name, lines]) => [name, unindented(lines)]));
}

/** Returns a source file with a stack whose constructor contains the code. */
export function stackOf(language: Language, name: string, code: string): string {
  const lines = code.split('\n');
  const isImport = (line: string) => /^(import|from) /.test(line);
  const [imports, body] = [lines.filter(isImport), lines.filter((line) => !isImport(line))];
  if (language === 'java') {
    const stack = 'software.amazon.awscdk.Stack';
    const opening = `public ${name}(software.constructs.Construct scope) {\nsuper(scope, "${name}");`;
    return [...imports, `public class ${name} extends ${stack} {`, opening, ...body, '}\n}\n'].join('\n');
  }
  if (language === 'python') {
    const opening = '    def __init__(self, scope):\n        super().__init__(scope, type(self).__name__)';
    const indented = body.map((line) => (line === '' ? '' : `        ${line}`));
    return ['import aws_cdk', ...imports, '', `class ${name}(aws_cdk.Stack):`, opening, ...indented, ''].join('\n');
  }
  return code;
}

const [language] = process.argv.slice(2);
if (language === 'python' || language === 'java') {
  const files = Object.entries(plannedSnippets(language)).map(([name, code]) => [name, stackOf(language, name, code)]);
  console.log(JSON.stringify(Object.fromEntries(files)));
}
