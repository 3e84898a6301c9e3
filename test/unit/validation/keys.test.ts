import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType, StreamViewType, TableEncryptionV2 } from 'aws-cdk-lib/aws-dynamodb';
import { type IStream, Stream } from 'aws-cdk-lib/aws-kinesis';
import { Alias, CfnKey, type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { STEPFUNCTIONS_USE_DISTRIBUTED_MAP_RESULT_WRITER_V2 } from 'aws-cdk-lib/cx-api';
import {
  AdaptiveShardCountController,
  DaxCluster,
  FanOutQueryFunction,
  HashKeyRegistry,
  IndexItemMover,
  IndexKeeper,
  KeyShardedTable,
  KeyspacesFanOutQueryFunction,
  ShardCounts,
  type ShardedIndex,
  ShardedTable,
  StreamReshardingProvider,
  UniformStream,
} from '../../../lib';
import {
  consumer,
  imported,
  keyspacesTable,
  plainFunction,
  producer,
  vpcOf,
  warningsOf,
} from '../../support/minimal-constructs';

/** Without this flag, a mover uses a class that a newer CDK deprecates. */
const context = { [STEPFUNCTIONS_USE_DISTRIBUTED_MAP_RESULT_WRITER_V2]: true };
const env = { account: '111111111111', region: 'eu-west-1' };
const string = (name: string) => ({ name, type: AttributeType.STRING });
const arnOf = (account: string) => `arn:aws:kms:eu-west-1:${account}:key/1234`;

/** The keys that an app can pass. The policy of a foreign key is in another account. */
const KEYS: Record<string, { make: (stack: Stack) => IKey; isForeign?: true }> = {
  'of this app': { make: (stack) => new Key(stack, 'Key') },
  'of an alias of this app': { make: (stack) => new Key(stack, 'Key').addAlias('ours') },
  'of a CfnKey': { make: (stack) => Key.fromCfnKey(new CfnKey(stack, 'Key', { keyPolicy: trusting })) },
  imported: { make: (stack) => Key.fromKeyArn(stack, 'Key', arnOf(env.account)) },
  'of an imported alias': { make: (stack) => Alias.fromAliasName(stack, 'Key', 'alias/theirs') },
  'of another account': { make: (stack) => Key.fromKeyArn(stack, 'Key', arnOf('222222222222')), isForeign: true },
};
const trusting = {
  Version: '2012-10-17',
  Statement: [
    { Effect: 'Allow', Action: 'kms:*', Resource: '*', Principal: { AWS: 'arn:aws:iam::111111111111:root' } },
  ],
};

const encryptedBy = (key: IKey) => TableEncryptionV2.customerManagedKey(key);
const encryptedStream = (stack: Stack, encryptionKey: IKey): IStream =>
  Stream.fromStreamAttributes(stack, 'Stream', {
    streamArn: 'arn:aws:kinesis:eu-west-1:111111111111:stream/encrypted',
    encryptionKey,
  });
const tableOf = (stack: Stack, key: IKey) =>
  new ShardedTable(stack, 'Jobs', {
    partitionKey: string('jobId'),
    dynamoStream: StreamViewType.NEW_IMAGE,
    encryption: encryptedBy(key),
  });
const indexOf = (stack: Stack, key: IKey, shardCounts = ShardCounts.uniform(2)): ShardedIndex =>
  tableOf(stack, key).addShardedIndex({ indexName: 'byStatus', valueAttribute: string('status'), shardCounts });

/** Each construct with a function or a role that needs a permission on a key. */
const USES: Record<string, (stack: Stack, key: IKey) => unknown> = {
  'environmentEncryption of a producer': (stack, environmentEncryption) => producer(stack, { environmentEncryption }),
  'environmentEncryption of a provider': (stack, environmentEncryption) =>
    new StreamReshardingProvider(stack, 'It', { environmentEncryption }),
  'the stream of a producer': (stack, key) => producer(stack, { stream: encryptedStream(stack, key) }),
  'the own stream of a producer': (stack, encryptionKey) =>
    producer(stack, { stream: new UniformStream(stack, 'Events', { shardCount: 1, encryptionKey }) }),
  'the FIFO queue of a producer': (stack, encryptionKey) => producer(stack).addFifoQueue('Queue', { encryptionKey }),
  'the table of a producer': (stack, key) => producer(stack).addTableStream({ table: tableOf(stack, key) }),
  'the stream of a consumer': (stack, key) => consumer(stack, { stream: encryptedStream(stack, key) }),
  'the table of a consumer': (stack, key) => consumer(stack, { stream: undefined, table: tableOf(stack, key) }),
  'the table of parked keys': (stack, key) => consumer(stack, { encryption: encryptedBy(key) }),
  'an index of a query': (stack, key) => new FanOutQueryFunction(stack, 'It', { indexes: [indexOf(stack, key)] }),
  'an index of a writer': (stack, key) => indexOf(stack, key).bindWriter(plainFunction(stack)),
  'an adaptive index of a writer': (stack, key) =>
    indexOf(stack, key, ShardCounts.adaptive()).bindWriter(plainFunction(stack)),
  'an adaptive index': (stack, key) =>
    new AdaptiveShardCountController(stack, 'It', { index: indexOf(stack, key, ShardCounts.adaptive()) }),
  'a table of a query': (stack, key) => {
    const keys = { partitionKey: string('day'), sortKey: string('id'), shardCounts: ShardCounts.uniform(2) };
    const table = new KeyShardedTable(stack, 'Orders', { ...keys, encryption: encryptedBy(key) });
    return new FanOutQueryFunction(stack, 'It', { tables: [table] });
  },
  'the table of a registry': (stack, key) =>
    new HashKeyRegistry(stack, 'It', { stream: imported(stack), encryption: encryptedBy(key) }),
  'the table of a keeper': (stack, key) =>
    new IndexKeeper(stack, 'It', {
      indexes: [indexOf(stack, new Key(stack, 'Other'))],
      encryption: encryptedBy(key),
    }),
  'the items of a keeper': (stack, key) => new IndexKeeper(stack, 'It', { indexes: [indexOf(stack, key)] }),
  'the items of a mover': (stack, key) =>
    new IndexItemMover(stack, 'It', { index: indexOf(stack, key), readUnitsPerSecond: 1, writeUnitsPerSecond: 1 }),
  'the reports of a mover': (stack, encryptionKey) =>
    new IndexItemMover(stack, 'It', {
      index: indexOf(stack, new Key(stack, 'Other')),
      readUnitsPerSecond: 1,
      writeUnitsPerSecond: 1,
      reportBucket: Bucket.fromBucketAttributes(stack, 'Reports', { bucketName: 'reports', encryptionKey }),
    }),
  'a cluster': (stack, key) => new DaxCluster(stack, 'It', { vpc: vpcOf(stack), indexes: [indexOf(stack, key)] }),
  'a Keyspaces table': (stack, encryptionKey) =>
    new KeyspacesFanOutQueryFunction(stack, 'It', { tables: [keyspacesTable(stack, { encryptionKey })] }),
};

interface Statement {
  Action: string | string[];
  Resource: unknown;
  Condition?: unknown;
}

/** The resources and the conditions of the identity statements on the tested key. */
function statementsOn(stack: Stack): { resource: unknown; condition: unknown }[] {
  const policies = Object.values(Template.fromStack(stack).findResources('AWS::IAM::Policy'));
  return policies
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement as Statement[])
    .filter(({ Action }) => [Action].flat().every((action) => action.startsWith('kms:')))
    .map(({ Resource, Condition }) => ({ resource: Resource, condition: Condition }))
    .filter(({ resource }) => !JSON.stringify(resource).includes('Other'));
}

const WARNING =
  /^cannot allow kms:.* on the key Key for .*: allow it in the policy of the key, where the key is defined/;

describe.each(Object.entries(USES))('%s', (_, use) => {
  test.each(Object.entries(KEYS))('with a key %s has a permission on the key', (_, { make, isForeign }) => {
    const stack = new Stack(new App({ context }), 'Test', { env });
    const key = make(stack);
    use(stack, key);

    const warnings = warningsOf(stack).filter((text) => WARNING.test(text));
    expect(warnings.length > 0).toBe(isForeign === true);
    const { keyArn } = key instanceof Alias ? key.aliasTargetKey : key;
    const isImportedAlias = !(key instanceof Alias) && keyArn.includes(':alias/');
    const resource = stack.resolve(isImportedAlias ? keyArn.replace(/alias\/.*/, 'key/*') : keyArn);
    const condition = isImportedAlias
      ? { 'ForAnyValue:StringEquals': { 'kms:ResourceAliases': 'alias/theirs' } }
      : undefined;
    expect(statementsOn(stack)).toContainEqual({ resource, condition });
    for (const each of statementsOn(stack)) expect(each).toEqual({ resource, condition });
  });
});
