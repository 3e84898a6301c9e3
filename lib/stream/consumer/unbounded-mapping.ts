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

/**
 * Adds an event source to a function, and has synthesis fail if its mapping can skip records in the end: a property injector or
 * an escape hatch may set what no property of ours does.
 */
export function addUnboundedMapping(owner: IConstruct, handler: lambda.Function, source: lambda.IEventSource): void {
  const before = new Set(handler.node.children);
  handler.addEventSource(source);
  for (const child of handler.node.children) {
    const resource = child.node.defaultChild;
    if (before.has(child) || !(resource instanceof lambda.CfnEventSourceMapping)) continue;
    owner.node.addValidation({ validate: () => problemsOf(() => checkUnbounded(owner, resource)) });
  }
}

function checkUnbounded(owner: IConstruct, resource: lambda.CfnEventSourceMapping): void {
  const properties = templateProperties<MappingProperties>(resource);
  for (const [name, skips] of Object.entries(SKIPPING_PROPERTIES)) {
    const value = properties[name];
    if (!skips(value)) continue;
    const allowed =
      'absent from the event source mapping: with it, Lambda skips records of a key and goes on with later ones, or hides records';
    throw new InvalidArgumentError(constructField(owner, name), value, allowed);
  }
  if (properties.FunctionResponseTypes?.includes('ReportBatchItemFailures')) return;
  const allowed = 'ReportBatchItemFailures, without which Lambda takes every answer for success';
  throw new InvalidArgumentError(
    constructField(owner, 'FunctionResponseTypes'),
    properties.FunctionResponseTypes,
    allowed,
  );
}
