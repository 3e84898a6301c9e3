import '../../support/oldest-cdk';
import { App, BootstraplessSynthesizer, Stack } from 'aws-cdk-lib';
import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Stream } from 'aws-cdk-lib/aws-kinesis';

/** The templates of five stacks that do not use this library, by stack name. */
export function plainTemplates(): Record<string, object> {
  const app = new App({ context: { 'aws:cdk:enable-path-metadata': true } });
  const stacks = ['HotIndex', 'HotTable', 'UnevenStream', 'Healthy', 'Silent'].map(
    (name) => new Stack(app, name, { synthesizer: new BootstraplessSynthesizer() }),
  );
  const [hotIndex, hotTable, unevenStream, healthy, silent] = stacks as [Stack, Stack, Stack, Stack, Stack];
  for (const stack of [hotIndex, healthy, silent]) {
    ordersTable(stack).addGlobalSecondaryIndex({
      indexName: 'byStatus',
      partitionKey: text('status'),
      sortKey: text('createdAt'),
    });
  }
  new TableV2(hotTable, 'Messages', {
    ...{ partitionKey: text('tenant'), sortKey: text('id') },
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
  });
  for (const stack of [unevenStream, healthy, silent]) new Stream(stack, 'Events', { shardCount: 4 });
  const assembly = app.synth();
  return Object.fromEntries(stacks.map(({ stackName }) => [stackName, assembly.getStackByName(stackName).template]));
}

function ordersTable(stack: Stack): TableV2 {
  return new TableV2(stack, 'Orders', {
    partitionKey: text('orderId'),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
  });
}

function text(name: string) {
  return { name, type: AttributeType.STRING };
}
