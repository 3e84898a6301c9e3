import { App, Lazy, Size, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { AttributeType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { AccountRootPrincipal, type IRole, Role } from 'aws-cdk-lib/aws-iam';
import { CfnStream, Stream } from 'aws-cdk-lib/aws-kinesis';
import { Key } from 'aws-cdk-lib/aws-kms';
import { StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { DatabaseProxy } from 'aws-cdk-lib/aws-rds';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import {
  CqlType,
  DaxCluster,
  FanOutQueryFunction,
  HashKeyRegistry,
  IndexItemMover,
  OrderedProducerFunction,
  OrderedStreamConsumer,
  OutboxRelayDatabase,
  OutboxRelayFunction,
  ShardCounts,
  ShardedIndex,
  ShardedKeyspacesTable,
  ShardedTable,
  ShardMonitoring,
  StreamProduceGrants,
  StreamReshardGrants,
  StreamReshardingProvider,
  UniformStream,
} from '../../../lib';
import { HOME } from '../../support/borders/borders';
import { databases } from '../../support/borders/pairs';
import { databaseOf, plainFunction, relay, warningsOf } from '../../support/minimal-constructs';

describe('constructs in different stacks, accounts and Regions', () => {
  const home = { account: '111111111111', region: 'eu-west-1' };
  const string = (name: string) => ({ name, type: AttributeType.STRING });
  const index = { indexName: 'byTime', shardCounts: ShardCounts.uniform(2) };
  let app: App;
  let stack: Stack;
  beforeEach(() => {
    app = new App();
    stack = new Stack(app, 'Home', { env: home });
  });
  const stackIn = (env: object, id = 'Other') => new Stack(app, id, { env: { ...home, ...env } });
  const importedFrom = (region: string) =>
    ShardedIndex.fromShardedIndexAttributes({
      ...index,
      table: TableV2.fromTableArn(stack, 'Jobs', `arn:aws:dynamodb:${region}:111111111111:table/jobs`),
      tableKey: ['jobId'],
    });

  test('the metrics of an index replica have the Region of the replica', () => {
    const table = new ShardedTable(stack, 'Jobs', {
      partitionKey: string('jobId'),
      replicas: [{ region: 'us-east-1' }],
    });
    const added = table.addShardedIndex(index);

    expect(added.metric('WriteThrottleEvents')).toMatchObject({ account: home.account, region: 'eu-west-1' });
    expect(added.onReplica('us-east-1').metric('WriteThrottleEvents')).toMatchObject({ region: 'us-east-1' });
  });

  test('a dashboard accepts an imported index of another Region only if it creates no alarms', () => {
    const monitoring = new ShardMonitoring(stack, 'Monitoring');
    const far = importedFrom('us-east-1');

    expect(() => monitoring.addIndex(far)).toThrow(
      'addIndex must be an index of the account and region aws://111111111111/eu-west-1, so switch its alarms off here, ' +
        'and add them to a ShardMonitoring in a stack of its own account and region',
    );
    monitoring.addIndex(far, { writeThrottleAlarm: false });
    const [dashboard] = Object.values(Template.fromStack(stack).findResources('AWS::CloudWatch::Dashboard'));
    expect(JSON.stringify(dashboard)).toContain(String.raw`\"region\":\"us-east-1\"`);
  });

  test('a reader of a replica has permission to use the key of the replica only', () => {
    const replicaKey = 'arn:aws:kms:us-east-1:111111111111:key/1234';
    const table = new ShardedTable(stack, 'Jobs', {
      tableName: 'jobs',
      partitionKey: string('jobId'),
      replicas: [{ region: 'us-east-1' }],
      encryption: TableEncryptionV2.customerManagedKey(new Key(stack, 'Key'), { 'us-east-1': replicaKey }),
    });
    const far = stackIn({ region: 'us-east-1' });
    new FanOutQueryFunction(far, 'Query', { indexes: [table.addShardedIndex(index).onReplica('us-east-1')] });

    Template.fromStack(far).hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([{ Effect: 'Allow', Action: 'kms:Decrypt', Resource: replicaKey }]),
      },
    });
  });

  describe('a registry and a role of another account', () => {
    const roleOf = (account: string) => Role.fromRoleArn(stack, 'Caller', `arn:aws:iam::${account}:role/caller`);

    test('have permissions that come from the resource policies of the function and the table', () => {
      const stream = new UniformStream(stack, 'Stream', { shardCount: 2 });
      const registry = new HashKeyRegistry(stack, 'Registry', { stream });
      const foreign = roleOf('222222222222');
      registry.grants.allocate(foreign);
      registry.grants.allocate(foreign);
      registry.grants.read(foreign);

      const template = Template.fromStack(stack);
      template.resourceCountIs('AWS::Lambda::Permission', 1);
      template.hasResourceProperties('AWS::Lambda::Permission', {
        Action: 'lambda:InvokeFunction',
        Principal: 'arn:aws:iam::222222222222:role/caller',
        FunctionName: { Ref: Match.stringLikeRegexp('^RegistryAliasallocate') },
      });
      template.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
        Replicas: [
          Match.objectLike({
            ResourcePolicy: {
              PolicyDocument: Match.objectLike({ Statement: [Match.objectLike({ Action: 'dynamodb:GetItem' })] }),
            },
          }),
        ],
      });
    });
  });

  describe('a grant to a role of another account', () => {
    const foreign = () => Role.fromRoleArn(stack, 'Caller', 'arn:aws:iam::222222222222:role/caller');
    const arn = (service: string, name: string) => `arn:aws:${service}:eu-west-1:111111111111:${name}`;
    const importedStream = () => Stream.fromStreamArn(stack, 'Stream', arn('kinesis', 'stream/events'));
    const importedConsumer = () =>
      OrderedStreamConsumer.fromOrderedStreamConsumerAttributes(stack, 'Consumer', {
        consumerName: 'consumer',
        functionArn: arn('lambda', 'function:consumer'),
        parkingTableArn: arn('dynamodb', 'table/parked'),
      });

    test.each<[string, (grantee: IRole) => unknown]>([
      [
        'lambda:InvokeFunction on the registry.*HashKeyRegistry',
        (grantee) =>
          HashKeyRegistry.fromHashKeyRegistryAttributes(stack, 'Registry', {
            stream: importedStream(),
            functionArn: arn('lambda', 'function:registry'),
            tableArn: arn('dynamodb', 'table/owners'),
          }).grants.query(grantee),
      ],
      [
        'dynamodb:DeleteItem.* on the parking table.*OrderedStreamConsumer',
        (grantee) => importedConsumer().grantOperate(grantee),
      ],
      [
        'kinesis:PutRecords and kinesis:ListShards on the stream Stream.*UniformStream',
        (grantee) => StreamProduceGrants.fromStream(importedStream()).produce(grantee),
      ],
      [
        'kinesis:DescribeStreamSummary.* on the stream Stream.*UniformStream',
        (grantee) => StreamReshardGrants.fromStream(new CfnStream(stack, 'Stream', { shardCount: 1 })).inspect(grantee),
      ],
      [
        'cassandra:Select on the table Rows.*ShardedKeyspacesTable',
        (grantee) =>
          new ShardedKeyspacesTable(stack, 'Rows', {
            keyspaceName: 'shop',
            tableName: 'rows',
            partitionKey: [{ name: 'day', cqlType: CqlType.TEXT }],
            clusteringColumns: [{ name: 'time', cqlType: CqlType.TIMESTAMP }],
            shardCounts: ShardCounts.uniform(2),
          }).grants.selectRows(grantee),
      ],
      [
        'states:StartExecution on the state machine.*ItemMover',
        (grantee) =>
          new IndexItemMover(stack, 'Mover', {
            index: importedFrom('eu-west-1'),
            readUnitsPerSecond: 1,
            writeUnitsPerSecond: 1,
          }).grantStartExecution(grantee),
      ],
      [
        'dax:GetItem.* on the cluster Cache.*DaxCluster',
        (grantee) =>
          DaxCluster.fromDaxClusterAttributes(stack, 'Cache', {
            clusterArn: arn('dax', 'cache/cache'),
            endpoint: 'dax://cache.example.dax-clusters.eu-west-1.amazonaws.com',
            securityGroups: [],
          }).grantRead(grantee),
      ],
      [
        'lambda:InvokeFunction on the function Producer.*BundledFunction',
        (grantee) => {
          // The function and the role are in one account, but the stack is in another account and cannot change the role.
          const theirs = 'arn:aws:lambda:eu-west-1:222222222222:function:producer';
          return OrderedProducerFunction.fromFunctionArn(stack, 'Producer', theirs).grantInvoke(grantee);
        },
      ],
      [
        'kms:Decrypt on the key Key.*ShardedIndex',
        (grantee) => {
          const encryptionKey = Key.fromKeyArn(stack, 'Key', arn('kms', 'key/1'));
          const table = TableV2.fromTableAttributes(stack, 'Jobs', { tableName: 'jobs', encryptionKey });
          return ShardedIndex.fromShardedIndexAttributes({ ...index, table, tableKey: ['jobId'] }).grants.query(
            grantee,
          );
        },
      ],
    ])('gives a warning if no resource policy of this app can allow it: %s', (warning, grant) => {
      grant(foreign());

      const isWarned = Match.stringLikeRegexp(`cannot allow ${warning}.grantWithoutEffect`);
      Annotations.fromStack(stack).hasWarning('*', isWarned);
    });

    test('is added to the policy of an imported function of the account of the stack', () => {
      const producerArn = arn('lambda', 'function:producer');
      OrderedProducerFunction.fromFunctionArn(stack, 'Producer', producerArn).grantInvoke(foreign());

      expect(warningsOf(stack)).toEqual([]);
      Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Permission', {
        FunctionName: producerArn,
        Principal: 'arn:aws:iam::222222222222:role/caller',
      });
    });

    test('gives no warning for a function that was imported with skipPermissions', () => {
      const functionArn = 'arn:aws:lambda:eu-west-1:222222222222:function:producer';
      const attributes = { functionArn, skipPermissions: true };
      OrderedProducerFunction.fromFunctionAttributes(stack, 'Producer', attributes).grantInvoke(foreign());

      expect(warningsOf(stack)).toEqual([]);
    });

    test('is added to the policy of the parking table of a consumer', () => {
      new OrderedStreamConsumer(stack, 'Consumer', {
        handler: plainFunction(stack, 'Handler'),
        stream: new UniformStream(stack, 'Stream', { shardCount: 2 }),
        startingPosition: StartingPosition.LATEST,
      }).grantOperate(foreign());

      expect(warningsOf(stack)).toEqual([]);
      const statement = Match.objectLike({
        Action: Match.arrayWith(['dynamodb:DeleteItem']),
        Principal: { AWS: 'arn:aws:iam::222222222222:role/caller' },
      });
      Template.fromStack(stack).hasResourceProperties('AWS::DynamoDB::GlobalTable', {
        Replicas: [
          Match.objectLike({ ResourcePolicy: { PolicyDocument: Match.objectLike({ Statement: [statement] }) } }),
        ],
      });
    });
  });

  test('a role of a stack without an account gets permission to invoke an imported function', () => {
    const anywhere = new Stack(app, 'Anywhere');
    const role = new Role(anywhere, 'Caller', { assumedBy: new AccountRootPrincipal() });
    const functionArn = 'arn:aws:lambda:eu-west-1:111111111111:function:producer';
    OrderedProducerFunction.fromFunctionArn(anywhere, 'Producer', functionArn).grantInvoke(role);

    expect(warningsOf(anywhere)).toEqual([]);
    Template.fromStack(anywhere).hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: { Statement: [Match.objectLike({ Action: 'lambda:InvokeFunction' })] },
    });
  });

  test.each([
    ['secret', { secretArn: 'arn:aws:secretsmanager:eu-west-1:222222222222:secret:login-123456' }, 'the secret Login'],
    ['key', { secretArn: 'arn:aws:secretsmanager:eu-west-1:111111111111:secret:login-123456' }, 'the key Key'],
  ])('a relay warns of a %s of another account', (_, { secretArn }, name) => {
    const encryptionKey = Key.fromKeyArn(stack, 'Key', 'arn:aws:kms:eu-west-1:222222222222:key/1');
    const secret = Secret.fromSecretAttributes(stack, 'Login', { secretCompleteArn: secretArn, encryptionKey });
    relay(stack, { database: databaseOf(stack, { secret }) });

    expect(warningsOf(stack)).toContainEqual(expect.stringMatching(`^cannot allow .* on ${name} for `));
  });

  test('a resharding provider of another stack gets its permissions from a policy in the stack of the stream', () => {
    const provider = new StreamReshardingProvider(stackIn({}, 'Shared'), 'Provider');
    new UniformStream(stack, 'Stream', { shardCount: 4, deployedShardCount: 2, reshardingProvider: provider });

    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::IAM::Policy', {
      Roles: [{ 'Fn::ImportValue': Match.stringLikeRegexp('^Shared:ExportsOutputRefProviderRole') }],
    });
    template.hasResource('Custom::EvenShardsStreamShardCount', {
      DependsOn: [Match.stringLikeRegexp('^StreamReshardingPolicy')],
    });
  });

  describe('the hash buckets and the record size limit of a stream', () => {
    const agreed = { hashBuckets: 64, maxRecordSize: Size.mebibytes(2) };
    const settingsOf = (scope: Stack) =>
      Object.values(Template.fromStack(scope).findResources('AWS::Lambda::Function')).map(({ Properties }) => {
        const { EVEN_SHARDS_HASH_BUCKETS: hashBuckets, EVEN_SHARDS_MAX_RECORD_BYTES: maxRecordBytes } =
          Properties.Environment.Variables;
        return { hashBuckets, maxRecordBytes };
      });
    const imported = (scope: Stack) => databases.import!(scope, HOME)!;

    test.each([
      ['of the stack of the stream', () => new UniformStream(stack, 'Stream', { shardCount: 2, ...agreed })],
      ['of another stack', () => new UniformStream(stackIn({}), 'Stream', { shardCount: 2, ...agreed })],
      [
        'of another app, imported into the stack',
        () => {
          const streamArn = 'arn:aws:kinesis:eu-west-1:111111111111:stream/events';
          return UniformStream.fromUniformStreamAttributes(stack, 'Stream', { streamArn, ...agreed });
        },
      ],
    ])('are the same for a producer that uses a stream %s', (_, make) => {
      const stream = make();
      new OrderedProducerFunction(stack, 'Producer', { stream });
      new OutboxRelayFunction(stack, 'Relay', { stream, ...imported(stack) });

      const known = { hashBuckets: '64', maxRecordBytes: String(2 * 1024 * 1024) };
      expect(settingsOf(stack)).toEqual([known, known]);
    });

    test('cannot be set to other values by a producer', () => {
      const streamArn = 'arn:aws:kinesis:eu-west-1:111111111111:stream/events';
      const stream = UniformStream.fromUniformStreamAttributes(stack, 'Stream', { streamArn, ...agreed });

      expect(() => new OrderedProducerFunction(stack, 'Producer', { stream, hashBuckets: 32 })).toThrow(
        'hashBuckets must be absent, or 64 (the hashBuckets of the stream), got 32',
      );
      expect(() => new OutboxRelayFunction(stack, 'Relay', { stream, hashBuckets: 32, ...imported(stack) })).toThrow(
        'hashBuckets must be absent, or 64 (the hashBuckets of the stream), got 32',
      );
      expect(() => new OrderedProducerFunction(stack, 'Large', { stream, maxRecordSize: Size.mebibytes(3) })).toThrow(
        'maxRecordSize must be at most 2097152 bytes, the limit of the stream Home/Stream',
      );
    });
  });

  test('addIndex rejects an index that was already added', () => {
    const monitoring = new ShardMonitoring(stack, 'Monitoring');
    const near = importedFrom('eu-west-1');
    monitoring.addIndex(near);

    expect(() => monitoring.addIndex(near)).toThrow(
      'Home/Monitoring: watched must be a resource that this ShardMonitoring does not watch yet (another ShardMonitoring can watch it, too), got "Home/Jobs byTime"',
    );
  });

  test('addIndex accepts an index whose name is a token', () => {
    const table = new ShardedTable(stack, 'Jobs', { partitionKey: string('jobId') });
    const indexName = Lazy.string({ produce: () => 'byTime' });
    const added = table.addShardedIndex({ ...index, indexName, shardAttribute: 'shard' });
    new ShardMonitoring(stack, 'Monitoring').addIndex(added);

    Template.fromStack(stack).resourceCountIs('AWS::CloudWatch::Alarm', 1);
  });

  test.each([
    ['the configuration is', Array.from({ length: 100 }, (_, each) => `status-number-${each}`), {}],
    ['the configuration and the other variables are', ['open'], { OWN: 'x'.repeat(4_000) }],
  ])('bindWriter fails synthesis if %s too long for the environment of the function', (_, values, environment) => {
    const table = new ShardedTable(stack, 'Jobs', { partitionKey: string('jobId') });
    const bound = plainFunction(stack, 'Writer');
    for (const [name, value] of Object.entries(environment)) bound.addEnvironment(name, value);
    const shardCounts = ShardCounts.byValue(Object.fromEntries(values.map((value) => [value, 2])), 1);
    table.addShardedIndex({ indexName: 'byStatus', valueAttribute: string('status'), shardCounts }).bindWriter(bound);

    expect(() => app.synth()).toThrow(/Home\/Writer: environment must be at most 4096 bytes of configuration/);
  });

  test('fromProxy rejects an imported proxy, because its security groups are unknown', () => {
    const proxy = DatabaseProxy.fromDatabaseProxyAttributes(stack, 'Proxy', {
      dbProxyName: 'proxy',
      dbProxyArn: 'arn:aws:rds:eu-west-1:111111111111:db-proxy:prx-1',
      endpoint: 'proxy.eu-west-1.rds.amazonaws.com',
      securityGroups: [],
    });

    expect(() => OutboxRelayDatabase.fromProxy(proxy as DatabaseProxy, { iamUser: 'relay' })).toThrow(
      'proxy must be a proxy of this app',
    );
  });
});
