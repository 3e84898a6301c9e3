import type { IResource } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import type { AlarmTable } from './alarm-definition';
import type { Rows } from './graphs';

/** How one kind of thing is watched. `ShardMonitoring` has one method for each kind. */
export interface Watch<Thing, Options, Alarms> {
  /** The method of `ShardMonitoring`, which errors name. */
  readonly method: string;

  /** What the resource is, for errors, such as "a stream". */
  readonly kind: string;

  /**
   * Whether the dashboard shows the metrics of a resource of another account or region. No alarm can have them.
   *
   * @default false
   */
  readonly dashboardSeesFar?: boolean;

  /** The resource whose path names the alarms, and whose account and region have the metrics. */
  resource(thing: Thing): IConstruct & Pick<IResource, 'env'>;

  /** The part of the resource that is watched, such as one of its indexes. */
  part?(thing: Thing): string;

  /** The heading of its rows of the dashboard. */
  title(thing: Thing): string;

  /**
   * Its alarms, those that the options switch off included.
   *
   * @throws InvalidArgumentError with the code `INVALID_ARGUMENT` for a threshold out of bounds
   */
  alarms(monitoring: IConstruct, thing: Thing, options: Options): AlarmTable<Alarms>;

  /** Its rows of the dashboard. */
  widgets(thing: Thing, alarms: Alarms, options: Options): Rows;
}
