import type { TableDescription } from '@aws-sdk/client-dynamodb';
import { listOf, type Properties } from '../../lib/cloudformation/template';
import type { ThrottledOperation } from '../../lib/core/aws-client/throttle-causes';
import type { Throughput } from './observations';

interface Scaling {
  readonly writes: number | undefined;
  readonly reads: number | undefined;
}

/** The maximum capacity of auto scaling in the template. Each replica has a separate maximum for reads. */
export function scalingOf(properties: Properties, indexName?: string): Scaling {
  const own = (of: Properties): Properties[] =>
    indexName === undefined
      ? [of]
      : listOf<Properties>(of.GlobalSecondaryIndexes).filter(({ IndexName }) => IndexName === indexName);
  const most = (all: readonly Properties[], operation: ThrottledOperation) => {
    const capacities = all.map((each) => {
      const { [`${operation}CapacityAutoScalingSettings`]: settings } = Object(
        each[`${operation}ProvisionedThroughputSettings`],
      );
      return Object(settings).MaxCapacity as unknown;
    });
    const numbers = capacities.filter((capacity) => typeof capacity === 'number');
    return numbers.length === 0 ? undefined : Math.max(...numbers);
  };
  return {
    writes: most(own(properties), 'Write'),
    reads: most(listOf<Properties>(properties.Replicas).flatMap(own), 'Read'),
  };
}

/** Adds the capacity limits that the user has set. DynamoDB describes the limits of tables and indexes in the same form. */
export function withLimits(
  { writes, reads, ...measured }: Throughput,
  described: Pick<TableDescription, 'ProvisionedThroughput' | 'OnDemandThroughput'> | undefined,
  scaling: Scaling,
): Throughput {
  const { ReadCapacityUnits, WriteCapacityUnits } = described?.ProvisionedThroughput ?? {};
  const { MaxReadRequestUnits, MaxWriteRequestUnits } = described?.OnDemandThroughput ?? {};
  const limits = (provisioned = 0, maximum = 0, scalesTo: number | undefined) => ({
    // An on-demand table has no provisioned units. If the user sets no maximum, DynamoDB reports -1.
    ...(provisioned > 0 && { provisioned, ...(scalesTo !== undefined && { scalesTo }) }),
    ...(maximum > 0 && { maximum }),
  });
  return {
    ...measured,
    writes: { ...writes, ...limits(WriteCapacityUnits, MaxWriteRequestUnits, scaling.writes) },
    reads: { ...reads, ...limits(ReadCapacityUnits, MaxReadRequestUnits, scaling.reads) },
  };
}
