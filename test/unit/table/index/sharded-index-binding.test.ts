import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { ShardCounts, type ShardedIndex, ShardedTable } from '../../../../lib';
import { InvalidArgumentError } from '../../../../lib/core/kernel/errors';
import { plainFunction } from '../../../support/minimal-constructs';

describe('a function that is bound to a sharded index', () => {
  const jobId = { name: 'jobId', type: AttributeType.STRING };
  let stack: Stack;
  let table: ShardedTable;
  let byStatus: ShardedIndex;
  let bound: LambdaFunction;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
    table = new ShardedTable(stack, 'Jobs', { partitionKey: jobId });
    const status = { name: 'status', type: AttributeType.STRING };
    byStatus = table.addShardedIndex({
      indexName: 'byStatus',
      valueAttribute: status,
      shardCounts: ShardCounts.uniform(10),
    });
    bound = plainFunction(stack, 'Bound');
  });

  function environment(): Record<string, unknown> {
    const [{ Properties }] = Object.values(Template.fromStack(stack).findResources('AWS::Lambda::Function')) as [
      { Properties: { Environment: { Variables: Record<string, unknown> } } },
    ];
    return Properties.Environment.Variables;
  }

  test.each(['bindWriter', 'bindReader'] as const)(
    'gets the configuration in an environment variable by %s',
    (bind) => {
      expect(byStatus[bind](bound).success).toBe(true);

      expect(environment()).toEqual({ BY_STATUS: stack.resolve(byStatus.toConfigJson()) });
    },
  );

  test('can be a reader and a writer, and can be bound to several indexes', () => {
    const byTime = table.addShardedIndex({ indexName: 'by-time.2', shardCounts: ShardCounts.uniform(5) });
    byStatus.bindWriter(bound);
    byStatus.bindReader(bound);
    byTime.bindReader(bound, { environmentVariable: 'timeIndex' });
    byTime.bindReader(bound);

    expect(Object.keys(environment()).sort()).toEqual(['BY_STATUS', 'BY_TIME_2', 'timeIndex']);
  });

  test('cannot get two indexes in the same variable', () => {
    const other = new ShardedTable(stack, 'Events', { partitionKey: jobId });
    const sameName = other.addShardedIndex({ indexName: 'byStatus', shardCounts: ShardCounts.uniform(2) });
    byStatus.bindReader(bound);

    expect(() => sameName.bindReader(bound)).toThrow(
      'EvenShards/Bound: environmentVariable must be a different variable for each index or table of the function, got "BY_STATUS"',
    );
    sameName.bindReader(bound, { environmentVariable: 'EVENTS_BY_STATUS' });
    expect(Object.keys(environment())).toHaveLength(2);
  });

  test.each(['bindReader', 'bindWriter'] as const)(
    'rejects %s with a variable that the function already has',
    (bind) => {
      bound.addEnvironment('BY_STATUS', 'mine');

      expect(() => byStatus[bind](bound)).toThrow(
        'EvenShards/Bound: environmentVariable must be a variable that the function does not already have, got "BY_STATUS"',
      );
      expect(environment()).toEqual({ BY_STATUS: 'mine' });
    },
  );

  test.each(['1st', 'BY STATUS', 'X', ''])('rejects the variable name %p', (environmentVariable) => {
    expect(() => byStatus.bindWriter(bound, { environmentVariable })).toThrow(InvalidArgumentError);
  });
});
