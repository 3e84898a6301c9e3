import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import PERMISSIONS from '../support/iam-statements.json';

interface JsiiType {
  readonly name: string;
  readonly kind: string;
  readonly abstract?: boolean;
  readonly base?: string;
  readonly methods?: {
    readonly name: string;
    readonly protected?: boolean;
    readonly returns?: { readonly type: { readonly fqn?: string } };
  }[];
}

/** The public API of the library, as the jsii compiler describes it. */
const { types }: { types: Record<string, JsiiType> } = JSON.parse(
  readFileSync(join(__dirname, '..', '..', '.jsii'), 'utf8'),
);
const classes = Object.values(types).filter(({ kind }) => kind === 'class');

type StackName = keyof typeof PERMISSIONS;

/** Each construct, with the stacks whose policy statements are pinned. */
const CONSTRUCTS: Record<string, StackName[]> = {
  DaxCluster: ['a cluster of DAX', 'a cluster of DAX for an encrypted table'],
  FanOutQueryFunction: ['a query', 'a query with a key', 'a query of a sharded table', 'a query with adaptive counts'],
  HashKeyRegistry: ['a registry', 'a registry with a key'],
  IndexItemMover: ['a resharding of an index', 'a resharding with reports', 'a resharding with adaptive counts'],
  IndexKeeper: ['a keeper of an index', 'a keeper with keys and adaptive counts'],
  KeyShardedTable: ['a sharded table', 'a sharded table with a key'],
  KeyspacesFanOutQueryFunction: ['a query of Amazon Keyspaces', 'a query of Amazon Keyspaces with a key'],
  OrderedProducerFunction: ['a producer', 'a producer on an encrypted stream', 'a producer that allocates keys'],
  OrderedStreamConsumer: ['a consumer', 'a consumer with a key'],
  OutboxRelayFunction: ['a relay with a role of IAM', 'a relay with a secret'],
  ProducerFifoQueue: ['a producer behind a queue', 'a producer behind an encrypted queue'],
  AdaptiveShardCountController: ['a controller of shard counts'],
  ShardedKeyspacesTable: ['a table of Amazon Keyspaces with a change stream'],
  ShardedTable: ['a query'],
  ShardMonitoring: ['monitoring'],
  StreamAutoScaling: ['a stream with automatic scaling'],
  StreamReconciliation: ['a stream with reconciliation', 'a stream with repair'],
  StreamResharding: ['a stream that is resharded in steps'],
  StreamReshardingProvider: ['a stream that is resharded in steps'],
  TableItemMover: ['a resharding of a table'],
  UniformStream: ['a stream'],
};

/**
 * Each method that grants permissions, with a stack that calls it. In this stack, the role with the name of the method
 * receives the grant.
 */
const GRANTS: Record<string, StackName> = {
  'DaxCluster.bindReader': 'a function bound to a cluster of DAX',
  'DaxCluster.grantRead': 'a cluster of DAX',
  'AdaptiveShardCountController.grantInvoke': 'invocations of functions',
  'FanOutQueryFunction.grantInvoke': 'invocations of functions',
  'StreamAutoScaling.grantInvoke': 'invocations of functions',
  'StreamReconciliation.grantInvoke': 'invocations of functions',
  'HashKeyRegistryGrants.administer': 'grants on a registry',
  'HashKeyRegistryGrants.allocate': 'grants on a registry',
  'HashKeyRegistryGrants.query': 'grants on a registry',
  'HashKeyRegistryGrants.read': 'grants on a registry',
  'IndexItemMover.grantStartExecution': 'a resharding with reports',
  'IndexKeeper.grantInvoke': 'invocations of functions',
  'KeyShardedTable.bindReader': 'functions bound to a sharded table',
  'KeyShardedTable.bindWriter': 'functions bound to a sharded table',
  'KeyShardedTableGrants.item': 'grants on a sharded table',
  'KeyShardedTableGrants.reshard': 'grants on a sharded table',
  'KeyShardedTableGrants.query': 'grants on a sharded table',
  'KeyShardedTableGrants.write': 'grants on a sharded table',
  'KeyspacesFanOutQueryFunction.grantInvoke': 'invocations of functions',
  'OrderedProducerFunction.grantInvoke': 'invocations of functions',
  'OrderedStreamConsumer.grantOperate': 'a consumer with a key',
  'OutboxRelayFunction.grantInvoke': 'invocations of functions',
  'ShardedIndex.bindReader': 'functions bound to an index',
  'ShardedIndex.bindWriter': 'functions bound to an index',
  'ShardedIndexGrants.changeShardCounts': 'grants on an index with adaptive counts',
  'ShardedIndexGrants.query': 'grants on an index',
  'ShardedIndexGrants.reportWrites': 'grants on an index with adaptive counts',
  'ShardedIndexGrants.reshard': 'grants on an index with adaptive counts',
  'ShardedIndexGrants.write': 'grants on an index',
  'ShardedKeyspacesTable.bindReader': 'functions bound to a table of Amazon Keyspaces',
  'ShardedKeyspacesTable.bindWriter': 'functions bound to a table of Amazon Keyspaces',
  'ShardedKeyspacesTableGrants.modifyRows': 'grants on a table of Amazon Keyspaces',
  'ShardedKeyspacesTableGrants.selectRows': 'grants on a table of Amazon Keyspaces',
  'StreamProduceGrants.produce': 'grants on a stream',
  'StreamReshardGrants.inspect': 'grants on a stream',
  'StreamReshardGrants.reshard': 'grants on a stream',
  'StreamReshardGrants.scale': 'grants on a stream',
  'TableItemMover.grantStartExecution': 'a resharding of a table',
};

function isConstruct({ base = '' }: JsiiType): boolean {
  if (base === 'constructs.Construct' || base.startsWith('aws-cdk-lib.')) return true;
  return types[base] !== undefined && isConstruct(types[base]);
}

test('the policy statements of every construct are pinned', () => {
  const constructs = classes.filter((type) => !type.abstract && isConstruct(type)).map(({ name }) => name);
  expect(Object.keys(CONSTRUCTS).sort()).toEqual(constructs.sort());
  for (const stack of Object.values(CONSTRUCTS).flat()) expect(PERMISSIONS).toHaveProperty([stack]);
});

test('the policy statements of every grant method are pinned', () => {
  const granting = classes.flatMap(({ name: type, methods = [] }) =>
    methods
      .filter(
        ({ protected: isProtected, returns }) => !isProtected && returns?.type.fqn === 'aws-cdk-lib.aws_iam.Grant',
      )
      .map(({ name }) => `${type}.${name}`),
  );
  expect(Object.keys(GRANTS).sort()).toEqual(granting.sort());
});

test.each(Object.entries(GRANTS))('%s has its own role in a pinned stack', (method, stack) => {
  const [type, name] = method.split('.') as [string, string];
  const roles = stack === 'invocations of functions' ? [`${name}${type}`] : [name, `${name}Role`];
  expect(PERMISSIONS[stack].filter((line) => roles.some((role) => line.startsWith(`${role}: `)))).not.toEqual([]);
});
