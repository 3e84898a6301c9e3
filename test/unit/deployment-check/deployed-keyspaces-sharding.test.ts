import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import {
  CqlType,
  ShardCounts,
  ShardedKeyspacesTable,
  type ShardedKeyspacesTableProps,
  ShardingStrategy,
} from '../../../lib';
import { deployInTurn, warningsOfChange } from '../../support/fakes/deploy-in-turn';

const table =
  (changes: Partial<ShardedKeyspacesTableProps> = {}) =>
  (stack: Stack): void => {
    new ShardedKeyspacesTable(stack, 'Blogs', {
      keyspaceName: 'tracker',
      tableName: 'blogs',
      partitionKey: [{ name: 'publish_date', cqlType: CqlType.DATE }],
      clusteringColumns: [
        { name: 'title', cqlType: CqlType.TEXT },
        { name: 'author', cqlType: CqlType.TEXT },
      ],
      shardCounts: ShardCounts.uniform(20),
      ...changes,
    });
  };

describe('a table of Amazon Keyspaces that is compared with the deployed one', () => {
  test('has in its metadata what no property says, so that cdk diff shows a change of it', () => {
    const stack = new Stack();
    table()(stack);
    Template.fromStack(stack).hasResource('AWS::Cassandra::Table', {
      Metadata: {
        'EvenShards::KeyspacesSharding': {
          shards: { default: { write: 20, read: 20 } },
          firstShard: 0,
          strategy: 'calculated',
          calculatedFrom: ['title', 'author'],
        },
      },
    });
  });

  test('is warned of counts that skip a step, and of none along the steps', () => {
    const counts = (shardCounts: ShardCounts) => table({ shardCounts });
    const [few, many] = [ShardCounts.uniform(20), ShardCounts.uniform(30)];
    const [text, ...others] = warningsOfChange(counts(few), counts(many));
    expect(text).toMatch(/^queries of the table would miss items .*ShardedKeyspacesTable.skippedStep\]$/);
    expect(text).toContain('deploy ShardCounts.uniform(20).alsoReading(ShardCounts.uniform(30)) before');
    expect(others).toEqual([]);
    expect(deployInTurn(counts(few), counts(few.alsoReading(many)), counts(many)).flat()).toEqual([]);
  });

  test.each<[Partial<ShardedKeyspacesTableProps>, string]>([
    [{ firstShard: 1 }, 'firstShard of the table would go from 0 to 1: readers would miss rows that are there'],
    [
      { calculatedFrom: ['title'] },
      'calculatedFrom of the table would go from ["title","author"] to ["title"]: selectRow would not find',
    ],
    [
      { strategy: ShardingStrategy.RANDOM },
      'strategy of the table would go from "calculated" to "random": selectRow would not find',
    ],
  ])('is warned of %j', (changes, warning) => {
    expect(warningsOfChange(table(), table(changes))).toEqual([expect.stringContaining(warning)]);
  });

  test('is not warned of all clustering columns by name, which are the default', () => {
    expect(warningsOfChange(table(), table({ calculatedFrom: ['title', 'author'] }))).toEqual([]);
  });
});
