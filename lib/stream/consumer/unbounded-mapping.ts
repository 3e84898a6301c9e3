import { Reference, Stack, Tokenization } from 'aws-cdk-lib';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { IConstruct } from 'constructs';
import { constructField } from '../../construct/props';
import { problemsOf } from '../../construct/synthesis-check';
import { templateProperties } from '../../construct/template-properties';
import { LARGEST_RECORD_OF_EVENT_KIB } from '../../core/contract/kinesis-event';
import { InvalidArgumentError } from '../../core/kernel/errors';
import { checkFailureDestination } from '../../function/failure-destination';
import { streamLimit } from '../record-size-limit';
import { streamOfApp } from '../stream-properties';

interface MappingProperties {
  readonly DestinationConfig?: { readonly OnFailure?: { readonly Destination?: unknown } };
  readonly FunctionResponseTypes?: readonly string[];
  readonly [name: string]: unknown;
}

/**
 * Settings that make Lambda skip a record and deliver later records of its key, or that hide records of an aggregate.
 * Each function returns true if the value has such an effect.
 */
const SKIPPING_PROPERTIES: Readonly<Record<string, (value: unknown) => boolean>> = {
  BisectBatchOnFunctionError: (value) => String(value) === 'true',
  FilterCriteria: (value) => value !== undefined,
  MaximumRecordAgeInSeconds: (value) => value !== undefined && Number(value) !== -1,
  MaximumRetryAttempts: (value) => value !== undefined && Number(value) !== -1,
  TumblingWindowInSeconds: (value) => value !== undefined,
};

/**
 * Properties that are checked only in the mapping of the consumer's own Kinesis stream. A filter in the mapping of a
 * table's stream hides no records, because the records of a table's stream are not aggregates.
 */
const OF_KINESIS_ONLY = ['FilterCriteria'];

/** The event source mapping of a consumer. */
interface UnboundedMapping {
  readonly handler: lambda.Function;
  readonly source: lambda.IEventSource;
  /** The Kinesis stream. Undefined for the stream of a table, whose records all fit into an event. */
  readonly stream: kinesis.IStreamRef | undefined;
  /** Whether the user chose an on-failure destination. */
  readonly hasOnFailure: boolean;
}

/**
 * Adds an event source to a function. Synthesis fails if this mapping, or the mapping of another stream to the same
 * function, can skip or block records. Synthesis checks the template, because a property injector, an escape hatch or
 * the user's own mappings can contain such settings.
 */
export function addUnboundedMapping(
  owner: IConstruct,
  { handler, source, stream, hasOnFailure }: UnboundedMapping,
): void {
  const field = constructField(owner, 'stream');
  if (stream !== undefined && !hasOnFailure) checkDeliverable(field, stream, OWN_REMEDY);
  const before = new Set(handler.node.children);
  handler.addEventSource(source);
  const own = new Set(handler.node.children.filter((child) => !before.has(child)).map(({ node }) => node.defaultChild));
  for (const mapping of own) checkFailureDestination(owner, mapping);
  const check = (mapping: lambda.CfnEventSourceMapping): string[] => {
    const properties = templateProperties<MappingProperties>(mapping);
    const hasDestination = properties.DestinationConfig?.OnFailure?.Destination !== undefined;
    const isOwn = own.has(mapping);
    const isKinesis = isOwn && stream !== undefined;
    const read = isOwn ? stream : streamOfApp(mapping.eventSourceArn ?? '');
    return [
      ...problemsOf(() => checkUnbounded(isOwn ? owner : mapping, properties, isKinesis ? [] : OF_KINESIS_ONLY)),
      ...problemsOf(() => {
        if (isOwn && hasDestination && !hasOnFailure) throw unchosenDestination(owner, properties);
      }),
      ...problemsOf(() => {
        if (hasDestination || read === undefined) return;
        if (isOwn) checkDeliverable(field, read, OWN_REMEDY);
        else checkDeliverable(constructField(mapping, 'stream'), read, 'give the event source an onFailure');
      }),
    ];
  };
  owner.node.addValidation({ validate: () => streamMappings(handler).flatMap(check) });
}

const OWN_REMEDY = 'give the consumer an onFailure';

/**
 * The event source mappings from streams to a function, in all stacks of the app. A mapping whose source is a stream
 * has a starting position and no Kafka topics.
 */
function streamMappings(handler: lambda.Function): lambda.CfnEventSourceMapping[] {
  const stack = Stack.of(handler);
  const functionName = JSON.stringify(stack.resolve(handler.functionName));
  return stack.node.root.node.findAll().filter((each): each is lambda.CfnEventSourceMapping => {
    if (!(each instanceof lambda.CfnEventSourceMapping)) return false;
    const { FunctionName, StartingPosition, Topics } = templateProperties<MappingProperties>(each);
    const isOfHandler =
      functionOfApp(each.functionName) === handler.node.defaultChild || JSON.stringify(FunctionName) === functionName;
    return isOfHandler && StartingPosition !== undefined && Topics === undefined;
  });
}

/** The function of this app that a mapping refers to, directly or through an alias or a version. */
function functionOfApp(name: string): lambda.CfnFunction | undefined {
  const { firstToken } = Tokenization.reverseString(name);
  const target = Reference.isReference(firstToken) ? firstToken.target : undefined;
  if (target instanceof lambda.CfnAlias || target instanceof lambda.CfnVersion)
    return functionOfApp(target.functionName);
  return target instanceof lambda.CfnFunction ? target : undefined;
}

function checkUnbounded(named: IConstruct, properties: MappingProperties, unchecked: readonly string[]): void {
  for (const [name, skips] of Object.entries(SKIPPING_PROPERTIES)) {
    const value = properties[name];
    if (unchecked.includes(name) || !skips(value)) continue;
    const allowed =
      'absent from the event source mapping (with it, Lambda skips or hides records of a key and delivers later records of the key)';
    throw new InvalidArgumentError(constructField(named, name), value, allowed);
  }
  if (properties.FunctionResponseTypes?.includes('ReportBatchItemFailures')) return;
  const allowed = 'ReportBatchItemFailures (without it, Lambda treats every response as success)';
  throw new InvalidArgumentError(
    constructField(named, 'FunctionResponseTypes'),
    properties.FunctionResponseTypes,
    allowed,
  );
}

/**
 * The error for a destination that the user did not choose. Later records of a key do not wait for a record that Lambda
 * sends to a destination, so only the user may choose a destination.
 */
function unchosenDestination(owner: IConstruct, { DestinationConfig }: MappingProperties): InvalidArgumentError {
  const allowed =
    'absent from the event source mapping, unless it is the onFailure of the consumer (later records of a key do not wait for a record that Lambda sends there)';
  return new InvalidArgumentError(constructField(owner, 'DestinationConfig'), DestinationConfig, allowed);
}

/**
 * Checks that every record of a stream fits into a Lambda event. A stream with an unknown record size limit passes the check.
 *
 * @param field the property of the stream, for the error message
 * @param remedy the part of the error message about adding an on-failure destination
 * @throws InvalidArgumentError with the code `INVALID_ARGUMENT`
 */
function checkDeliverable(field: string, stream: kinesis.IStreamRef, remedy: string): void {
  const kibibytes = (streamLimit(stream) ?? 0) / 1024;
  if (kibibytes <= LARGEST_RECORD_OF_EVENT_KIB) return;
  throw new InvalidArgumentError(
    `${field}.maxRecordSize`,
    `${kibibytes} KiB`,
    `at most ${LARGEST_RECORD_OF_EVENT_KIB} KiB (a Lambda event has at most 6 MiB, with the data in base64, so a larger record never ` +
      'reaches the function and blocks its shard until the record expires; decrease maxRecordSize, or store the data in S3 and send its object key, ' +
      `or ${remedy}, but later records of a key do not wait for a record that Lambda sends there)`,
  );
}
