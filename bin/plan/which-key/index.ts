import { numberOf, UsageError } from '../../flags';
import { InvalidInputError } from '../../invalid-input-error';
import { print, printText } from '../../print';
import { withProgress } from '../../samples/traffic-sample';
import { writeOutput } from '../../write-output';
import { PLAN_COMMAND, type PlanFlags } from '../plan-flags';
import { compareKeys } from './compare-keys';
import { readFields } from './field-samples';
import { keyLines, keyPicture } from './key-report';

const DEFAULT_RATE = 1_000;

/**
 * If the user names no key, the command compares the fields of the sample as keys.
 *
 * @throws InvalidInputError if no field can be a key
 */
export async function whichKey(input: readonly string[], flags: PlanFlags): Promise<void> {
  const samples = await withProgress('records read', (onProgress) => readFields(input, onProgress));
  if (samples.fields.length === 0) {
    const problem = 'no field has a non-empty text, a number or a boolean in every record, so no field can be a key';
    throw new InvalidInputError(`${input.join(', ')}: ${problem}`);
  }
  const rate = flags['records-per-second'] ?? flags['writes-per-second'];
  const recordsPerSecond = numberOf(PLAN_COMMAND, 'records-per-second', rate) ?? DEFAULT_RATE;
  if (!(recordsPerSecond > 0)) throw new UsageError(`--records-per-second must be above 0, got ${rate}`, PLAN_COMMAND);
  const comparison = compareKeys(samples, recordsPerSecond);
  if (flags.svg !== undefined) writeOutput(flags.svg, keyPicture(comparison));
  if (flags.json) printText(JSON.stringify(comparison, null, 2));
  else print(keyLines(comparison));
}
