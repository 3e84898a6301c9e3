import { readFileSync } from 'node:fs';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { type Attribute, AttributeType, ContributorInsightsMode, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { KeyShardedTable, ShardCounts, ShardedTable, UniformStream } from '../../../lib';

const id: Attribute = { name: 'id', type: AttributeType.STRING };
const status: Attribute = { name: 'status', type: AttributeType.STRING };
const at: Attribute = { name: 'at', type: AttributeType.STRING };
const plainTable = {
  pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
  contributorInsightsSpecification: { enabled: true, mode: ContributorInsightsMode.THROTTLED_KEYS },
};
const plainStream = {
  streamMode: kinesis.StreamMode.PROVISIONED,
  encryption: kinesis.StreamEncryption.MANAGED,
};

/** For each row of the guide: a stack with the construct of this library, and a stack with the construct of the CDK. */
const REPLACEMENTS: Record<string, [before: (stack: Stack) => void, after: (stack: Stack) => void]> = {
  UniformStream: [
    (stack) => new UniformStream(stack, 'Events', { shardCount: 8, deployedShardCount: 4 }).addReconciliation(),
    (stack) => new kinesis.Stream(stack, 'Events', { ...plainStream, shardCount: 4 }),
  ],
  ShardedTable: [
    (stack) =>
      new ShardedTable(stack, 'Table', { partitionKey: id }).addShardedIndex({
        indexName: 'byStatus',
        valueAttribute: status,
        sortKey: at,
        shardCounts: ShardCounts.uniform(4),
      }),
    (stack) =>
      new TableV2(stack, 'Table', { partitionKey: id, ...plainTable }).addGlobalSecondaryIndex({
        indexName: 'byStatus',
        partitionKeys: [status, { name: 'byStatusShard', type: AttributeType.NUMBER }],
        sortKeys: [at],
      }),
  ],
  KeyShardedTable: [
    (stack) =>
      new KeyShardedTable(stack, 'Table', {
        partitionKey: id,
        sortKey: at,
        valueAttribute: 'status',
        shardCounts: ShardCounts.uniform(4),
      }),
    (stack) => new TableV2(stack, 'Table', { partitionKey: id, sortKey: at, ...plainTable }),
  ],
};

/** The streams and tables of a stack, without their metadata. */
function storesOf(add: (stack: Stack) => void): object {
  const stack = new Stack(new App(), 'Orders');
  add(stack);
  const { Resources } = Template.fromStack(stack).toJSON();
  const stores = Object.entries<{ Type: string }>(Resources)
    .filter(([, { Type }]) => ['AWS::Kinesis::Stream', 'AWS::DynamoDB::GlobalTable'].includes(Type))
    .map(([logicalId, resource]) => [logicalId, { ...resource, Metadata: undefined }]);
  return Object.fromEntries(stores);
}

describe('the guide uninstall.md', () => {
  const guide = readFileSync('docs/guides/uninstall.md', 'utf8');
  const rows = [...guide.matchAll(/^\| `(\w+)` \|/gm)].map(([, construct]) => construct);

  test('replaces exactly the constructs in the list of this test', () => {
    expect(rows).toEqual(Object.keys(REPLACEMENTS));
  });

  test.each(Object.entries(REPLACEMENTS))(
    'replaces %s without a change of the logical ID, the properties or the policies of its resource',
    (_, [before, after]) => {
      const stores = storesOf(after);
      expect(Object.keys(stores)).toHaveLength(1);
      expect(storesOf(before)).toEqual(stores);
    },
  );
});
