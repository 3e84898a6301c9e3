import { Lazy, Stack } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';

/**
 * Has CloudWatch name keys of one index in the region of the table. TableV2 gives all indexes what the table has, and takes
 * another choice for replicas alone.
 */
export function specifyInsights(
  table: dynamodb.CfnGlobalTable,
  indexName: string,
  { enabled, mode }: dynamodb.ContributorInsightsSpecification,
): void {
  const stack = Stack.of(table);
  const { replicas } = table;
  table.replicas = Lazy.any({
    produce: () => {
      const resolved: dynamodb.CfnGlobalTable.ReplicaSpecificationProperty[] = stack.resolve(replicas);
      const own = JSON.stringify(stack.resolve(stack.region));
      return resolved.map((replica) => (JSON.stringify(replica.region) === own ? withInsights(replica) : replica));
    },
  });

  function withInsights(replica: dynamodb.CfnGlobalTable.ReplicaSpecificationProperty) {
    const indexes =
      replica.globalSecondaryIndexes as dynamodb.CfnGlobalTable.ReplicaGlobalSecondaryIndexSpecificationProperty[];
    const globalSecondaryIndexes = indexes.map((index) =>
      index.indexName === indexName ? { ...index, contributorInsightsSpecification: { enabled, mode } } : index,
    );
    return { ...replica, globalSecondaryIndexes };
  }
}
