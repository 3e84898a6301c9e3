import type { IResource } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import type { AlarmTable } from './alarm-definition';
import type { Rows } from './graphs';

/** How `ShardMonitoring` watches one kind of resource. Each kind has one method of `ShardMonitoring`. */
export interface Watch<Watched, Options, Alarms> {
  /** The method of `ShardMonitoring`, for error messages. */
  readonly method: string;

  /** The kind of the resource, for error messages, such as "a stream". */
  readonly kind: string;

  /**
   * Whether the dashboard can show the metrics of a resource in another account or region. Alarms can never use such
   * metrics.
   *
   * @default false
   */
  readonly dashboardShowsOtherRegions?: boolean;

  /**
   * The resource. The names of its alarms contain its construct path, and CloudWatch stores its metrics in its account and
   * region.
   */
  resource(watched: Watched): IConstruct & Pick<IResource, 'env'>;

  /** The watched part of the resource, such as one of its indexes. */
  part?(watched: Watched): string;

  /** The heading of the section on the dashboard. */
  title(watched: Watched): string;

  /**
   * The alarms, including alarms that the options switch off.
   *
   * @throws InvalidArgumentError with the code `INVALID_ARGUMENT` if a threshold is out of bounds
   */
  alarms(monitoring: IConstruct, watched: Watched, options: Options): AlarmTable<Alarms>;

  /** The rows of graphs on the dashboard. */
  widgets(watched: Watched, alarms: Alarms, options: Options): Rows;
}
