import type { IConstruct } from 'constructs';
import { InvalidArgumentError } from '../core/foundation/errors';

/** How an error names a property of a construct: `EvenShards/Events: shardCount`. */
export function constructField(construct: IConstruct, property: string): string {
  return `${construct.node.path}: ${property}`;
}

/** Runs `check`; what it says of a field is said of the field of that property: `EvenShards/Events: property.field`. */
export function inConstructTerms<T>(construct: IConstruct, property: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    const { field, value, allowed } = error;
    const Refusal = error.constructor as typeof InvalidArgumentError;
    throw new Refusal(constructField(construct, `${property}.${field}`), value, allowed);
  }
}
