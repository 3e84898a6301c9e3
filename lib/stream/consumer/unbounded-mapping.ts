import { Stack } from 'aws-cdk-lib';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { IConstruct } from 'constructs';
import { constructField, problemsOf } from '../../construct/props-checks';
import { templateProperties } from '../../construct/template-properties';
import { InvalidArgumentError } from '../../core/foundation/errors';

interface MappingProperties {
  readonly FunctionResponseTypes?: readonly string[];
  readonly [name: string]: unknown;
}

/** What makes Lambda go past a record of a key, and on with later ones, or hides records of an aggregate. */
const SKIPPING_PROPERTIES: Readonly<Record<string, (value: unknown) => boolean>> = {
  BisectBatchOnFunctionError: (value) => value === true,
  DestinationConfig: (value) => value !== undefined,
  FilterCriteria: (value) => value !== undefined,
  MaximumRecordAgeInSeconds: (value) => value !== undefined && value !== -1,
  MaximumRetryAttempts: (value) => value !== undefined && value !== -1,
  TumblingWindowInSeconds: (value) => value !== undefined,
};

/** What is right for a table's stream, whose records hold no others, and has no effect without a bound. */
const OF_OWN_MAPPING_ONLY = ['DestinationConfig', 'FilterCriteria'];

/**
 * Adds an event source to a function. Synthesis fails if this mapping, or that of another stream to the same function, can skip records
 * in the end. A property injector or an escape hatch may set what no property of ours does, and other mappings are the user's.
 */
export function addUnboundedMapping(owner: IConstruct, handler: lambda.Function, source: lambda.IEventSource): void {
  const before = new Set(handler.node.children);
  handler.addEventSource(source);
  const own = new Set(handler.node.children.filter((child) => !before.has(child)).map(({ node }) => node.defaultChild));
  owner.node.addValidation({
    validate: () =>
      streamMappings(handler).flatMap((mapping) =>
        problemsOf(() =>
          own.has(mapping) ? checkUnbounded(owner, mapping) : checkUnbounded(mapping, mapping, OF_OWN_MAPPING_ONLY),
        ),
      ),
  });
}

/** The mappings of streams to a function. Those of queues have no starting position, and those of topics name them. */
function streamMappings(handler: lambda.Function): lambda.CfnEventSourceMapping[] {
  const stack = Stack.of(handler);
  const functionName = JSON.stringify(stack.resolve(handler.functionName));
  return stack.node.findAll().filter((each): each is lambda.CfnEventSourceMapping => {
    if (!(each instanceof lambda.CfnEventSourceMapping)) return false;
    const { FunctionName, StartingPosition, Topics } = templateProperties<MappingProperties>(each);
    return JSON.stringify(FunctionName) === functionName && StartingPosition !== undefined && Topics === undefined;
  });
}

function checkUnbounded(
  named: IConstruct,
  resource: lambda.CfnEventSourceMapping,
  unchecked: readonly string[] = [],
): void {
  const properties = templateProperties<MappingProperties>(resource);
  for (const [name, skips] of Object.entries(SKIPPING_PROPERTIES)) {
    const value = properties[name];
    if (unchecked.includes(name) || !skips(value)) continue;
    const allowed =
      'absent from the event source mapping: with it, Lambda skips records of a key and goes on with later ones, or hides records';
    throw new InvalidArgumentError(constructField(named, name), value, allowed);
  }
  if (properties.FunctionResponseTypes?.includes('ReportBatchItemFailures')) return;
  const allowed = 'ReportBatchItemFailures, without which Lambda takes every answer for success';
  throw new InvalidArgumentError(
    constructField(named, 'FunctionResponseTypes'),
    properties.FunctionResponseTypes,
    allowed,
  );
}
