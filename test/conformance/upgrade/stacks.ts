import { App, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { AdaptiveOrdersStack } from '../../../examples/adaptive-orders/adaptive-orders-stack';
import { InvoiceStack } from '../../../examples/invoice-table/invoice-stack';
import { JobStatesStack } from '../../../examples/job-states/job-states-stack';
import { OrdersConsumer } from '../../../examples/ordered-consumer/orders-consumer';
import {
  HashKeyRegistry,
  ItemVersion,
  KeyShardedTable,
  OrderedProducerFunction,
  ShardCounts,
  StreamReshardingProvider,
  TableItemMover,
  UniformStream,
} from '../../../lib';
import { CachedStack } from '../../support/stacks/cached-stack';
import { ConsumedStack } from '../../support/stacks/consumed-stack';
import { ControlledStack } from '../../support/stacks/controlled-stack';
import { KeyspacesStack } from '../../support/stacks/keyspaces-stack';
import { MultiAttributeStack } from '../../support/stacks/multi-attribute-stack';
import { ProducerSourcesStack } from '../../support/stacks/producer-sources-stack';
import { RelayStack } from '../../support/stacks/relay-stack';
import { reshardingStack } from '../../support/stacks/resharding-stack';
import { WatchedStack } from '../../support/stacks/watched-stack';

/**
 * Synthesizes the stacks of the examples, and stacks that together contain every construct. A package of another release
 * takes the place of `cdk-even-shards` and of `lib`. If a new construct is not in the last release, add the construct to
 * these stacks after the next release.
 */

/** The constructs that the other stacks do not contain. */
class OtherStack extends Stack {
  constructor(app: App) {
    super(app, 'Other');
    const reshardingProvider = new StreamReshardingProvider(this, 'Resharding');
    const stream = new UniformStream(this, 'Events', { shardCount: 8, deployedShardCount: 4, reshardingProvider });
    const hashKeyRegistry = new HashKeyRegistry(this, 'Accounts', { stream });
    new OrderedProducerFunction(this, 'Producer', { stream, hashKeyRegistry, sequence: true });
    const table = new KeyShardedTable(this, 'Invoices', {
      partitionKey: { name: 'invoice', type: AttributeType.STRING },
      sortKey: { name: 'transaction', type: AttributeType.STRING },
      shardCounts: ShardCounts.uniform(5),
    });
    new TableItemMover(this, 'Mover', {
      table,
      itemVersion: ItemVersion.attribute('changedAt'),
      readUnitsPerSecond: 100,
      writeUnitsPerSecond: 50,
    });
    new OrdersConsumer(this, 'OrdersConsumer', { stream });
  }
}

const app = new App();
new AdaptiveOrdersStack(app, 'AdaptiveOrders', { code: 'examples/adaptive-orders' });
new InvoiceStack(app, 'Invoices');
new JobStatesStack(app, 'JobStates', { shares: { succeeded: 7, failed: 3 }, shards: 20 });
for (const Each of [
  CachedStack,
  ConsumedStack,
  ControlledStack,
  KeyspacesStack,
  MultiAttributeStack,
  OtherStack,
  ProducerSourcesStack,
  RelayStack,
  WatchedStack,
]) {
  new Each(app);
}
reshardingStack({}, app);
app.synth();
