import { functionReference } from '../functions/function-reference';
import { type FilterPattern, filterPattern } from './filter-pattern';
import { type Lookup, scalarText } from './intrinsics';
import type { StackScope } from './stack-scope';

/** An event source mapping of a Kinesis stream. */
export interface LocalEventSource {
  /** The construct path of the mapping. */
  readonly path: string;
  readonly functionName: string;
  /** The alias of the invoked function. Absent if the mapping does not name an alias. */
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
  readonly everyMs: number;
  /** The event of the function, as JSON. */
  readonly input: string;
}

/** The default batch size of Lambda. Source: the API reference, CreateEventSourceMapping. */
const DEFAULT_BATCH_SIZE = 100;
/** In a template, this value means no limit. */
const UNBOUNDED = -1;

interface Declared {
  readonly scope: StackScope;
  readonly logicalId: string;
}

/** The mapping, or the reason why it cannot run locally. */
export function eventSourceOrReason(declared: Declared): LocalEventSource | string {
  const lookups = lookupsOf(declared);
  const source = sourceArn(declared, lookups.EventSourceArn);
  if ('reason' in source) return source.reason;
  const streamArn = scalarText(source.value) ?? '';
  if (streamArn.includes(':dynamodb:')) return "of a table's stream, which no emulator has here";
  const streamName = /^arn:aws:kinesis:[^:]*:\d{12}:stream\/([^/]+)$/.exec(streamArn)?.[1];
  if (streamName === undefined) return 'of no Kinesis stream';
  const { FunctionName } = lookups;
  if (FunctionName !== undefined && 'reason' in FunctionName) return FunctionName.reason;
  const values = valuesOf(lookups);
  const invoked = functionReference(scalarText(values.FunctionName) ?? '');
  if (invoked === undefined) return 'of no function';
  if (String(values.Enabled) === 'false') return 'disabled';
  const filters = filtersOf(values.FilterCriteria);
  if (typeof filters === 'string') return filters;
  const { MaximumRetryAttempts = UNBOUNDED, MaximumRecordAgeInSeconds = UNBOUNDED } = values;
  const isBounded = (bound: unknown) => Number(bound) !== UNBOUNDED;
  return {
    ...{ functionName: invoked.name, ...(invoked.qualifier !== undefined && { qualifier: invoked.qualifier }) },
    ...{ path: declared.scope.constructPath(declared.logicalId), streamName, streamArn, filters },
    from: startOf(values),
    batchSize: Number(values.BatchSize ?? DEFAULT_BATCH_SIZE),
    windowMs: 1_000 * Number(values.MaximumBatchingWindowInSeconds ?? 0),
    parallelizationFactor: Number(values.ParallelizationFactor ?? 1),
    reportsFailures: [values.FunctionResponseTypes].flat().includes('ReportBatchItemFailures'),
    bisects: String(values.BisectBatchOnFunctionError) === 'true',
    ...(isBounded(MaximumRetryAttempts) && { retries: Number(MaximumRetryAttempts) }),
    ...onFailureOf(declared, lookups.DestinationConfig),
    ...(isBounded(MaximumRecordAgeInSeconds) && { maxAgeMs: 1_000 * Number(MaximumRecordAgeInSeconds) }),
  };
}

/** The schedules that invoke one of these functions at a fixed rate. */
export function schedulesOf(
  declared: Declared,
  functions: readonly { readonly name: string; readonly arn: string }[],
): LocalSchedule[] {
  const { ScheduleExpression, State, Targets } = valuesOf(lookupsOf(declared));
  const everyMs = rateMs(scalarText(ScheduleExpression));
  if (everyMs === undefined || State === 'DISABLED' || !Array.isArray(Targets)) return [];
  const path = declared.scope.constructPath(declared.logicalId);
  return Targets.flatMap((target): LocalSchedule[] => {
    const { Arn, Input } = Object(target);
    const invoked = functions.find(({ arn }) => arn === Arn);
    return invoked === undefined
      ? []
      : [{ path, functionName: invoked.name, everyMs, input: scalarText(Input) ?? '{}' }];
  });
}

function lookupsOf({ scope, logicalId }: Declared): Record<string, Lookup> {
  return Object.fromEntries(scope.entries(logicalId));
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
 * The ARN of the stream. With enhanced fan-out, the source is a consumer of the stream, but a local run polls the
 * stream itself.
 */
function sourceArn({ scope, logicalId }: Declared, lookup: Lookup = { reason: 'without a source' }): Lookup {
  const source = namedBy(scope.declared(logicalId).EventSourceArn);
  if (source === undefined || scope.typeOf(source) !== 'AWS::Kinesis::StreamConsumer') return lookup;
  return lookupsOf({ scope, logicalId: source }).StreamARN ?? lookup;
}

/**
 * The name of the on-failure destination. A local run only prints the name, because queues, topics and buckets have no
 * emulator.
 */
function onFailureOf({ scope, logicalId }: Declared, lookup?: Lookup): Pick<LocalEventSource, 'onFailure'> {
  const config = lookup !== undefined && 'value' in lookup ? lookup.value : scope.declared(logicalId).DestinationConfig;
  const destination = Object(Object(config).OnFailure).Destination;
  if (destination === undefined) return {};
  const resource = namedBy(destination);
  const isOfStack = resource !== undefined && scope.typeOf(resource) !== undefined;
  const name = isOfStack ? scope.constructPath(resource) : scalarText(destination);
  return { onFailure: name ?? 'the on-failure destination' };
}

/** The logical id of the resource that a value refers to. */
function namedBy(value: unknown): string | undefined {
  const { Ref, 'Fn::GetAtt': attribute } = Object(value);
  return Ref ?? (Array.isArray(attribute) ? attribute[0] : undefined);
}

function startOf({ StartingPosition, StartingPositionTimestamp }: Record<string, unknown>): LocalEventSource['from'] {
  if (StartingPosition === 'AT_TIMESTAMP') return new Date(1_000 * Number(StartingPositionTimestamp));
  return StartingPosition === 'LATEST' ? 'LATEST' : 'TRIM_HORIZON';
}

/** The patterns of the filters, or the reason why they are not supported locally. */
function filtersOf(criteria: unknown): FilterPattern[] | string {
  const patterns: FilterPattern[] = [];
  for (const { Pattern } of Object(criteria).Filters ?? []) {
    const pattern = filterPattern(scalarText(Pattern) ?? '');
    if ('reason' in pattern) return `with ${pattern.reason} in its filter`;
    patterns.push(pattern.value);
  }
  return patterns;
}
