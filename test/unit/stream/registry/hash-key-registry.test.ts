import { App, Duration, Fn, RemovalPolicies, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import {
  HashKeyRegistry,
  type HashKeyRegistryAttributes,
  type HashKeyRegistryProps,
  OrderedProducerFunction,
  UniformStream,
} from '../../../../lib';
import { InvalidArgumentError } from '../../../../lib/core/kernel/errors';

describe('HashKeyRegistry', () => {
  let stack: Stack;
  let stream: UniformStream;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards', { env: { account: '111111111111', region: 'eu-west-1' } });
    stream = new UniformStream(stack, 'Events', { shardCount: 4 });
  });
  const registryWith = (props: Partial<HashKeyRegistryProps> = {}) =>
    new HashKeyRegistry(stack, 'Registry', { stream, ...props });

  test('has a table of its own, with the key and the expiry that its function expects', () => {
    registryWith();

    Template.fromStack(stack).hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      BillingMode: 'PAY_PER_REQUEST',
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
    });
  });

  test('has a table that can be restored to a point in time, is retained, and cannot be deleted by mistake', () => {
    registryWith();

    Template.fromStack(stack).hasResource('AWS::DynamoDB::GlobalTable', {
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        Replicas: [
          {
            DeletionProtectionEnabled: true,
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          },
        ],
      },
    });
  });

  test.each([
    [{ removalPolicy: RemovalPolicy.DESTROY }, 'Delete', false],
    [{ removalPolicy: RemovalPolicy.DESTROY, deletionProtection: true }, 'Delete', true],
    [{ deletionProtection: false }, 'Retain', false],
  ])('with %p has the deletion policy %s and deletion protection %p', (props, policy, protection) => {
    registryWith(props);

    Template.fromStack(stack).hasResource('AWS::DynamoDB::GlobalTable', {
      DeletionPolicy: policy,
      Properties: { Replicas: [Match.objectLike({ DeletionProtectionEnabled: protection })] },
    });
  });

  test('runs the registry bundle on Node.js 24, arm64, and tells it its table and stream', () => {
    const { table } = registryWith();

    Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Function', {
      Handler: 'index.handler',
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Timeout: 60,
      MemorySize: 512,
      Environment: {
        Variables: {
          EVEN_SHARDS_REGISTRY_TABLE_NAME: stack.resolve(table.tableName),
          EVEN_SHARDS_STREAM_NAME: stack.resolve(stream.streamName),
        },
      },
    });
  });

  test('takes a timeout, memory size, runtime and log group', () => {
    registryWith({
      timeout: Duration.minutes(15),
      memorySize: 1024,
      runtime: lambda.Runtime.NODEJS_22_X,
      logGroup: new logs.LogGroup(stack, 'Logs', { retention: logs.RetentionDays.ONE_YEAR }),
    });

    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::Lambda::Function', { Timeout: 900, MemorySize: 1024, Runtime: 'nodejs22.x' });
    template.hasResourceProperties('AWS::Logs::LogGroup', { RetentionInDays: 365 });
  });

  function expectStatements(statements: unknown[], roleId: string): void {
    const policies = Object.values(Template.fromStack(stack).findResources('AWS::IAM::Policy'));
    const own = policies.filter(({ Properties }) => Properties.Roles[0].Ref.startsWith(roleId));
    expect(own.map(({ Properties }) => Properties.PolicyDocument.Statement)).toEqual([statements]);
  }

  test('may use its table, list the shards of its stream, write to its log group, and do nothing else', () => {
    const { table, function: fn } = registryWith();

    expectStatements(
      [
        {
          Effect: 'Allow',
          Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
          Resource: stack.resolve(fn.logGroup.logGroupArn),
        },
        {
          Effect: 'Allow',
          Action: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Scan'],
          Resource: stack.resolve(table.tableArn),
        },
        { Effect: 'Allow', Action: 'kinesis:ListShards', Resource: stack.resolve(stream.streamArn) },
      ],
      'RegistryRole',
    );
  });

  test('may use the customer-managed key of its table', () => {
    const key = new kms.Key(stack, 'Key');
    registryWith({ encryption: dynamodb.TableEncryptionV2.customerManagedKey(key) });

    Template.fromStack(stack).hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          {
            Effect: 'Allow',
            Action: ['kms:Decrypt', 'kms:Encrypt', 'kms:GenerateDataKey', 'kms:ReEncryptFrom', 'kms:ReEncryptTo'],
            Resource: stack.resolve(key.keyArn),
          },
        ]),
      },
    });
  });

  describe('grants', () => {
    const roleOf = () => new iam.Role(stack, 'Caller', { assumedBy: new iam.AccountRootPrincipal() });

    test.each([
      ['query', ':query'],
      ['allocate', ':allocate'],
      ['administer', ''],
    ] as const)('to %s allows to invoke the function by exactly the alias for it', (grant, suffix) => {
      const registry = registryWith();

      expect(registry.grants[grant](roleOf()).success).toBe(true);
      const functionArn = stack.resolve(registry.function.functionArn);
      const Resource = suffix === '' ? functionArn : { 'Fn::Join': ['', [functionArn, suffix]] };
      expectStatements([{ Effect: 'Allow', Action: 'lambda:InvokeFunction', Resource }], 'Caller');
    });

    test('to query and to allocate have aliases that its function knows', () => {
      const { function: fn } = registryWith();

      for (const Name of ['query', 'allocate']) {
        Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Alias', {
          Name,
          FunctionName: stack.resolve(fn.functionName),
          FunctionVersion: '$LATEST',
        });
      }
    });

    test('single reads of exactly its table to whoever reads', () => {
      const key = new kms.Key(stack, 'Key');
      const registry = registryWith({ encryption: dynamodb.TableEncryptionV2.customerManagedKey(key) });

      registry.grants.read(roleOf());

      expectStatements(
        [
          { Effect: 'Allow', Action: 'dynamodb:GetItem', Resource: stack.resolve(registry.table.tableArn) },
          { Effect: 'Allow', Action: 'kms:Decrypt', Resource: stack.resolve(key.keyArn) },
        ],
        'Caller',
      );
    });
  });

  test('allocates for an imported stream', () => {
    const streamArn = 'arn:aws:kinesis:eu-west-1:111111111111:stream/events';
    new HashKeyRegistry(stack, 'Registry', { stream: kinesis.Stream.fromStreamArn(stack, 'Imported', streamArn) });

    Template.fromStack(stack).hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([{ Effect: 'Allow', Action: 'kinesis:ListShards', Resource: streamArn }]),
      },
    });
  });

  describe('and a stream whose records Kinesis distributes itself', () => {
    const onDemand = () => new kinesis.Stream(stack, 'OnDemand', { streamMode: kinesis.StreamMode.ON_DEMAND });
    const setAuto = ({ node }: kinesis.Stream) =>
      (node.defaultChild as kinesis.CfnStream).addPropertyOverride('RecordDistributionStrategy', 'AUTO');

    test('fails', () => {
      const auto = onDemand();
      setAuto(auto);
      expect(() => registryWith({ stream: auto })).toThrow(InvalidArgumentError);
    });

    test('fails at synthesis if that is set later', () => {
      const auto = onDemand();
      registryWith({ stream: auto });
      setAuto(auto);
      expect(() => Template.fromStack(stack)).toThrow('ignores partition keys and explicit hash keys');
    });
  });

  describe('of another app', () => {
    const functionArn = 'arn:aws:lambda:eu-west-1:111111111111:function:registry';
    const tableArn = 'arn:aws:dynamodb:eu-west-1:111111111111:table/owners';
    const imported = (attributes: Partial<HashKeyRegistryAttributes> = {}) =>
      HashKeyRegistry.fromHashKeyRegistryAttributes(stack, 'Imported', {
        functionArn,
        tableArn,
        stream,
        ...attributes,
      });

    test('is known by its ARNs and its stream', () => {
      const registry = imported();

      expect(registry).toMatchObject({ functionArn, functionName: 'registry', tableArn, tableName: 'owners', stream });
      expect(registry.env).toEqual({ account: '111111111111', region: 'eu-west-1' });
    });

    test.each(['allocate', '7', '$LATEST'])(
      'refuses the ARN of version or alias %s: grants name their own',
      (qualifier) => {
        expect(() => imported({ functionArn: `${functionArn}:${qualifier}` })).toThrow(
          expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'EvenShards/Imported: functionArn' }),
        );
      },
    );

    test('takes an ARN that only the deployment knows', () => {
      expect(() => imported({ functionArn: Fn.importValue('registry') })).not.toThrow();
    });

    test('adds nothing to the template', () => {
      const own = new Stack(stack.node.root as App, 'Own');
      const attributes = { functionArn, tableArn, stream };
      HashKeyRegistry.fromHashKeyRegistryAttributes(own, 'Imported', attributes);

      expect(Template.fromStack(own).toJSON()).not.toHaveProperty('Resources');
    });

    test('is asked by a producer, which may invoke its function by exactly one alias', () => {
      new OrderedProducerFunction(stack, 'Producer', { stream, hashKeyRegistry: imported() });

      const template = Template.fromStack(stack);
      template.hasResourceProperties('AWS::Lambda::Function', {
        Environment: { Variables: { EVEN_SHARDS_REGISTRY_FUNCTION_NAME: 'registry' } },
      });
      template.hasResourceProperties('AWS::IAM::Policy', {
        PolicyDocument: {
          Statement: Match.arrayWith([
            { Effect: 'Allow', Action: 'lambda:InvokeFunction', Resource: `${functionArn}:allocate` },
          ]),
        },
      });
    });

    test('grants single reads of its table, and of what its key encrypts', () => {
      const keyArn = 'arn:aws:kms:eu-west-1:111111111111:key/1234abcd-12ab-34cd-56ef-1234567890ab';
      const registry = imported({ encryptionKey: kms.Key.fromKeyArn(stack, 'Key', keyArn) });

      registry.grants.read(new iam.Role(stack, 'Caller', { assumedBy: new iam.AccountRootPrincipal() }));

      expectStatements(
        [
          { Effect: 'Allow', Action: 'dynamodb:GetItem', Resource: tableArn },
          { Effect: 'Allow', Action: 'kms:Decrypt', Resource: keyArn },
        ],
        'Caller',
      );
    });

    test('can be known by what only the deployment resolves', () => {
      const registry = imported({ functionArn: Fn.importValue('RegistryArn'), tableArn: Fn.importValue('OwnersArn') });
      new OrderedProducerFunction(stack, 'Producer', { stream, hashKeyRegistry: registry });

      const parts = { 'Fn::Split': [':', { 'Fn::ImportValue': 'RegistryArn' }] };
      Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Function', {
        Environment: { Variables: { EVEN_SHARDS_REGISTRY_FUNCTION_NAME: { 'Fn::Select': [6, parts] } } },
      });
    });

    test('is no registry for a producer of another stream', () => {
      const streamArn = 'arn:aws:kinesis:eu-west-1:111111111111:stream/';
      const [clicks, events] = ['clicks', 'events'].map((name) =>
        kinesis.Stream.fromStreamArn(stack, name, `${streamArn}${name}`),
      );

      expect(
        () =>
          new OrderedProducerFunction(stack, 'Producer', {
            stream: events!,
            hashKeyRegistry: imported({ stream: clicks }),
          }),
      ).toThrow('EvenShards/Producer: hashKeyRegistry must be a registry of the stream events, got "clicks"');
    });
  });

  test.each([
    ['no', {}, false],
    ['a chosen', { deletionProtection: true }, true],
  ])(
    'with %s deletion protection follows a removal policy that is set for the whole stack',
    (_, props, isProtected) => {
      new HashKeyRegistry(stack, 'Registry', { stream, ...props });
      RemovalPolicies.of(stack).destroy();

      Template.fromStack(stack).hasResource('AWS::DynamoDB::GlobalTable', {
        DeletionPolicy: 'Delete',
        Properties: { Replicas: [Match.objectLike({ DeletionProtectionEnabled: isProtected })] },
      });
    },
  );

  test('applies a removal policy to its table', () => {
    registryWith().applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);

    Template.fromStack(stack).hasResource('AWS::DynamoDB::GlobalTable', { DeletionPolicy: 'RetainExceptOnCreate' });
  });
});
