import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { ItemVersion, KeyShardedTable, ShardCounts, TableItemMover, type TableItemMoverProps } from '../../../../lib';
import { definitionOf, reshardingStack } from '../../../support/stacks/resharding-stack';

function stackWith(props: Partial<TableItemMoverProps> = {}): { stack: Stack; resharding: TableItemMover } {
  const stack = new Stack(new App(), 'Invoices');
  const table = new KeyShardedTable(stack, 'Table', {
    partitionKey: { name: 'InvoiceNumber', type: AttributeType.STRING },
    sortKey: { name: 'ClientTransactionId', type: AttributeType.STRING },
    shardCounts: ShardCounts.uniform(6).since(ShardCounts.uniform(5)),
  });
  const itemVersion = ItemVersion.attribute('changedAt');
  const budgets = { readUnitsPerSecond: 100, writeUnitsPerSecond: 50 };
  return { stack, resharding: new TableItemMover(stack, 'Resharding', { table, itemVersion, ...budgets, ...props }) };
}

const variablesOf = (stack: Stack) =>
  Object.values(Template.fromStack(stack).findResources('AWS::Lambda::Function')).flatMap(
    ({ Properties }) => Properties.Environment?.Variables ?? [],
  )[0];

test('TableItemMover has the same state machine as IndexItemMover', () => {
  const segments = { segments: 3 };
  const textOf = (stack: Stack) => JSON.stringify(definitionOf(stack));
  const ofIndex = textOf(reshardingStack(segments).stack);
  expect(textOf(stackWith(segments).stack)).toBe(
    ofIndex.replace(
      'Moves the items of a table to their shards of an index',
      'Moves the items of a table to their shards',
    ),
  );
});

test('the environment of the function has the shard counts of the table and the version attribute', () => {
  const variables = variablesOf(stackWith().stack);
  expect(JSON.stringify(variables.EVEN_SHARDS_TABLE)).toMatch(/since\W+5\D/);
  expect(variables).toMatchObject({ EVEN_SHARDS_VERSION_ATTRIBUTE: 'changedAt' });
  expect(variables).not.toHaveProperty('EVEN_SHARDS_INDEX');
  expect(variablesOf(stackWith({ itemVersion: ItemVersion.none() }).stack)).not.toHaveProperty(
    'EVEN_SHARDS_VERSION_ATTRIBUTE',
  );
});
