import type * as cassandra from 'aws-cdk-lib/aws-cassandra';
import type { KeyspacesCapacity } from './keyspaces-capacity';

/** Capacity that is paid for whether it is used or not. */
export interface KeyspacesProvisionedThroughput {
  /** Read capacity units a second. */
  readonly readCapacity: KeyspacesCapacity;

  /** Write capacity units a second. */
  readonly writeCapacity: KeyspacesCapacity;
}

/** How a table is billed. */
export class KeyspacesBilling {
  /** By what is read and written. */
  public static onDemand(): KeyspacesBilling {
    return new KeyspacesBilling({ billingMode: { mode: 'ON_DEMAND' } });
  }

  /**
   * By capacity, fixed or auto-scaled.
   *
   * @param throughput the capacity to read and to write
   */
  public static provisioned(throughput: KeyspacesProvisionedThroughput): KeyspacesBilling {
    const { readCapacity, writeCapacity } = throughput;
    const provisionedThroughput = {
      readCapacityUnits: readCapacity._units,
      writeCapacityUnits: writeCapacity._units,
    };
    const scaling = {
      ...(readCapacity._autoScaling && { readCapacityAutoScaling: readCapacity._autoScaling }),
      ...(writeCapacity._autoScaling && { writeCapacityAutoScaling: writeCapacity._autoScaling }),
    };
    return new KeyspacesBilling({
      billingMode: { mode: 'PROVISIONED', provisionedThroughput },
      ...(Object.keys(scaling).length > 0 && { autoScalingSpecifications: scaling }),
    });
  }

  /** @internal */
  public readonly _props: Pick<cassandra.CfnTableProps, 'billingMode' | 'autoScalingSpecifications'>;

  private constructor(props: Pick<cassandra.CfnTableProps, 'billingMode' | 'autoScalingSpecifications'>) {
    this._props = props;
  }
}
