import { resolveKnown, scalarText } from '../../../lib/cloudformation/intrinsics';
import { references } from '../../../lib/cloudformation/references';
import { type FunctionReference, functionReference } from '../functions/function-reference';
import { versionOf } from '../functions/lambda-environment';
import { type FilterPattern, filterPattern } from './filter-pattern';
import { honouredProperties } from './ignored-properties';
import { type Declared, type LeftOut, LeftOutReason, leftOutFor, required } from './left-out';
import { constructPath, type LocalScope } from './local-names';
import { integerOf, type LocalResource } from './local-resource';
import type { LocalFunction } from './planned-function';
import type { LocalTable } from './planned-table';

/** An event source mapping of a Kinesis stream, or of the stream of a table. */
export interface LocalEventSource {
  /** The construct path of the mapping. */
  readonly path: string;
  readonly functionName: string;
  /** The version or the alias of the invoked function. Absent if the mapping does not name one. */
  readonly qualifier?: string;
  readonly reads: 'stream' | 'table';
  /** The name of the Kinesis stream, or the name of the table. */
  readonly streamName: string;
  readonly streamArn: string;
  readonly from: 'LATEST' | 'TRIM_HORIZON' | Date;
  readonly batchSize: number;
  readonly windowMs: number;
  readonly parallelizationFactor: number;
  readonly reportsFailures: boolean;
  readonly bisects: boolean;
  /** The maximum number of times that a batch is delivered again. Absent if there is no limit. */
  readonly retries?: number;
  /** The maximum age of a record. Absent if there is no limit. */
  readonly maxAgeMs?: number;
  /** The on-failure destination, as a construct path or an ARN. Absent if the mapping has no destination. */
  readonly onFailure?: string;
  /** Only records that match at least one filter are delivered. Without filters, every record is delivered. */
  readonly filters: readonly FilterPattern[];
}

/** A rule that invokes a function at a fixed rate. */
export interface LocalSchedule {
  readonly path: string;
  readonly functionName: string;
  /** The version or the alias of the invoked function. Absent if the rule does not name one. */
  readonly qualifier?: string | undefined;
  readonly everyMs: number;
  /** The event of the function, as JSON. */
  readonly input: string;
}

const SOURCE_ARN = /^arn:aws:(?:kinesis|dynamodb):[^:]*:\d{12}:(stream|table)\/([^/]+)(?:\/stream\/.*)?$/;

/** In a template, this value means no limit. */
const UNBOUNDED = -1;

/** The default and the bounds of each setting. Source: the API reference, CreateEventSourceMapping. */
const SETTINGS = {
  BatchSize: [100, 1, 10_000],
  MaximumBatchingWindowInSeconds: [0, 0, 300],
  MaximumRecordAgeInSeconds: [UNBOUNDED, -1, 604_800],
  MaximumRetryAttempts: [UNBOUNDED, -1, 10_000],
  ParallelizationFactor: [1, 1, 10],
} as const;

/** Leaves out a mapping of another source than a stream or a table of this run, or of a function that does not run. */
export function plannedEventSource(
  declared: Declared,
  streams: readonly LocalResource[],
  tables: readonly LocalTable[],
  functions: readonly Invocable[],
): LocalEventSource {
  const { scope, logicalId, path } = declared;
  const { EventSourceArn, DestinationConfig } = scope.declared(logicalId);
  refuseOtherSource(EventSourceArn, scope);
  const values = honouredProperties(declared);
  // With enhanced fan-out, the source is a consumer of the stream. A local run polls the stream itself.
  const streamArn = (scalarText(values.EventSourceArn) ?? '').replace(/\/consumer\/.*/, '');
  const [, reads, streamName] = SOURCE_ARN.exec(streamArn) ?? [];
  if (streamName === undefined) {
    throw new LeftOutReason(
      `it reads ${streamArn || 'no stream'}, which is neither a Kinesis stream nor the stream of a table`,
    );
  }
  const invoked = functionReference(scalarText(values.FunctionName) ?? '');
  if (invoked === undefined) throw new LeftOutReason('it has no function');
  if (String(values.Enabled) === 'false') throw new LeftOutReason('it is disabled');
  const filters = filtersOf(values.FilterCriteria);
  if (!(reads === 'stream' ? streams : tables).some(({ name }) => name === streamName)) {
    throw new LeftOutReason(`the ${reads} ${streamName} does not run here`);
  }
  const hasNoStream = ({ name, definition }: LocalTable) => name === streamName && !definition.StreamSpecification;
  if (reads === 'table' && tables.some(hasNoStream)) throw new LeftOutReason(`the table ${streamName} has no stream`);
  const missing = missingFunction(invoked, functions);
  if (missing !== undefined) throw new LeftOutReason(missing);
  const setting = (property: keyof typeof SETTINGS) => {
    const [fallback, ...bounds] = SETTINGS[property];
    return integerOf(property, values[property] ?? fallback, bounds);
  };
  const retries = setting('MaximumRetryAttempts');
  const ageSeconds = setting('MaximumRecordAgeInSeconds');
  return {
    functionName: invoked.name,
    ...(invoked.qualifier !== undefined && { qualifier: invoked.qualifier }),
    path,
    reads: reads as 'stream' | 'table',
    streamName,
    streamArn,
    filters,
    from: startOf(values, reads!),
    batchSize: setting('BatchSize'),
    windowMs: 1_000 * setting('MaximumBatchingWindowInSeconds'),
    parallelizationFactor: setting('ParallelizationFactor'),
    reportsFailures: [values.FunctionResponseTypes].flat().includes('ReportBatchItemFailures'),
    bisects: String(values.BisectBatchOnFunctionError) === 'true',
    ...(retries !== UNBOUNDED && { retries }),
    ...onFailureOf(DestinationConfig, scope),
    ...(ageSeconds !== UNBOUNDED && { maxAgeMs: 1_000 * ageSeconds }),
  };
}

type Invocable = Pick<LocalFunction, 'name' | 'qualifiers'>;

/** The reason why a function, or its alias, does not run here. */
function missingFunction({ name, qualifier }: FunctionReference, functions: readonly Invocable[]): string | undefined {
  const found = functions.find((each) => each.name === name);
  if (found === undefined) return `the function ${name} does not run here`;
  return versionOf(found, qualifier) === undefined
    ? `the function ${name} has no alias or version ${qualifier} here`
    : undefined;
}

/** Leaves out a mapping whose source is a resource of the app, but neither a Kinesis stream nor a table. */
function refuseOtherSource(source: unknown, scope: LocalScope): void {
  for (const target of references(source, scope)) {
    const type = target.scope.typeOf(target.logicalId)!;
    if (/^AWS::(Kinesis|DynamoDB)::/.test(type)) return;
    const what = type === 'AWS::SQS::Queue' ? 'a queue' : `an ${type}`;
    throw new LeftOutReason(
      `it reads ${what} (${constructPath(target.scope, target.logicalId)}), which has no emulator`,
    );
  }
}

/**
 * The schedules of a rule that invoke one of these functions. Leaves out a rule without such a schedule, and adds the
 * other targets of a rule with a schedule to the list.
 */
export function plannedSchedules(
  declared: Declared,
  functions: readonly Invocable[],
  leftOut: LeftOut[],
): LocalSchedule[] {
  const { scope, logicalId, path } = declared;
  const { EventPattern } = scope.declared(logicalId);
  if (EventPattern !== undefined) {
    throw new LeftOutReason('it matches events of an event bus, which has no emulator');
  }
  const { ScheduleExpression, State } = required(
    scope.properties(logicalId, { ScheduleExpression: true, State: true }),
  );
  const everyMs = rateMs(scalarText(ScheduleExpression));
  if (everyMs === undefined) throw new LeftOutReason(`its schedule ${scalarText(ScheduleExpression)} is not a rate`);
  if (State === 'DISABLED') throw new LeftOutReason('it is disabled');
  const targets = required(scope.entries(logicalId, 'Targets')).map(([index]): LocalSchedule | LeftOut => {
    const { Arn, Input } = Object.fromEntries(required(scope.entries(logicalId, 'Targets', index)));
    const arn = Arn !== undefined && 'value' in Arn ? scalarText(Arn.value) : undefined;
    const { name: functionName = '', qualifier } = functionReference(arn ?? '') ?? {};
    const other = (reason: string) => leftOutFor({ ...declared, path: `${path}/Targets[${index}]` }, reason);
    if (!functions.some(({ name }) => name === functionName)) {
      return other('it is not a function that reads a stream here');
    }
    const missing = missingFunction({ name: functionName, ...(qualifier !== undefined && { qualifier }) }, functions);
    if (missing !== undefined) return other(missing);
    if (Input !== undefined && 'reason' in Input) return other(`Input is unknown: ${Input.reason}`);
    return { path, functionName, qualifier, everyMs, input: scalarText(Input?.value) ?? '{}' };
  });
  const schedules = targets.filter((target) => 'everyMs' in target);
  if (schedules.length === 0) throw new LeftOutReason('it invokes no function that reads a stream here');
  leftOut.push(...targets.filter((target) => 'reason' in target));
  return schedules;
}

const UNIT_MS: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

function rateMs(expression = ''): number | undefined {
  const [, count, unit] = /^rate\(([1-9]\d*) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  return unit === undefined ? undefined : Number(count) * UNIT_MS[unit]!;
}

/**
 * The name of the on-failure destination. A local run only prints the name, because queues, topics and buckets have no
 * emulator.
 */
function onFailureOf(config: unknown, scope: LocalScope): Pick<LocalEventSource, 'onFailure'> {
  const known = resolveKnown(config, scope);
  const [resource] = references(config, scope);
  const destination = Object(Object(known).OnFailure).Destination;
  if (destination === undefined && resource === undefined) return {};
  const name = resource === undefined ? scalarText(destination) : constructPath(resource.scope, resource.logicalId);
  return { onFailure: name ?? 'the on-failure destination' };
}

/** Leaves out a mapping with a starting position that Lambda rejects. */
function startOf(
  { StartingPosition: start, StartingPositionTimestamp: seconds }: Record<string, unknown>,
  reads: string,
): LocalEventSource['from'] {
  if (start === 'LATEST' || start === 'TRIM_HORIZON') return start;
  const time = new Date(1_000 * Number(seconds));
  if (start === 'AT_TIMESTAMP' && reads === 'stream' && time.getTime() <= Date.now()) return time;
  const allowed = `LATEST${reads === 'stream' ? ', TRIM_HORIZON, or AT_TIMESTAMP with a time in the past' : ' or TRIM_HORIZON'}`;
  throw new LeftOutReason(`StartingPosition must be ${allowed}, got ${scalarText(start)}`);
}

/** Leaves out a mapping with a pattern that Lambda rejects, or that is not supported here. */
function filtersOf(criteria: unknown): FilterPattern[] {
  return (Object(criteria).Filters ?? []).map(({ Pattern }: { Pattern: unknown }) => {
    const pattern = filterPattern(scalarText(Pattern) ?? '');
    if ('reason' in pattern) throw new LeftOutReason(`its filter has ${pattern.reason}`);
    return pattern.value;
  });
}
