// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholder belongs to Fn::Sub
import type { AssemblyStack } from '../../../../../bin/local/assembly/cloud-assembly';
import { planDeployment } from '../../../../../bin/local/assembly/deployment-plan';
import { localScopes, physicalName } from '../../../../../bin/local/assembly/local-names';
import { resolve } from '../../../../../lib/cloudformation/intrinsics';
import type { Resource, Template } from '../../../../../lib/cloudformation/template';

function stack(template: Template, id = 'Orders', directory = '/cdk.out'): AssemblyStack {
  return {
    id,
    directory,
    templateFile: 'Orders.template.json',
    name: 'Orders',
    template,
    unknown: [],
    assetPaths: new Map<string, string>(),
    constructPaths: new Map([['Events', 'Orders/Events']]),
    nested: new Map(),
  };
}

function streamNamed(Name: unknown): Resource {
  return { Type: 'AWS::Kinesis::Stream', Properties: { Name, ShardCount: 2 } };
}

/** The physical name of the stream in the plan, if its property `Name` has this value. */
function streamName(Name: unknown, template: Template = {}): unknown {
  const Resources = { Events: streamNamed(Name), ...template.Resources };
  const [scope] = localScopes([stack({ ...template, Resources })]);
  return Object(physicalName(scope!, 'Events')).value;
}

describe('a name in a template', () => {
  test('can contain pseudo parameters, which get the values of the local run', () => {
    expect(streamName({ 'Fn::Sub': '${AWS::Region} ${AWS::AccountId} ${AWS::Partition} ${AWS::URLSuffix}' })).toBe(
      'us-east-1 000000000000 aws amazonaws.com',
    );
    expect(streamName({ Ref: 'AWS::StackName' })).toBe('Orders');
    expect(streamName({ Ref: 'AWS::StackId' })).toBe(
      'arn:aws:cloudformation:us-east-1:000000000000:stack/Orders/local',
    );
  });

  test('can refer to another resource, whose name can depend on a third resource', () => {
    const Resources = {
      Copy: streamNamed({ 'Fn::Sub': ['${Name}-copy', { Name: { Ref: 'Original' } }] }),
      Original: streamNamed('original'),
    };
    expect(streamName({ Ref: 'Copy' }, { Resources })).toBe('original-copy');
  });

  test("can refer to the ARN of a table's stream", () => {
    const Resources = { Jobs: { Type: 'AWS::DynamoDB::GlobalTable', Properties: { TableName: 'jobs' } } };
    const [scope] = localScopes([stack({ Resources })]);
    expect(resolve({ 'Fn::GetAtt': ['Jobs', 'StreamArn'] }, scope!)).toEqual({
      value: expect.stringMatching(/^arn:aws:dynamodb:us-east-1:000000000000:table\/jobs\/stream\/20[-:.\dT]+$/),
    });
  });

  test.each<[string, unknown, Template, string]>([
    [
      'a resource that is not emulated',
      { 'Fn::GetAtt': ['Queue', 'Arn'] },
      { Resources: { Queue: { Type: 'AWS::SQS::Queue' } } },
      'Queue is an AWS::SQS::Queue, which is not emulated',
    ],
    [
      'an attribute that only the service knows',
      { 'Fn::GetAtt': ['Jobs', 'TableId'] },
      { Resources: { Jobs: { Type: 'AWS::DynamoDB::GlobalTable' } } },
      'a local run knows only the attributes Arn and StreamArn of an AWS::DynamoDB::GlobalTable',
    ],
  ])('is unknown if it refers to %s', (_, name, template, reason) => {
    const scope = localScopes([
      stack({ ...template, Resources: { Events: streamNamed(name), ...template.Resources } }),
    ])[0];
    expect(physicalName(scope!, 'Events')).toEqual({ reason });
  });
});

describe('the resources of a template', () => {
  test('are left out if their condition is false', () => {
    const Conditions = { Never: { 'Fn::Equals': ['a', 'b'] }, Always: { 'Fn::Equals': ['a', 'a'] } };
    const Resources = {
      Gone: { ...streamNamed('gone'), Condition: 'Never' },
      Kept: { ...streamNamed('kept'), Condition: 'Always' },
    };
    expect(planDeployment([stack({ Conditions, Resources })]).streams.map(({ name }) => name)).toEqual(['kept']);
  });

  test('can include on-demand streams, which have no shard count', () => {
    const Properties = { StreamModeDetails: { StreamMode: 'ON_DEMAND' } };
    const { streams } = planDeployment([
      stack({ Resources: { Events: { Type: 'AWS::Kinesis::Stream', Properties } } }),
    ]);
    expect(streams).toMatchObject([{ path: 'Orders/Events', mode: 'ON_DEMAND' }]);
    expect(streams[0]!.shardCount).toBeUndefined();
  });

  test('are left out if a required property cannot be resolved', () => {
    const Properties = { ShardCount: { Ref: 'Queue' } };
    const Resources = { Queue: { Type: 'AWS::SQS::Queue' }, Events: { Type: 'AWS::Kinesis::Stream', Properties } };
    const { streams, leftOut } = planDeployment([stack({ Resources })]);
    const reason = 'ShardCount is unknown: Queue is an AWS::SQS::Queue, which is not emulated';
    expect(streams).toEqual([]);
    expect(leftOut).toContainEqual({ path: 'Orders/Events', type: 'AWS::Kinesis::Stream', reason, needed: true });
  });

  describe('a table', () => {
    const Unknown = { 'Fn::GetAtt': ['Key', 'Arn'] };
    const KeySchema = [{ AttributeName: 'id', KeyType: 'HASH' }];
    const AttributeDefinitions = [{ AttributeName: 'id', AttributeType: 'S' }];
    const INDEX = { IndexName: 'byId', KeySchema, Projection: { ProjectionType: 'ALL' } };
    const planOf = (Properties: Record<string, unknown>) => {
      const Resources = {
        Key: { Type: 'AWS::KMS::Key' },
        Jobs: { Type: 'AWS::DynamoDB::GlobalTable', Properties: { KeySchema, AttributeDefinitions, ...Properties } },
      };
      const Conditions = { Always: { 'Fn::Equals': ['a', 'a'] } };
      return planDeployment([stack({ Conditions, Resources })]);
    };
    const planned = (Properties: Record<string, unknown>) => planOf(Properties).tables[0]!.definition;

    test('can have an encryption key that cannot be resolved', () => {
      const { BillingMode } = planned({
        BillingMode: 'PAY_PER_REQUEST',
        SSESpecification: { SSEEnabled: true },
        Replicas: [{ Region: 'us-east-1', SSESpecification: { KMSMasterKeyId: Unknown } }],
      });
      expect(BillingMode).toBe('PAY_PER_REQUEST');
    });

    test.each(['PAY_PER_REQUEST', 'PROVISIONED'])(
      'can have a throughput and a replica that cannot be resolved with the billing mode %s',
      (BillingMode) => {
        const definition = planned({
          BillingMode,
          GlobalSecondaryIndexes: [{ ...INDEX, WriteOnDemandThroughputSettings: Unknown }],
          LocalSecondaryIndexes: [INDEX],
          Replicas: [{ 'Fn::If': ['Always', Unknown, Unknown] }],
          WriteProvisionedThroughputSettings: Unknown,
        });
        expect(definition).toMatchObject({
          BillingMode: 'PAY_PER_REQUEST',
          GlobalSecondaryIndexes: [INDEX],
          LocalSecondaryIndexes: [INDEX],
        });
      },
    );

    test('is left out if its key schema cannot be resolved', () => {
      const { tables, leftOut } = planOf({ KeySchema: [{ AttributeName: Unknown, KeyType: 'HASH' }] });
      expect(tables).toEqual([]);
      expect(leftOut.map(({ reason }) => reason)).toContain(
        'KeySchema[0].AttributeName is unknown: Key is an AWS::KMS::Key, which is not emulated',
      );
    });
  });

  test('are left out if they are functions that cannot run locally', () => {
    const Environment = { Variables: { URL: { Ref: 'Queue' } } };
    const Type = 'AWS::Lambda::Function';
    const Resources = {
      Python: { Type, Properties: { Runtime: 'python3.13', Code: { S3Key: 'python.zip' }, Environment } },
      Inline: { Type, Properties: { Runtime: 'nodejs22.x', Code: { ZipFile: { Ref: 'Queue' } }, Environment } },
      Bucket: { Type, Properties: { Runtime: 'nodejs22.x', Code: { S3Bucket: 'ours', S3Key: 'v7.zip' }, Environment } },
      Image: { Type, Properties: { Code: { ImageUri: { 'Fn::GetAtt': ['Repository', 'Uri'] } }, Environment } },
    };
    const { functions, leftOut } = planDeployment([stack({ Resources })]);
    expect(functions).toEqual([]);
    expect(leftOut.map(({ path, reason }) => [path, reason])).toEqual([
      ['Orders/Python', 'its runtime is python3.13'],
      ['Orders/Inline', 'its code is inline'],
      ['Orders/Bucket', 'its code is in a bucket'],
      ['Orders/Image', 'its code is a container image'],
    ]);
  });
});

describe('stacks with the same name', () => {
  const exporting = (Value: string) => ({ Outputs: { Name: { Value, Export: { Name: 'name' } } } });

  test('have different names for their resources', () => {
    const Resources = { Events: streamNamed(undefined) };
    const { streams } = planDeployment([stack({ Resources }, 'Alpha'), stack({ Resources }, 'Beta')]);
    expect(new Set(streams.map(({ name }) => name)).size).toBe(2);
  });

  test('share one resource if two resources have the same explicit name, and the second resource is left out', () => {
    const stacks = ['Alpha', 'Beta'].map((id) => stack({ Resources: { Events: streamNamed('events') } }, id));
    const { streams, leftOut } = planDeployment(stacks);
    expect(streams).toHaveLength(1);
    expect(leftOut.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^Orders\/Events has the same name, events: run one stage at a time/),
    ]);
  });

  test('import values that the stacks of their own stage export', () => {
    const Resources = { Events: streamNamed({ 'Fn::ImportValue': 'name' }) };
    const stacks = ['alpha', 'beta'].flatMap((stage) => [
      stack(exporting(stage), `${stage}-exporter`, `/cdk.out/${stage}`),
      stack({ Resources }, `${stage}-importer`, `/cdk.out/${stage}`),
    ]);
    expect(planDeployment(stacks).streams.map(({ name }) => name)).toEqual(['alpha', 'beta']);
  });
});

test('all environment variables together, or a single variable, can depend on a condition', () => {
  const Variables = {
    'Fn::If': [
      'Always',
      {
        URL: { 'Fn::If': ['Always', { Ref: 'AWS::NoValue' }, { Ref: 'Queue' }] },
        REGION: { Ref: 'AWS::Region' },
        TOPIC: { Ref: 'Topic' },
      },
      { URL: { Ref: 'Queue' } },
    ],
  };
  const Resources = { Writer: { Type: 'AWS::Lambda::Function', Properties: { Environment: { Variables } } } };
  const [scope] = localScopes([stack({ Conditions: { Always: { 'Fn::Equals': ['a', 'a'] } }, Resources })]);
  expect(scope!.entries('Writer', 'Environment', 'Variables')).toEqual({
    value: [
      ['URL', { value: undefined }],
      ['REGION', { value: 'us-east-1' }],
      ['TOPIC', { reason: 'the template has no Topic' }],
    ],
  });
});
