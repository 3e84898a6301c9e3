import { App, Duration, Lazy, Size, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as events from 'aws-cdk-lib/aws-events';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as rds from 'aws-cdk-lib/aws-rds';
import { OutboxRelayDatabase, OutboxRelayFunction, type OutboxRelayFunctionProps, UniformStream } from '../../../lib';

describe('OutboxRelayFunction', () => {
  let stack: Stack;
  let vpc: ec2.Vpc;
  let cluster: rds.DatabaseCluster;
  beforeEach(() => {
    stack = new Stack(new App(), 'Outbox', { env: { account: '111111111111', region: 'eu-west-1' } });
    vpc = new ec2.Vpc(stack, 'Vpc');
    cluster = clusterOf('Database', { iamAuthentication: true });
  });

  const clusterOf = (id: string, props: Partial<rds.DatabaseClusterProps> = {}) =>
    new rds.DatabaseCluster(stack, id, {
      engine: rds.DatabaseClusterEngine.auroraPostgres({ version: rds.AuroraPostgresEngineVersion.VER_16_4 }),
      writer: rds.ClusterInstance.serverlessV2('Writer'),
      vpc,
      ...props,
    });

  function relayOf(props: Partial<OutboxRelayFunctionProps> = {}): OutboxRelayFunction {
    return new OutboxRelayFunction(stack, 'Relay', {
      ...(!('stream' in props) && {
        stream: new UniformStream(stack, 'Events', { shardCount: 2, maxRecordSize: Size.mebibytes(2) }),
      }),
      database: OutboxRelayDatabase.fromCluster(cluster, { secret: cluster.secret! }),
      vpc,
      ...props,
    });
  }

  test('runs for 15 minutes, starts every minute, and drops an invocation while the previous invocation runs', () => {
    relayOf();

    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::Lambda::Function', {
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Timeout: 900,
      MemorySize: 512,
      ReservedConcurrentExecutions: Match.absent(),
    });
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      MaximumRetryAttempts: 0,
      MaximumEventAgeInSeconds: 60,
    });
    template.hasResourceProperties('AWS::Events::Rule', {
      ScheduleExpression: 'rate(1 minute)',
      Targets: [Match.objectLike({ RetryPolicy: { MaximumRetryAttempts: 0 } })],
    });
  });

  test('has the settings of the database, the outbox and the stream in its environment', () => {
    const cloudEvents = { source: '/repositories', defaultType: 'changed' };
    relayOf({ schema: 'billing_outbox', maxTries: 5, aggregation: false, cloudEvents });

    const secret = stack.resolve(cluster.secret!.secretArn);
    Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: {
          EVEN_SHARDS_STREAM_NAME: Match.anyValue(),
          EVEN_SHARDS_AGGREGATION: 'false',
          EVEN_SHARDS_MAX_RECORD_BYTES: '2097152',
          EVEN_SHARDS_DATABASE_HOST: stack.resolve(cluster.clusterEndpoint.hostname),
          EVEN_SHARDS_DATABASE_PORT: stack.resolve(`${cluster.clusterEndpoint.port}`),
          EVEN_SHARDS_DATABASE_NAME: 'postgres',
          EVEN_SHARDS_DATABASE_SECRET_ARN: secret,
          EVEN_SHARDS_OUTBOX_SCHEMA: 'billing_outbox',
          EVEN_SHARDS_MAX_TRIES: '5',
          EVEN_SHARDS_CLOUD_EVENTS: '{"source":"/repositories","defaultType":"changed"}',
          NODE_EXTRA_CA_CERTS: '/var/runtime/ca-cert.pem',
        },
      },
    });
  });

  describe('with streamsByTopic', () => {
    const streamOf = (id: string, size = 1) =>
      new UniformStream(stack, id, { shardCount: 1, maxRecordSize: Size.mebibytes(size) });
    const relayBy = (
      streamsByTopic: Record<string, kinesis.IStreamRef>,
      props: Partial<OutboxRelayFunctionProps> = {},
    ) => relayOf({ stream: undefined, streamsByTopic, ...props });

    test('has each stream with its record size limit in its environment', () => {
      const [one, other] = [streamOf('One'), streamOf('Other', 5)];
      streamOf('Foreign');
      relayBy({ repositories: one, invoices: other });

      const { Variables } = Object.values(Template.fromStack(stack).findResources('AWS::Lambda::Function')).find(
        ({ Properties }) => Properties.Description?.startsWith('Sends the rows'),
      )!.Properties.Environment;
      const name = (stream: UniformStream) => stack.resolve(stream.streamName).Ref;
      const text = Variables.EVEN_SHARDS_STREAMS['Fn::Join'][1].map((part: string | { Ref: string }) =>
        typeof part === 'string' ? part : part.Ref,
      );
      expect(JSON.parse(text.join(''))).toEqual({
        repositories: { streamName: name(one), maxRecordBytes: 1_048_576 },
        invoices: { streamName: name(other), maxRecordBytes: 5_242_880 },
      });
      expect(Variables).not.toHaveProperty('EVEN_SHARDS_STREAM_NAME');
    });

    test.each<[string, (stream: UniformStream) => void, string]>([
      ['an empty streamsByTopic', () => relayBy({}), 'streamsByTopic'],
      ['the props stream and streamsByTopic together', (stream) => relayBy({ a: stream }, { stream }), 'stream'],
      ['neither a stream nor streamsByTopic', () => relayOf({ stream: undefined }), 'stream'],
      ['an empty topic', (stream) => relayBy({ '': stream }), 'streamsByTopic'],
      [
        'a maximum record size above the limit of one stream',
        (stream) => relayBy({ a: streamOf('Large', 9), b: stream }, { maxRecordSize: Size.mebibytes(8) }),
        'maxRecordSize',
      ],
    ])('rejects %s', (_, build, field) => {
      const refusal = { code: 'INVALID_ARGUMENT', field: `Outbox/Relay: ${field}` };
      expect(() => build(streamOf('One'))).toThrow(expect.objectContaining(refusal));
    });

    test('rejects the same stream for two topics, because consumers would treat rows of one topic as duplicates of rows of the other topic', () => {
      const stream = streamOf('One');
      expect(() => relayBy({ a: stream, b: stream })).toThrow(
        'Outbox/Relay: streamsByTopic.b must be a stream that no other topic uses',
      );
      stack.node.tryRemoveChild('Relay');
      const arn = 'arn:aws:kinesis:eu-west-1:111111111111:stream/events';
      const [one, same] = ['A', 'B'].map((id) => kinesis.Stream.fromStreamArn(stack, id, arn));
      expect(() => relayBy({ a: one!, b: same! })).toThrow('the topic a already uses this stream');
    });

    test('rejects a stream in another region with an error that names the topic', () => {
      const arn = 'arn:aws:kinesis:eu-north-1:111111111111:stream/events';
      const stream = kinesis.Stream.fromStreamArn(stack, 'Elsewhere', arn);
      expect(() => relayBy({ a: stream })).toThrow(
        expect.objectContaining({ field: 'Outbox/Relay: streamsByTopic.a' }),
      );
    });

    test('rejects a list of topics that is too long for the environment of a Lambda function', () => {
      const arn = (n: number) => `arn:aws:kinesis:eu-west-1:111111111111:stream/events-${n}`;
      const streams = Array.from({ length: 60 }, (_, n) => kinesis.Stream.fromStreamArn(stack, `S${n}`, arn(n)));
      relayBy(Object.fromEntries(streams.map((stream, n) => [`topic ${n}`.padEnd(40, 'x'), stream])));
      expect(() => Template.fromStack(stack)).toThrow('use several outboxes with fewer topics');
    });
  });

  test('rejects a maximum record size above the limit of its stream', () => {
    expect(() => relayOf({ maxRecordSize: Size.mebibytes(3) })).toThrow(
      'Outbox/Relay: maxRecordSize must be at most 2097152 bytes, the limit of the stream Outbox/Events',
    );
  });

  test('can authenticate with IAM as the user in iamUser, without a secret', () => {
    relayOf({ database: OutboxRelayDatabase.fromCluster(cluster, { iamUser: 'relay' }) });

    Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          EVEN_SHARDS_DATABASE_USER: 'relay',
          EVEN_SHARDS_DATABASE_SECRET_ARN: Match.absent(),
        }),
      },
    });
  });

  test('may connect to the database through its security group', () => {
    relayOf();

    Template.fromStack(stack).hasResourceProperties('AWS::EC2::SecurityGroupIngress', {
      Description: 'the relay of the outbox',
      IpProtocol: 'tcp',
    });
  });

  test('accepts an RDS instance and an RDS proxy', () => {
    const instance = new rds.DatabaseInstance(stack, 'Instance', {
      engine: rds.DatabaseInstanceEngine.postgres({ version: rds.PostgresEngineVersion.VER_16_4 }),
      vpc,
    });
    const proxy = new rds.DatabaseProxy(stack, 'Proxy', {
      proxyTarget: rds.ProxyTarget.fromCluster(cluster),
      secrets: [cluster.secret!],
      iamAuth: true,
      vpc,
    });
    const ofInstance = OutboxRelayDatabase.fromInstance(instance, { secret: instance.secret!, databaseName: 'app' });
    const ofProxy = OutboxRelayDatabase.fromProxy(proxy, { iamUser: 'relay' });
    expect([ofInstance.host, ofInstance.port, ofInstance.databaseName]).toEqual([
      instance.dbInstanceEndpointAddress,
      instance.dbInstanceEndpointPort,
      'app',
    ]);
    expect([ofProxy.host, ofProxy.port, ofProxy.iamUser]).toEqual([proxy.endpoint, '5432', 'relay']);
    relayOf({ database: ofProxy });
    Template.fromStack(stack);
  });

  test.each([
    ['neither', {}],
    ['both', { iamUser: 'relay', secret: true }],
  ])(
    'rejects a database that has %s of the options secret and iamUser',
    (_, { secret, ...options }: { secret?: boolean; iamUser?: string }) => {
      expect(() =>
        OutboxRelayDatabase.fromCluster(cluster, { ...options, ...(secret && { secret: cluster.secret! }) }),
      ).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'iamUser' }));
    },
  );

  test.each([
    events.Schedule.rate(Duration.hours(1)),
    events.Schedule.rate(Duration.minutes(60)),
    events.Schedule.cron({}),
    events.Schedule.cron({ minute: '7' }),
    events.Schedule.cron({ minute: '*/5', hour: '0-23' }),
    events.Schedule.expression(Lazy.string({ produce: () => 'rate(5 minutes)' })),
  ])('accepts a schedule that starts the function at least once in each hour: $expressionString', (schedule) => {
    expect(() => relayOf({ schedule })).not.toThrow();
  });

  test('rejects a MySQL cluster and a proxy of such a cluster', () => {
    const engine = rds.DatabaseClusterEngine.auroraMysql({ version: rds.AuroraMysqlEngineVersion.VER_3_08_0 });
    const mysql = clusterOf('MySql', { engine });
    const proxy = new rds.DatabaseProxy(stack, 'Proxy', {
      proxyTarget: rds.ProxyTarget.fromCluster(mysql),
      secrets: [mysql.secret!],
      vpc,
    });
    const refusal = (field: string) =>
      expect.objectContaining({
        field,
        message: expect.stringMatching(/a (Postgres server|proxy of a Postgres server)/),
      });
    const secret = mysql.secret!;
    expect(() => OutboxRelayDatabase.fromCluster(mysql, { secret })).toThrow(refusal('cluster'));
    expect(() => OutboxRelayDatabase.fromProxy(proxy, { secret })).toThrow(refusal('proxy'));
  });

  test.each([
    ['databaseName', ''],
    ['databaseName', 'ä'.repeat(32)],
    ['databaseName', 'a\0b'],
    ['iamUser', ''],
    ['iamUser', 'x'.repeat(64)],
    ['iamUser', 'relay*'],
  ])('rejects an invalid %s: %j', (field, name) => {
    expect(() => OutboxRelayDatabase.fromCluster(cluster, { iamUser: 'relay', [field]: name })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field }),
    );
  });

  describe('authentication', () => {
    const proxyOf = (iamAuth?: boolean) =>
      new rds.DatabaseProxy(stack, 'Proxy', {
        proxyTarget: rds.ProxyTarget.fromCluster(cluster),
        secrets: [cluster.secret!],
        vpc,
        iamAuth,
      });

    test.each([undefined, false])(
      'with IAM is rejected for a cluster whose iamAuthentication is %s',
      (iamAuthentication) => {
        const other = clusterOf('Other', { iamAuthentication });
        expect(() => OutboxRelayDatabase.fromCluster(other, { iamUser: 'relay' })).toThrow(
          'Outbox/Other: iamAuthentication must be true (or give the relay a secret instead of an iamUser)',
        );
        expect(() => OutboxRelayDatabase.fromCluster(other, { secret: other.secret! })).not.toThrow();
      },
    );

    test('with IAM is switched on for an instance, and is rejected if the instance has IAM authentication switched off', () => {
      const instanceOf = (id: string, iamAuthentication?: boolean) =>
        new rds.DatabaseInstance(stack, id, {
          engine: rds.DatabaseInstanceEngine.postgres({ version: rds.PostgresEngineVersion.VER_16_4 }),
          iamAuthentication,
          vpc,
        });
      const off = OutboxRelayDatabase.fromInstance(instanceOf('Off', false), { iamUser: 'relay' });
      expect(() => relayOf({ database: off })).toThrow('IAM authentication is disabled');
      stack.node.tryRemoveChild('Relay');
      stack.node.tryRemoveChild('Events');
      relayOf({ database: OutboxRelayDatabase.fromInstance(instanceOf('On'), { iamUser: 'relay' }) });
      Template.fromStack(stack).hasResourceProperties('AWS::RDS::DBInstance', {
        EnableIAMDatabaseAuthentication: true,
      });
    });

    test('with IAM is rejected for a proxy that uses passwords, and authentication with a password is rejected for a proxy that uses IAM', () => {
      const byPassword = proxyOf();
      expect(() => OutboxRelayDatabase.fromProxy(byPassword, { iamUser: 'relay' })).toThrow(
        'Outbox/Proxy: iamAuth must be true',
      );
      expect(() => OutboxRelayDatabase.fromProxy(byPassword, { secret: cluster.secret! })).not.toThrow();
      stack.node.tryRemoveChild('Proxy');
      const byIam = proxyOf(true);
      expect(() => OutboxRelayDatabase.fromProxy(byIam, { secret: cluster.secret! })).toThrow(
        'Outbox/Proxy: iamAuth must be false',
      );
      expect(() => OutboxRelayDatabase.fromProxy(byIam, { iamUser: 'relay' })).not.toThrow();
    });

    test('with IAM is accepted for a proxy with the default authentication scheme IAM_AUTH', () => {
      const proxy = new rds.DatabaseProxy(stack, 'Proxy', {
        proxyTarget: rds.ProxyTarget.fromCluster(cluster),
        defaultAuthScheme: rds.DefaultAuthScheme.IAM_AUTH,
        vpc,
      });
      expect(() => OutboxRelayDatabase.fromProxy(proxy, { iamUser: 'relay' })).not.toThrow();
      expect(() => OutboxRelayDatabase.fromProxy(proxy, { secret: cluster.secret! })).toThrow('iamAuth must be false');
    });
  });
});
