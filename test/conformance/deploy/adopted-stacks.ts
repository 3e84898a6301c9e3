import '../../support/oldest-cdk';
import { App, CfnOutput, Stack } from 'aws-cdk-lib';
import { AttributeType, StreamViewType, Table, type TableProps, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Stream } from 'aws-cdk-lib/aws-kinesis';
import {
  FanOutQueryFunction,
  IndexItemMover,
  IndexKeeper,
  type IShardedIndex,
  ShardCounts,
  ShardedIndex,
  ShardedTable,
  StreamReconciliation,
  UniformStream,
} from '../../../lib';
import { plainFunction } from '../../support/minimal-constructs';

/** Synthesizes an app with one stack. Returns the cloud assembly. */
export function synthesized(outdir: string, name: string, build: (stack: Stack) => void): string {
  const app = new App({ outdir });
  build(new Stack(app, name));
  return app.synth().directory;
}

const text = (name: string) => ({ name, type: AttributeType.STRING });

const plainIndex = { indexName: 'byStatus', partitionKey: text('status'), sortKey: text('createdAt') };

const shardedIndex = {
  indexName: 'byStatusSharded',
  shardAttribute: 'statusShard',
  valueAttribute: text('status'),
  sortKey: text('createdAt'),
  shardCounts: ShardCounts.byValue({ pending: 5 }, 1),
};

/** One step of the case "same app and same ID". */
export interface SameAppStep {
  readonly isSharded?: boolean;
  readonly hasShardedIndex?: boolean;
  /** Whether the writer of the stack is bound to the sharded index, which an `IndexItemMover` fills. */
  readonly fills?: boolean;
  /** Whether a function queries the sharded index. */
  readonly queries?: boolean;
  /** @default true */
  readonly hasPlainIndex?: boolean;
  /** Whether the plain reader of the stack may query the indexes. @default true */
  readonly readsPlainIndex?: boolean;
}

/** A table with a plain writer and a plain reader, and the steps of its adoption. */
export function sameApp(step: SameAppStep = {}) {
  return (stack: Stack) => {
    const { isSharded, hasShardedIndex, fills, queries, hasPlainIndex = true, readsPlainIndex = true } = step;
    const props = {
      partitionKey: text('orderId'),
      globalSecondaryIndexes: hasPlainIndex ? [plainIndex] : [],
    };
    const orders = isSharded ? new ShardedTable(stack, 'Orders', props) : new TableV2(stack, 'Orders', props);
    const [writer, reader] = ['Writer', 'Reader'].map((id) => plainFunction(stack, id));
    orders.grantWriteData(writer!);
    if (readsPlainIndex) orders.grantReadData(reader!);
    else orders.grant(reader!, 'dynamodb:GetItem');
    new CfnOutput(stack, 'TableName', { value: orders.tableName });
    if (!hasShardedIndex) return;
    const byStatus = (orders as ShardedTable).addShardedIndex(shardedIndex);
    if (fills) byStatus.bindWriter(writer!);
    addParts(stack, byStatus, { fills, queries });
  };
}

interface Parts {
  readonly fills?: boolean | undefined;
  readonly queries?: boolean | undefined;
}

function addParts(stack: Stack, index: IShardedIndex, { fills, queries }: Parts): void {
  if (fills) {
    const mover = new IndexItemMover(stack, 'Mover', {
      ...{ index, segments: 2, readUnitsPerSecond: 500, writeUnitsPerSecond: 200 },
    });
    new CfnOutput(stack, 'MoverArn', { value: mover.stateMachine.stateMachineArn });
  }
  if (queries) {
    const query = new FanOutQueryFunction(stack, 'Query', { indexes: [index] });
    new CfnOutput(stack, 'QueryName', { value: query.function.functionName });
  }
  new CfnOutput(stack, 'Index', { value: index.toConfigJson() });
}

/** One step of the case "same app, not convertible", with writers that cannot change. */
export interface KeptStep {
  readonly hasStream?: boolean;
  readonly hasShardedIndex?: boolean;
  readonly keeps?: 'counting' | 'correcting';
  readonly queries?: boolean;
}

/** A `Table`, and the steps of its adoption. */
export function keptTable({ hasStream, hasShardedIndex, keeps, queries }: KeptStep = {}) {
  return (stack: Stack) => {
    const props: TableProps = {
      partitionKey: text('orderId'),
      ...(hasStream && { stream: StreamViewType.NEW_AND_OLD_IMAGES }),
    };
    const orders = new Table(stack, 'Orders', props);
    orders.addGlobalSecondaryIndex(plainIndex);
    new CfnOutput(stack, 'TableName', { value: orders.tableName });
    if (!hasShardedIndex) return;
    orders.addGlobalSecondaryIndex({
      indexName: 'byStatusSharded',
      partitionKeys: [text('status'), { name: 'statusShard', type: AttributeType.NUMBER }],
      sortKey: text('createdAt'),
    });
    const { indexName: _, ...shape } = shardedIndex;
    const byStatus = ShardedIndex.fromShardedIndexAttributes({
      ...{ ...shape, table: orders, tableKey: ['orderId'], indexName: 'byStatusSharded' },
    });
    if (keeps !== undefined) {
      const keeper = new IndexKeeper(stack, 'Keeper', {
        indexes: [byStatus],
        ...(keeps === 'counting' && { correct: false }),
      });
      new CfnOutput(stack, 'KeeperName', { value: keeper.function.functionName });
    }
    addParts(stack, byStatus, { queries });
  };
}

/** The stack of another owner, which declares the table and its indexes. */
export function ownedTable({ hasShardedIndex }: { hasShardedIndex?: boolean } = {}) {
  return (stack: Stack) => {
    const orders = new TableV2(stack, 'Orders', {
      tableName: 'OwnedOrders',
      partitionKey: text('orderId'),
      globalSecondaryIndexes: [plainIndex],
    });
    if (!hasShardedIndex) return;
    orders.addGlobalSecondaryIndex({
      indexName: 'byStatusSharded',
      partitionKeys: [text('status'), { name: 'statusShard', type: AttributeType.NUMBER }],
      sortKey: text('createdAt'),
    });
  };
}

/** The stack of an app that imports the table of another owner. */
export function importingApp(parts: Parts) {
  return (stack: Stack) => {
    const table = TableV2.fromTableName(stack, 'Orders', 'OwnedOrders');
    const byStatus = ShardedIndex.fromShardedIndexAttributes({ ...shardedIndex, table, tableKey: ['orderId'] });
    addParts(stack, byStatus, parts);
  };
}

/** One step of the case "uneven shards". */
export interface StreamStep {
  readonly isUniform?: boolean;
  readonly reconciles?: 'reporting' | 'repairing';
}

/** A stream of four shards, and the steps of its adoption. */
export function adoptedStream({ isUniform, reconciles }: StreamStep = {}) {
  return (stack: Stack) => {
    const events = isUniform
      ? new UniformStream(stack, 'Events', { shardCount: 4 })
      : new Stream(stack, 'Events', { shardCount: 4 });
    new CfnOutput(stack, 'StreamName', { value: events.streamName });
    if (reconciles === undefined) return;
    const options = reconciles === 'repairing' ? { repair: true } : {};
    const { function: reconciliation } = (events as UniformStream).addReconciliation(options);
    new CfnOutput(stack, 'ReconciliationName', { value: reconciliation.functionName });
  };
}

/** The stack of an app that imports a stream of another owner. */
export function importedStream(streamArn: string) {
  return (stack: Stack) => {
    const stream = Stream.fromStreamArn(stack, 'Events', streamArn);
    const { function: reconciliation } = new StreamReconciliation(stack, 'Reconciliation', { stream, shardCount: 4 });
    new CfnOutput(stack, 'ReconciliationName', { value: reconciliation.functionName });
  };
}
