import { type Lookup, scalarText } from '../../../lib/cloudformation/intrinsics';
import { references } from '../../../lib/cloudformation/references';
import { functionReference } from '../functions/function-reference';
import { type FilterPattern, filterPattern } from './filter-pattern';
import { type Declared, LeftOutReason, required } from './left-out';
import { constructPath } from './local-names';
import { integerOf, type LocalResource } from './local-resource';

/** An event source mapping of a Kinesis stream. */
export interface LocalEventSource {
  /** The construct path of the mapping. */
  readonly path: string;
  readonly functionName: string;
  /** The version or the alias of the invoked function. Absent if the mapping does not name one. */
  readonly qualifier?: string;
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

/** The default batch size of Lambda, and the bounds of the settings. Source: the API reference, CreateEventSourceMapping. */
const DEFAULT_BATCH_SIZE = 100;
const BATCH_SIZE = [1, 10_000] as const;
const WINDOW_SECONDS = [0, 300] as const;
const PARALLELIZATION_FACTOR = [1, 10] as const;
const RETRIES = [-1, 10_000] as const;
const AGE_SECONDS = [-1, 604_800] as const;
/** In a template, this value means no limit. */
const UNBOUNDED = -1;

/** Leaves out a mapping of another source than a stream of this run, or of a function that does not run. */
export function plannedEventSource(
  declared: Declared,
  streams: readonly LocalResource[],
  functions: readonly LocalResource[],
): LocalEventSource {
  const lookups = lookupsOf(declared);
  const textOf = (property: string) => scalarText(required(lookups[property] ?? { value: '' }, property)) ?? '';
  // With enhanced fan-out, the source is a consumer of the stream. A local run polls the stream itself.
  const streamArn = textOf('EventSourceArn').replace(/\/consumer\/.*/, '');
  if (streamArn.includes(':dynamodb:'))
    throw new LeftOutReason('it reads the stream of a table, which has no emulator');
  const streamName = /^arn:aws:kinesis:[^:]*:\d{12}:stream\/([^/]+)$/.exec(streamArn)?.[1];
  if (streamName === undefined)
    throw new LeftOutReason(`it reads ${streamArn || 'no stream'}, which is not a Kinesis stream`);
  const invoked = functionReference(textOf('FunctionName'));
  if (invoked === undefined) throw new LeftOutReason('it has no function');
  const values = valuesOf(lookups);
  if (String(values.Enabled) === 'false') throw new LeftOutReason('it is disabled');
  const filters = filtersOf(values.FilterCriteria);
  if (!streams.some(({ name }) => name === streamName)) {
    throw new LeftOutReason(`the stream ${streamName} does not run here`);
  }
  if (!functions.some(({ name }) => name === invoked.name)) {
    throw new LeftOutReason(`the function ${invoked.name} does not run here`);
  }
  const setting = (property: string, fallback: number, bounds: readonly [number, number]) =>
    integerOf(property, values[property] ?? fallback, bounds);
  const retries = setting('MaximumRetryAttempts', UNBOUNDED, RETRIES);
  const ageSeconds = setting('MaximumRecordAgeInSeconds', UNBOUNDED, AGE_SECONDS);
  return {
    ...{ functionName: invoked.name, ...(invoked.qualifier !== undefined && { qualifier: invoked.qualifier }) },
    ...{ path: declared.path, streamName, streamArn, filters },
    from: startOf(values),
    batchSize: setting('BatchSize', DEFAULT_BATCH_SIZE, BATCH_SIZE),
    windowMs: 1_000 * setting('MaximumBatchingWindowInSeconds', 0, WINDOW_SECONDS),
    parallelizationFactor: setting('ParallelizationFactor', 1, PARALLELIZATION_FACTOR),
    reportsFailures: [values.FunctionResponseTypes].flat().includes('ReportBatchItemFailures'),
    bisects: String(values.BisectBatchOnFunctionError) === 'true',
    ...(retries !== UNBOUNDED && { retries }),
    ...onFailureOf(declared, lookups.DestinationConfig),
    ...(ageSeconds !== UNBOUNDED && { maxAgeMs: 1_000 * ageSeconds }),
  };
}

/** The schedules of a rule that invoke one of these functions. Leaves out a rule without such a schedule. */
export function plannedSchedules(declared: Declared, functions: readonly LocalResource[]): LocalSchedule[] {
  const { ScheduleExpression, State, Targets } = valuesOf(lookupsOf(declared));
  const everyMs = rateMs(scalarText(ScheduleExpression));
  if (everyMs === undefined) throw new LeftOutReason('it has no fixed rate');
  if (State === 'DISABLED') throw new LeftOutReason('it is disabled');
  const schedules = [Targets].flat().flatMap((target): LocalSchedule[] => {
    const { Arn, Input } = Object(target);
    const { name: functionName = '', qualifier } = functionReference(scalarText(Arn) ?? '') ?? {};
    if (!functions.some(({ name }) => name === functionName)) return [];
    return [{ path: declared.path, functionName, qualifier, everyMs, input: scalarText(Input) ?? '{}' }];
  });
  if (schedules.length > 0) return schedules;
  throw new LeftOutReason('it invokes no function that reads a stream here');
}

function lookupsOf({ scope, logicalId }: Declared): Record<string, Lookup> {
  return Object.fromEntries(required(scope.entries(logicalId)));
}

/** Returns the resolved values, and leaves out lookups that have no value. */
function valuesOf(lookups: Record<string, Lookup>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(lookups).flatMap(([name, lookup]) => ('value' in lookup ? [[name, lookup.value]] : [])),
  );
}

const UNIT_MS: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

function rateMs(expression = ''): number | undefined {
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  return unit === undefined ? undefined : Number(count) * UNIT_MS[unit]!;
}

/**
 * The name of the on-failure destination. A local run only prints the name, because queues, topics and buckets have no
 * emulator.
 */
function onFailureOf({ scope, logicalId }: Declared, lookup?: Lookup): Pick<LocalEventSource, 'onFailure'> {
  const config = lookup !== undefined && 'value' in lookup ? lookup.value : scope.declared(logicalId).DestinationConfig;
  const destination = Object(Object(config).OnFailure).Destination;
  if (destination === undefined) return {};
  const [resource] = references(destination, scope);
  const name = resource === undefined ? scalarText(destination) : constructPath(resource.scope, resource.logicalId);
  return { onFailure: name ?? 'the on-failure destination' };
}

function startOf({ StartingPosition, StartingPositionTimestamp }: Record<string, unknown>): LocalEventSource['from'] {
  if (StartingPosition === 'AT_TIMESTAMP') return new Date(1_000 * Number(StartingPositionTimestamp));
  return StartingPosition === 'LATEST' ? 'LATEST' : 'TRIM_HORIZON';
}

/** Leaves out a mapping with a pattern that Lambda rejects, or that is not supported here. */
function filtersOf(criteria: unknown): FilterPattern[] {
  return (Object(criteria).Filters ?? []).map(({ Pattern }: { Pattern: unknown }) => {
    const pattern = filterPattern(scalarText(Pattern) ?? '');
    if ('reason' in pattern) throw new LeftOutReason(`its filter has ${pattern.reason}`);
    return pattern.value;
  });
}
