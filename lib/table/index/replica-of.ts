import { Arn, ArnFormat, Stack } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';

/** A table of this app knows its replicas and their keys; of an imported table, the ARN says where a replica is. */
export function replicaOf(table: dynamodb.ITableV2, region: string): dynamodb.ITableV2 {
  if (table instanceof dynamodb.TableV2) return table.replica(region);
  const id = `Replica${region}`;
  const known = table.node.tryFindChild(id) as dynamodb.ITableV2 | undefined;
  if (known !== undefined) return known;
  const components = Stack.of(table).splitArn(table.tableArn, ArnFormat.SLASH_RESOURCE_NAME);
  return dynamodb.TableV2.fromTableArn(table, id, Arn.format({ ...components, region }));
}
