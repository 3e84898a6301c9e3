import {
  calculatedShard,
  InvalidArgumentError,
  InvalidIndexConfigError,
  InvalidIndexValueError,
  type ItemChanges,
  type ShardedIndexConfig,
  shardUpdate,
} from '../../../../../lib/core';
import { indexConfig } from '../../../../support/index-config';

const byStatus = indexConfig({
  shardAttribute: 'byStatusShard',
  shards: { default: { write: 1, read: 1 }, byValue: { succeeded: { write: 35, read: 40 } } },
});
const { valueAttribute: _, ...wholeTable } = byStatus;
const byTime: ShardedIndexConfig = {
  ...wholeTable,
  indexName: 'byTime',
  shardAttribute: 'byTimeShard',
  shards: { default: { write: 5, read: 5 } },
};
const key = { jobId: 'job-1' };

/** The expression of an update, in which names and values replace the placeholders. */
function effectOf(configs: ShardedIndexConfig[], changes: ItemChanges): string {
  const { UpdateExpression, ExpressionAttributeNames, ExpressionAttributeValues } = shardUpdate(configs, key, changes);
  return UpdateExpression.replaceAll(/[#:]evenShards\d+/g, (placeholder) =>
    placeholder.startsWith('#')
      ? ExpressionAttributeNames![placeholder]!
      : JSON.stringify(ExpressionAttributeValues![placeholder]),
  );
}

describe('shardUpdate', () => {
  const shard = calculatedShard('job-1', 5);
  const shardOfStatus = calculatedShard('job-1', 35);
  const random: ShardedIndexConfig = { ...byTime, strategy: 'random', shards: { default: { write: 1, read: 1 } } };
  const failed = { status: 'failed' };

  test.each<[string, ShardedIndexConfig[], ItemChanges, string]>([
    [
      'moves an item to a shard of its new value',
      [byStatus],
      { set: { status: 'succeeded', owner: 'ann' } },
      `SET status = "succeeded", owner = "ann", byStatusShard = ${shardOfStatus}`,
    ],
    [
      'writes the value and the shard in the single-attribute layout',
      [{ ...byStatus, keyLayout: 'single-attribute' }],
      { set: failed },
      'SET status = "failed", byStatusShard = "failed#0"',
    ],
    [
      'removes the shard of an item whose value is removed',
      [byStatus],
      { set: { owner: 'ann' }, remove: ['status'] },
      'SET owner = "ann" REMOVE status, byStatusShard',
    ],
    [
      'does not change the shard if the value does not change',
      [byStatus],
      { set: { owner: 'ann' } },
      'SET owner = "ann"',
    ],
    [
      'sets the shard in an index of the whole table, because the update may create the item',
      [byTime],
      { remove: ['owner'] },
      `SET byTimeShard = ${shard} REMOVE owner`,
    ],
    [
      'keeps the random shard of an existing item',
      [random],
      { remove: ['owner'] },
      'SET byTimeShard = if_not_exists(byTimeShard, 0) REMOVE owner',
    ],
    [
      'sets the shards of all indexes of a table',
      [byStatus, byTime],
      { set: failed },
      `SET status = "failed", byStatusShard = 0, byTimeShard = ${shard}`,
    ],
  ])('%s', (_, configs, changes, effect) => {
    expect(effectOf(configs, changes)).toBe(effect);
  });

  test('draws a random shard for the new value of an item', () => {
    const byRandom: ShardedIndexConfig = { ...byStatus, strategy: 'random' };
    const drawn = new Set(Array.from({ length: 2_000 }, () => effectOf([byRandom], { set: { status: 'succeeded' } })));
    expect(drawn.size).toBe(35);
  });

  test.each<[string, ItemChanges, Parameters<typeof shardUpdate>[3]]>([
    ['sets 200 attributes', { set: Object.fromEntries(Array.from({ length: 200 }, (__, at) => [`a${at}`, at])) }, {}],
    [
      'has an IN of 101 operands',
      { set: { owner: 'ann' } },
      {
        ConditionExpression: `a IN (${Array.from({ length: 101 }, () => ':a').join(',')})`,
        ExpressionAttributeValues: { ':a': 1 },
      },
    ],
  ])('rejects an update that %s, as DynamoDB does', (_, changes, expression) => {
    expect(() => shardUpdate([byStatus], key, changes, expression)).toThrow(
      expect.objectContaining({ field: 'changes', allowed: expect.stringContaining('within the limits of DynamoDB') }),
    );
  });

  test('has no values if it only removes attributes', () => {
    expect(shardUpdate([byStatus], key, { remove: ['status'] })).toEqual({
      UpdateExpression: 'REMOVE #evenShards0, #evenShards1',
      ExpressionAttributeNames: { '#evenShards0': 'status', '#evenShards1': 'byStatusShard' },
    });
  });

  test('keeps the random shard if the value is part of the table key and the update changes another attribute', () => {
    const byCustomer: ShardedIndexConfig = {
      ...byStatus,
      tableKey: ['customer', 'jobId'],
      valueAttribute: 'customer',
      strategy: 'random',
      shards: { default: { write: 1, read: 1 } },
    };
    const update = shardUpdate([byCustomer], { customer: 'c', jobId: 'j' }, { set: { owner: 'ann' } });
    expect(update.UpdateExpression).toBe(
      'SET #evenShards0 = :evenShards0, #evenShards1 = if_not_exists(#evenShards1, :evenShards1)',
    );
    expect(Object.values(update.ExpressionAttributeNames!)).toEqual(['owner', 'byStatusShard']);
  });

  test.each<[string, ItemChanges]>([
    ['no changes', {}],
    ['an attribute that is set and removed', { set: { status: 'failed' }, remove: ['status'] }],
    ['an attribute that is removed twice', { remove: ['owner', 'owner'] }],
    ['a remove that is no list', { remove: 'log' } as never],
    ['an attribute that is set to undefined', { set: { status: undefined } }],
    ['a change of the table key', { set: { jobId: 'job-2' } }],
    ['a change of the shard', { set: { status: 'failed', byStatusShard: 7 } }],
  ])('rejects %s', (_, changes) => {
    expect(() => shardUpdate([byStatus], key, changes)).toThrow(InvalidArgumentError);
  });

  test.each<[unknown, string]>([
    [null, 'expression must be an object, got null'],
    [{ UpdateExpression: null }, 'expression.UpdateExpression must be SET, REMOVE, ADD and DELETE clauses'],
    [{ ExpressionAttributeNames: null }, 'expression.ExpressionAttributeNames must be an object from placeholder'],
    [{ ExpressionAttributeValues: 5 }, 'expression.ExpressionAttributeValues must be an object from placeholder'],
  ])('rejects the expression %j', (expression, message) => {
    const update = () => shardUpdate([byStatus], key, { set: { status: 'failed' } }, expression as never);
    expect(update).toThrow(InvalidArgumentError);
    expect(update).toThrow(message);
  });

  test.each([
    'SET note = note - :n',
    'SET note = (note + :n) - :m',
    'SET note.list[0] = if_not_exists(other.list[1], :n)',
  ])('accepts the expression %j unchanged', (UpdateExpression) => {
    const ExpressionAttributeValues = { ':n': 1, ':m': 2 };
    const update = shardUpdate([byStatus], key, {}, { UpdateExpression, ExpressionAttributeValues });
    expect(update).toEqual({ UpdateExpression, ExpressionAttributeValues });
  });

  test('rejects an invalid value, an incomplete key and an invalid configuration', () => {
    expect(() => shardUpdate([byStatus], key, { set: { status: '' } })).toThrow(InvalidIndexValueError);
    expect(() => shardUpdate([byStatus], {}, { set: { status: 'failed' } })).toThrow('item.jobId must be');
    expect(() => shardUpdate([{ ...byStatus, tableKey: [] }], key, { remove: ['status'] })).toThrow(
      InvalidIndexConfigError,
    );
  });
});
