import { App, Fn, RemovalPolicies, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import {
  HashKeyRegistry,
  type HashKeyRegistryAttributes,
  type HashKeyRegistryProps,
  OrderedProducerFunction,
  UniformStream,
} from '../../../../lib';

describe('HashKeyRegistry', () => {
  let stack: Stack;
  let stream: UniformStream;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards', { env: { account: '111111111111', region: 'eu-west-1' } });
    stream = new UniformStream(stack, 'Events', { shardCount: 4 });
  });
  const registryWith = (props: Partial<HashKeyRegistryProps> = {}) =>
    new HashKeyRegistry(stack, 'Registry', { stream, ...props });

  test('has a table that CloudFormation retains, with deletion protection and point-in-time recovery', () => {
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
    [{ removalPolicy: RemovalPolicy.DESTROY }, 'its props', 'Delete', false],
    [{ removalPolicy: RemovalPolicy.DESTROY, deletionProtection: true }, 'its props', 'Delete', true],
    [{ deletionProtection: false }, 'its props', 'Retain', false],
    [{}, 'the whole stack', 'Delete', false],
    [{ deletionProtection: true }, 'the whole stack', 'Delete', true],
  ])(
    'with the props %p and the removal policy of %s, its table has the deletion policy %s and the deletion protection %p',
    (props, policyOf, policy, protection) => {
      registryWith(props);
      if (policyOf === 'the whole stack') RemovalPolicies.of(stack).destroy();

      Template.fromStack(stack).hasResource('AWS::DynamoDB::GlobalTable', {
        DeletionPolicy: policy,
        Properties: { Replicas: [Match.objectLike({ DeletionProtectionEnabled: protection })] },
      });
    },
  );

  test('has the aliases query and allocate, which refer to the latest version of the function', () => {
    const { function: fn } = registryWith();

    for (const Name of ['query', 'allocate']) {
      Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Alias', {
        Name,
        FunctionName: stack.resolve(fn.functionName),
        FunctionVersion: '$LATEST',
      });
    }
  });

  describe('imported from another app', () => {
    const functionArn = 'arn:aws:lambda:eu-west-1:111111111111:function:registry';
    const tableArn = 'arn:aws:dynamodb:eu-west-1:111111111111:table/owners';
    const imported = (attributes: Partial<HashKeyRegistryAttributes> = {}) =>
      HashKeyRegistry.fromHashKeyRegistryAttributes(stack, 'Imported', {
        functionArn,
        tableArn,
        stream,
        ...attributes,
      });

    test('has the given ARNs, names and stream, and adds nothing to the template', () => {
      stack = new Stack(stack.node.root as App, 'Own', { env: { account: '111111111111', region: 'eu-west-1' } });
      const registry = imported();

      expect(registry).toMatchObject({ functionArn, functionName: 'registry', tableArn, tableName: 'owners', stream });
      expect(registry.env).toEqual({ account: '111111111111', region: 'eu-west-1' });
      expect(Template.fromStack(stack).toJSON()).not.toHaveProperty('Resources');
    });

    test.each(['allocate', '7', '$LATEST'])(
      'rejects a functionArn with the version or alias %s, because each grant uses its own alias',
      (qualifier) => {
        expect(() => imported({ functionArn: `${functionArn}:${qualifier}` })).toThrow(
          expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'EvenShards/Imported: functionArn' }),
        );
      },
    );

    test('accepts ARNs that CloudFormation imports from another stack', () => {
      const registry = imported({ functionArn: Fn.importValue('RegistryArn'), tableArn: Fn.importValue('OwnersArn') });
      new OrderedProducerFunction(stack, 'Producer', { stream, hashKeyRegistry: registry });

      const parts = { 'Fn::Split': [':', { 'Fn::ImportValue': 'RegistryArn' }] };
      Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Function', {
        Environment: { Variables: { EVEN_SHARDS_REGISTRY_FUNCTION_NAME: { 'Fn::Select': [6, parts] } } },
      });
    });

    test('is rejected by a producer if the registry belongs to another stream', () => {
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

  test('applyRemovalPolicy sets the deletion policy of the table', () => {
    registryWith().applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);

    Template.fromStack(stack).hasResource('AWS::DynamoDB::GlobalTable', { DeletionPolicy: 'RetainExceptOnCreate' });
  });
});
