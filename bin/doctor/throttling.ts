import { THROTTLE_CAUSES, type ThrottleCause } from '../../lib/core/aws-client/throttle-causes';
import { SERVICE_LIMITS } from '../../lib/core/planning/service-limits';
import { PARTITION_WRITE_UNITS } from '../../lib/core/planning/suffix-range';
import { counted } from '../plain-text';
import type { FindingId } from './findings';
import type { Throughput, Traffic } from './observations';

/** The table or the index that throttles requests. */
interface Throttler {
  readonly kind: 'index' | 'table';
  /** How many shards a page reads. Absent for a table that is not sharded by its own key. */
  readonly shardsRead?: number;
}

type Operation = 'read' | 'write';

/** The ids of throttled requests. */
type ThrottlingId = Extract<
  FindingId,
  | 'hotPartition'
  | 'hotReads'
  | 'provisionedCapacity'
  | 'onDemandMaximum'
  | 'accountLimit'
  | 'unknownCause'
  | 'tooFewShards'
>;

/** The cause of throttles, and the change that prevents the throttles. */
interface Advice {
  readonly id: ThrottlingId;
  readonly what: string;
  readonly change: string;
}

/** The advice for a throttled operation, with the number of throttled requests. */
export interface Throttling extends Advice {
  readonly operation: Operation;
  readonly cause: ThrottleCause | 'unknown';
  readonly events: number;
}

/** The facts on which the advice depends. */
interface Case extends Throttler, Traffic {
  readonly operation: Operation;
}

/** Advice for limits that do not depend on the number of shards. */
const NO_SHARDS = 'More shards do not help';

/**
 * In the newest minutes, the metric of all throttles can differ from the sum of the causes. A difference below this share of all
 * throttles is not reported as an unknown cause.
 */
const LATE = 0.1;

/** Why requests to a table or an index were throttled, with the most frequent cause first, and the advice for each cause. */
export function throttlingsOf(throttler: Throttler, { writes, reads }: Throughput): Throttling[] {
  const cases: Case[] = [
    { ...throttler, ...writes, operation: 'write' },
    { ...throttler, ...reads, operation: 'read' },
  ];
  return cases.flatMap(throttlingsOfOperation).sort((one, other) => other.events - one.events);
}

function throttlingsOfOperation(of: Case): Throttling[] {
  const causes = Object.entries(of.byCause) as [ThrottleCause, number][];
  const unexplained = of.throttled - causes.reduce((sum, [, events]) => sum + events, 0);
  const found: [Throttling['cause'], number][] = [...causes];
  if (unexplained > of.throttled * LATE) found.push(['unknown', unexplained]);
  return found
    .filter(([, events]) => events > 0)
    .map(([cause, events]) => {
      const { id, what, change } = ADVICE[cause](of);
      const { operation } = of;
      const throttled = `${counted(events, operation)} ${events === 1 ? 'was' : 'were'} throttled`;
      return { id, operation, cause, events, what: `${throttled}: ${what}`, change };
    });
}

const ADVICE: Readonly<Record<Throttling['cause'], (of: Case) => Advice>> = {
  keyRange: (of) => (of.operation === 'write' ? hotPartition(of) : hotReads(of)),
  provisioned: provisionedCapacity,
  onDemandMaximum,
  accountLimit,
  unknown: unknownCause,
};

function hotPartition(of: Case): Advice {
  return {
    id: 'hotPartition',
    what: `a partition of ${nounOf(of)} gets more than ${units(PARTITION_WRITE_UNITS)} write units a second`,
    change:
      'find the keys in the Contributor Insights of the table. A key that is too busy needs a partition key that spreads its ' +
      'writes, such as that of a KeyShardedTable: the shards of an index do not help its table. If many keys share the partition, ' +
      'DynamoDB splits it; set warmThroughput before a sudden load',
  };
}

function hotReads(of: Case): Advice {
  const isConsistent = of.kind === 'index' ? '' : ', read without consistentRead';
  const what = `a partition of ${nounOf(of)} gets more than ${units(SERVICE_LIMITS.partitionReads.value)} read units a second`;
  const change = `set a smaller limit for pages${isConsistent}, or cache the responses`;
  if (isUnsharded(of))
    return { id: 'hotReads', what, change: `${change} in the application or with DAX. ${NO_SHARDS} small pages` };
  const caches = ' with the cache of a FanOutQueryFunction, cachedQueryClient, or a DaxCluster';
  const shards = '. More shards help only with large pages, because each small page reads every shard';
  return { id: 'hotReads', what, change: change + caches + shards };
}

function provisionedCapacity(of: Case): Advice {
  const { operation, provisioned, scalesTo = 0 } = of;
  const id = 'provisionedCapacity';
  if (provisioned === undefined) return limitIsGone(id, `the provisioned ${operation} capacity`, of);
  const wanted = twice(of, provisioned);
  // Auto scaling takes minutes. If its maximum is enough, the minimum must increase, so that the capacity exists before the load.
  const bounds = wanted <= scalesTo ? `minCapacity: ${wanted}, maxCapacity: ${scalesTo}` : `maxCapacity: ${wanted}`;
  const capacity = `Capacity.autoscaled({ ${bounds} })`;
  const option =
    of.kind === 'index'
      ? `${operation}Capacity of ${isUnsharded(of) ? 'the index' : 'addShardedIndex'} to ${capacity}`
      : `billing of the table to Billing.provisioned({ ${operation}Capacity: ${capacity}, ... })`;
  const limit =
    scalesTo > provisioned ? `, now ${units(provisioned)} and at most ${units(scalesTo)}` : `, ${units(provisioned)}`;
  return {
    id,
    what: `the provisioned ${operation} capacity of ${nounOf(of)}${limit} units a second, is used up${backPressure(of)}`,
    change: `set ${option}, or bill the table on demand: Billing.onDemand(). ${sharding(of)}${quota(of, wanted)}`,
  };
}

function onDemandMaximum(of: Case): Advice {
  const { operation, maximum } = of;
  const id = 'onDemandMaximum';
  const name = operation === 'write' ? 'maxWriteRequestUnits' : 'maxReadRequestUnits';
  if (maximum === undefined) return limitIsGone(id, name, of);
  const wanted = twice(of, maximum);
  const option =
    of.kind === 'index'
      ? `${name} of ${isUnsharded(of) ? 'the index' : 'addShardedIndex'} to ${wanted}`
      : `billing of the table to Billing.onDemand({ ${name}: ${wanted} })`;
  return {
    id,
    what: `${nounOf(of)} has reached its ${name} of ${units(maximum)}${backPressure(of)}`,
    change: `the maximum limits the bill, so check first whether the load is intended. If it is, set ${option}, or leave ${name} out. ${sharding(of)}${quota(of, wanted)}`,
  };
}

/** Advice if the billing mode or the maximum of the table has changed since the throttles. */
function limitIsGone(id: ThrottlingId, limit: string, of: Case): Advice {
  return {
    id,
    what: `${limit} of ${nounOf(of)} was used up, and DynamoDB reports no such limit now`,
    change: `run doctor with smaller --hours, to see whether requests were throttled since then. ${NO_SHARDS}`,
  };
}

function accountLimit(of: Case): Advice {
  const less =
    of.operation === 'write'
      ? 'write less until then: a smaller projectionType of indexes, a slower backfill'
      : 'read less until then: smaller pages, a cache';
  return {
    id: 'accountLimit',
    what: `the table and its indexes together reach the quota of the account for one table${backPressure(of)}`,
    change: `request an increase of the quota ${QUOTAS[of.operation]} in Service Quotas, which takes a day or two, and ${less}. ${sharding(of)}`,
  };
}

function unknownCause(of: Case): Advice {
  const metric = of.operation === 'write' ? 'WriteThrottleEvents' : 'ReadThrottleEvents';
  return {
    id: 'unknownCause',
    what: `${metric} of ${nounOf(of)} counts them, and no metric names the cause${backPressure(of)}. It can be ${possible(of)}`,
    change:
      `read the cause in the ThrottlingReasons of the exceptions that your ${of.operation}s get, before you change anything: ` +
      `more shards help only against ${THROTTLE_CAUSES.keyRange}Exceeded. A Region may lack the metrics of the causes`,
  };
}

/** The limits that exist in the billing mode. */
function possible({ provisioned, maximum, operation }: Case): string {
  if (provisioned !== undefined) return `a hot partition, or the provisioned ${units(provisioned)} units a second`;
  const quota = `the quota ${QUOTAS[operation]}`;
  if (maximum !== undefined) return `a hot partition, the maximum of ${units(maximum)} units a second, or ${quota}`;
  return `a hot partition, or ${quota}`;
}

/** Source: the DynamoDB developer guide, "Account limits exceeded". */
const QUOTAS = {
  write: 'L-AB614373 (write throughput of a table)',
  read: 'L-CF0CBE56 (read throughput of a table)',
} as const;

/** Whether neither a sharded index nor a KeyShardedTable throttles the requests. */
function isUnsharded({ shardsRead }: Throttler): boolean {
  return shardsRead === undefined;
}

function nounOf({ kind }: Throttler): string {
  return kind === 'index' ? 'the index' : 'the table';
}

/** A write must reach every index, so a throttled index throttles the writes of its table. Reads of an index affect only the index. */
function backPressure({ kind, operation }: Case): string {
  return kind === 'index' && operation === 'write' ? ', and the table throttles these writes with it' : '';
}

/** More shards do not help against a limit of the whole table or index, and cost more read units. */
function sharding({ operation, shardsRead = 0 }: Case): string {
  if (operation === 'write' || shardsRead < 2) return NO_SHARDS;
  return `${NO_SHARDS}: each page reads ${shardsRead} shards, and each shard costs at least half a read unit`;
}

/** Twice the limit: throttles hide how much capacity callers need. */
function twice({ peakUnits = 0 }: Case, limit: number): number {
  return 2 * Math.max(limit, Math.ceil(peakUnits));
}

function quota({ operation }: Case, wanted: number): string {
  const { value } = operation === 'write' ? SERVICE_LIMITS.tableWrites : SERVICE_LIMITS.tableReads;
  return wanted <= value ? '' : `. More than ${units(value)} units a second need a higher quota ${QUOTAS[operation]}`;
}

function units(number: number): string {
  return number.toLocaleString('en');
}
