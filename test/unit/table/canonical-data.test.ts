import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType, ProjectionType } from 'aws-cdk-lib/aws-dynamodb';
import * as fc from 'fast-check';
import { FanOutQueryFunction, KeyLayout, ShardCounts, ShardedIndex, ShardedTable } from '../../../lib';
import { plainFunction, warningsOf } from '../../support/minimal-constructs';

/** The maps and lists of a declaration. Their order has no meaning. */
interface Arrangement {
  readonly byValue: [string, number][];
  readonly alsoReading: [string, number][][];
  readonly shares: [string, number][];
  readonly nonKeyAttributes: string[];
  readonly queried: number[];
}

interface Declaration extends Arrangement {
  readonly defaultCount: number;
  readonly numeric: boolean;
  readonly singleAttribute: boolean;
}

/** Synthesizes a declaration. Returns the template, the configurations and the warnings, or the error. */
function outcomeOf(first: Declaration, second: Arrangement): string {
  const stack = new Stack(new App(), 'EvenShards');
  const status = { name: 'status', type: first.numeric ? AttributeType.NUMBER : AttributeType.STRING };
  const options = ({ byValue, alsoReading, shares, nonKeyAttributes }: Arrangement) => ({
    valueAttribute: status,
    shardCounts: alsoReading.reduce(
      (shardCounts, others) => shardCounts.alsoReading(ShardCounts.byValue(Object.fromEntries(others), 1)),
      ShardCounts.byValue(Object.fromEntries(byValue), first.defaultCount),
    ),
    shardAttribute: 'statusShard',
    keyLayout: first.singleAttribute ? KeyLayout.SINGLE_ATTRIBUTE : KeyLayout.MULTI_ATTRIBUTE,
    projectionType: ProjectionType.INCLUDE,
    nonKeyAttributes,
    expectedTraffic: { writesPerSecond: 3_000, shares: Object.fromEntries(shares) },
  });
  try {
    const table = new ShardedTable(stack, 'Jobs', { partitionKey: { name: 'jobId', type: AttributeType.STRING } });
    const indexes = [
      table.addShardedIndex({ indexName: 'byStatus', ...options(first) }),
      table.addShardedIndex({ indexName: 'byStatusToo', ...options(second) }),
      ShardedIndex.fromShardedIndexAttributes({
        table,
        tableKey: ['jobId'],
        indexName: 'byImport',
        ...options(second),
      }),
    ];
    table.addGlobalSecondaryIndex({
      indexName: 'byImport',
      partitionKeys: first.singleAttribute
        ? [{ name: 'statusShard', type: AttributeType.STRING }]
        : [status, { name: 'statusShard', type: AttributeType.NUMBER }],
    });
    new FanOutQueryFunction(stack, 'Query', { indexes: second.queried.map((position) => indexes[position]!) });
    return JSON.stringify({
      template: Template.fromStack(stack).toJSON(),
      configs: indexes.map((index) => JSON.stringify(stack.resolve(index.toConfigJson()))),
      warnings: warningsOf(stack),
    });
  } catch (error) {
    return `refused: ${error}`;
  }
}

/** Values of an index. Most values are valid, some values are invalid. */
const values = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom('failed', 'succeeded', 'unbekannt-ü', '7', '10', '-1.5', '1e+21', 'B', 'a b', '"'),
  },
  { weight: 1, arbitrary: fc.string() },
);
const entries = <T>(contents: fc.Arbitrary<T>) =>
  fc.uniqueArray(fc.tuple(values, contents), { maxLength: 6, selector: ([value]) => value });
const counts = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 1, max: 60 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 1.5, 10_001) },
);
const shares = fc.oneof(
  { weight: 20, arbitrary: fc.double({ min: 0.001, max: 100, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(0, -1) },
);
const declarations: fc.Arbitrary<Declaration> = fc.record({
  byValue: entries(counts),
  alsoReading: fc.array(entries(fc.integer({ min: 1, max: 60 })), { maxLength: 3 }),
  shares: entries(shares),
  nonKeyAttributes: fc.uniqueArray(fc.constantFrom('owner', 'Priority', 'note', 'size'), { minLength: 1 }),
  queried: fc.constantFrom([0], [0, 1], [0, 1, 2]),
  defaultCount: counts,
  numeric: fc.boolean(),
  singleAttribute: fc.boolean(),
});

const shuffled = <T>(list: readonly T[]) =>
  fc.shuffledSubarray([...list], { minLength: list.length, maxLength: list.length });
const rearranged = (declaration: Declaration): fc.Arbitrary<Declaration> =>
  fc.record({
    byValue: shuffled(declaration.byValue),
    alsoReading: shuffled(declaration.alsoReading).chain((all) => fc.tuple(...all.map(shuffled))),
    shares: shuffled(declaration.shares),
    nonKeyAttributes: shuffled(declaration.nonKeyAttributes),
    queried: shuffled(declaration.queried),
    defaultCount: fc.constant(declaration.defaultCount),
    numeric: fc.constant(declaration.numeric),
    singleAttribute: fc.constant(declaration.singleAttribute),
  });

describe('canonical data', () => {
  test('the template, the configurations, the warnings and the errors do not depend on the order of maps and lists', () => {
    let accepted = 0;
    fc.assert(
      fc.property(
        declarations.chain((declaration) =>
          fc.tuple(fc.constant(declaration), rearranged(declaration), rearranged(declaration)),
        ),
        ([declaration, once, again]) => {
          const expected = outcomeOf(declaration, declaration);
          if (!expected.startsWith('refused')) accepted++;
          expect(outcomeOf(once, again)).toBe(expected);
        },
      ),
      { numRuns: 50, seed: 6 },
    );
    expect(accepted).toBeGreaterThan(10);
  });

  test('a value whose count equals the default count has the same configuration as a value without a count', () => {
    const stack = new Stack(new App(), 'EvenShards');
    const table = new ShardedTable(stack, 'Jobs', { partitionKey: { name: 'jobId', type: AttributeType.STRING } });
    const add = (indexName: string, shardCounts: ShardCounts) =>
      table.addShardedIndex({
        indexName,
        valueAttribute: { name: 'status', type: AttributeType.STRING },
        shardAttribute: 'statusShard',
        shardCounts,
      });
    add('byStatus', ShardCounts.uniform(5));

    expect(() => add('byStatusToo', ShardCounts.byValue({ failed: 5 }, 5))).not.toThrow();
    expect(() => add('byAnother', ShardCounts.byValue({ failed: 6 }, 5))).toThrow(
      'valueAttribute, keyLayout, fixed shardCounts, strategy and shard format',
    );
    expect(() => add('byMore', ShardCounts.uniform(5).alsoReading(ShardCounts.uniform(6)))).toThrow(
      'valueAttribute, keyLayout, fixed shardCounts, strategy and shard format',
    );
  });

  test('two imports of one index with equal shard counts can be bound to the same function', () => {
    const stack = new Stack(new App(), 'EvenShards');
    const table = new ShardedTable(stack, 'Jobs', { partitionKey: { name: 'jobId', type: AttributeType.STRING } });
    const imported = (byValue: { [value: string]: number }) =>
      ShardedIndex.fromShardedIndexAttributes({
        table,
        tableKey: ['jobId'],
        indexName: 'byStatus',
        valueAttribute: { name: 'status', type: AttributeType.STRING },
        shardCounts: ShardCounts.byValue(byValue, 1),
      });
    const bound = plainFunction(stack, 'Bound');
    imported({ failed: 2, succeeded: 5 }).bindWriter(bound);

    expect(() => imported({ succeeded: 5, failed: 2 }).bindReader(bound)).not.toThrow();
    expect(() => imported({ succeeded: 6, failed: 2 }).bindReader(bound)).toThrow('a different variable');
  });
});
