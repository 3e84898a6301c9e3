import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { withDefaults } from '../../construct/blueprint';
import { recoveryUnlessChosen } from '../../construct/point-in-time-recovery';
import { protectWhileRetained } from '../../construct/protect-while-retained';
import { COUNT_TABLE_EXPIRY, COUNT_TABLE_INDEX, COUNT_TABLE_VALUE } from '../../core/adaptive-counts/shard-count-table';

/** How a table of counts is kept: as the table whose indexes it is for. */
export type KeepOptions = Pick<dynamodb.TablePropsV2, 'encryption' | 'removalPolicy' | 'deletionProtection'>;

/** Adds the table that holds how far the values of the adaptive indexes of a table have grown. */
export function addShardCountTable(scope: Construct, keep: KeepOptions): dynamodb.TableV2 {
  const table = new dynamodb.TableV2(
    scope,
    'ShardCounts',
    withDefaults<dynamodb.TablePropsV2>(
      scope,
      dynamodb.TableV2.PROPERTY_INJECTION_ID,
      {
        partitionKey: { name: COUNT_TABLE_INDEX, type: dynamodb.AttributeType.STRING },
        sortKey: { name: COUNT_TABLE_VALUE, type: dynamodb.AttributeType.STRING },
        // Only reports of throttled writes have it.
        timeToLiveAttribute: COUNT_TABLE_EXPIRY,
        ...keep,
      },
      recoveryUnlessChosen,
    ),
  );
  if (keep.deletionProtection === undefined) protectWhileRetained(table);
  return table;
}
