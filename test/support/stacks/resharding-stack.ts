import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { IndexItemMover, type IndexItemMoverProps, ShardCounts, ShardedTable } from '../../../lib';

/** A stack that reshards an index of a table. */
export function reshardingStack(
  props: Partial<IndexItemMoverProps> | ((stack: Stack) => Partial<IndexItemMoverProps>) = {},
  app = new App(),
): { stack: Stack; resharding: IndexItemMover } {
  const stack = new Stack(app, 'Orders');
  const table = new ShardedTable(stack, 'Table', { partitionKey: { name: 'orderId', type: AttributeType.STRING } });
  const index = table.addShardedIndex({
    indexName: 'byStatus',
    valueAttribute: { name: 'status', type: AttributeType.STRING },
    shardCounts: ShardCounts.uniform(4),
  });
  const resharding = new IndexItemMover(stack, 'Resharding', {
    index,
    readUnitsPerSecond: 100,
    writeUnitsPerSecond: 50,
    ...(typeof props === 'function' ? props(stack) : props),
  });
  return { stack, resharding };
}

/** The name that replaces the token of the report bucket. */
export const BUCKET_NAME = 'reports';

/** The definition of the only state machine, with names in place of tokens. */
export function definitionOf(stack: Stack): {
  States: Record<string, Record<string, unknown>>;
  StartAt: string;
} {
  const [machine] = Object.values(Template.fromStack(stack).findResources('AWS::StepFunctions::StateMachine'));
  const [, parts] = machine!.Properties.DefinitionString['Fn::Join'] as [string, (string | object)[]];
  const functionArn = (id: string) => `arn:aws:lambda:us-east-1:123456789012:function:${id}`;
  const filled = parts.map((part) => {
    if (typeof part === 'string') return part;
    if ('Fn::GetAtt' in part) return functionArn((part['Fn::GetAtt'] as [string])[0]);
    return JSON.stringify(part).includes('Partition') ? 'aws' : BUCKET_NAME;
  });
  return JSON.parse(filled.join(''));
}
