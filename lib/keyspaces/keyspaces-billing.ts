import { Token } from 'aws-cdk-lib';
import type * as cassandra from 'aws-cdk-lib/aws-cassandra';
import { Props } from '../construct/props';

/** Provisioned capacity. AWS charges for this capacity even if no request uses it. */
export interface KeyspacesProvisionedThroughput {
  /** Read capacity units a second. */
  readonly readCapacity: KeyspacesCapacity;

  /** Write capacity units a second. */
  readonly writeCapacity: KeyspacesCapacity;
}

/** The billing mode of a table. */
export class KeyspacesBilling {
  /** AWS charges for the consumed read and write units. */
  public static onDemand(): KeyspacesBilling {
    return new KeyspacesBilling({ billingMode: { mode: 'ON_DEMAND' } });
  }

  /**
   * AWS charges for provisioned capacity, which is fixed or auto-scaled.
   *
   * @param throughput the read and write capacity
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

/** Options of `KeyspacesCapacity.autoscaled`. */
export interface KeyspacesAutoscaledCapacityOptions {
  /**
   * The minimum number of capacity units a second.
   *
   * @default 1
   */
  readonly minCapacity?: number;

  /** The maximum number of capacity units a second. */
  readonly maxCapacity: number;

  /**
   * The target utilization of the capacity, in percent, 20 to 90.
   *
   * @default 70
   */
  readonly targetUtilizationPercent?: number;
}

/** Source: the CloudFormation reference, AWS::Cassandra::Table TargetTrackingScalingPolicyConfiguration. */
const UTILIZATION_PERCENT = { min: 20, max: 90 };

/** The read or write capacity of a table with provisioned billing. */
export class KeyspacesCapacity {
  /**
   * A constant capacity.
   *
   * @param capacityUnits capacity units a second
   * @throws an error with the code `INVALID_ARGUMENT` if `capacityUnits` is not an integer of at least 1
   */
  public static constant(capacityUnits: number): KeyspacesCapacity {
    const props = Props.named('', { capacityUnits });
    return new KeyspacesCapacity(props.whole('capacityUnits', { min: 1 }), undefined);
  }

  /**
   * A capacity that Application Auto Scaling keeps in proportion to the traffic, starting at the minimum.
   *
   * @param options the bounds and the target utilization
   * @throws an error with the code `INVALID_ARGUMENT` for a bound that is not an integer of at least 1, a minimum above
   *   the maximum, or a utilization outside 20 to 90 percent
   */
  public static autoscaled(options: KeyspacesAutoscaledCapacityOptions): KeyspacesCapacity {
    const props = Props.named('', options, { minCapacity: 1, targetUtilizationPercent: 70 });
    const minCapacity = props.whole('minCapacity', { min: 1 });
    const maxCapacity = props.whole('maxCapacity', { min: 1 });
    const targetValue = props.number('targetUtilizationPercent', UTILIZATION_PERCENT);
    if (![minCapacity, maxCapacity].some(Token.isUnresolved) && minCapacity > maxCapacity) {
      throw props.refusal('minCapacity', minCapacity, `at most maxCapacity (${maxCapacity})`);
    }
    return new KeyspacesCapacity(minCapacity, {
      minimumUnits: minCapacity,
      maximumUnits: maxCapacity,
      scalingPolicy: { targetTrackingScalingPolicyConfiguration: { targetValue } },
    });
  }

  /** @internal */
  public readonly _units: number;
  /** @internal */
  public readonly _autoScaling: cassandra.CfnTable.AutoScalingSettingProperty | undefined;

  private constructor(units: number, autoScaling: cassandra.CfnTable.AutoScalingSettingProperty | undefined) {
    this._units = units;
    this._autoScaling = autoScaling;
  }
}
