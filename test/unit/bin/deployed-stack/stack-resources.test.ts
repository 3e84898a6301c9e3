import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { stackResources } from '../../../../bin/deployed-stack/stack-resources';
import { IndexKeeper, ShardCounts, ShardedTable } from '../../../../lib';

const text = (name: string) => ({ name, type: AttributeType.STRING });

test('the resources of a stack name for each index whether its keeper corrects items, only counts them, or does not exist', () => {
  const stack = new Stack(new App(), 'Shop');
  for (const id of ['Orders', 'Plain']) {
    const table = new ShardedTable(stack, id, { partitionKey: text('orderId') });
    const [byStatus, byDay] = ['status', 'day'].map((name) =>
      table.addShardedIndex({
        indexName: `by-${name}`,
        valueAttribute: text(name),
        shardCounts: ShardCounts.uniform(2),
      }),
    );
    if (id === 'Plain') continue;
    new IndexKeeper(stack, 'Counts', { indexes: [byStatus!], correct: false });
    new IndexKeeper(stack, 'Corrects', { indexes: [byDay!] });
  }
  const template = Template.fromStack(stack).toJSON();
  const physicalNames = new Map(Object.keys(template.Resources).map((logicalId) => [logicalId, logicalId]));
  const { shardings, keepers } = stackResources([
    { id: 'Shop', template, physicalNames, unknown: [], paths: new Map() },
  ]);
  expect(shardings.map(({ config: { indexName }, keeper }) => [indexName, keeper])).toEqual([
    ['by-status', 'counts'],
    ['by-day', 'corrects'],
    ['by-status', undefined],
    ['by-day', undefined],
  ]);
  expect(keepers.map(({ corrects }) => corrects)).toEqual([false, true]);
});
