import { InvalidArgumentError } from '../core/foundation/errors';

/**
 * A size or a duration in a unit. Where only the deployment knows it, it must be given in that very unit: CloudFormation
 * cannot multiply, and CDK throws. Then throws an error with the code `INVALID_ARGUMENT`, which names the unit.
 *
 * @param unit what the user would write, such as "Size.kibibytes"
 */
export function inUnit(
  field: string,
  amount: { isUnresolved(): boolean },
  unit: string,
  convert: () => number,
): number {
  if (!amount.isUnresolved()) return convert();
  try {
    return convert();
  } catch {
    throw new InvalidArgumentError(field, 'a token', `given as ${unit}, where only the deployment knows it`);
  }
}
