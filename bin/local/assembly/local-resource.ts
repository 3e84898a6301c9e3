import { describeValue } from '../../../lib/core/kernel/errors';
import { arnOf, NAMED_TYPES } from './emulated-types';
import { type Declared, LeftOutReason, required } from './left-out';
import { physicalName } from './local-names';

/** The fields of every emulated resource. */
export interface LocalResource {
  /** Construct path, such as `EvenShards/Producer/Function`. */
  readonly path: string;
  /** Deployed name. */
  readonly name: string;
  readonly arn: string;
}

export function arnAndName({ scope, logicalId, type, path }: Declared): LocalResource {
  const name = required(physicalName(scope, logicalId), NAMED_TYPES[type]!.nameProperty);
  return { path, name, arn: arnOf(type, name) };
}

/** Reads an integer, which a template may also write as a string. Leaves out the resource if it is not in the range. */
export function integerOf(property: string, value: unknown, [least, most]: readonly [number, number]): number {
  const number = Number(value);
  if (Number.isInteger(number) && number >= least && number <= most) return number;
  throw new LeftOutReason(`${property} must be an integer from ${least} to ${most}, got ${describeValue(value)}`);
}
