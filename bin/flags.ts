import { type ParseArgsConfig, parseArgs } from 'node:util';
import { EvenShardsError, InvalidArgumentError } from '../lib/core/foundation/errors';

/** A command line that cannot be understood: nothing has been done. */
export class UsageError extends EvenShardsError {
  constructor(problem: string, command: string) {
    super('USAGE', `${problem}: see \`${command} --help\``);
  }
}

/** Node's `parseArgs`, whose errors become a `UsageError`. */
export function parsedFlags<T extends ParseArgsConfig>(command: string, config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    // parseArgs explains itself at length after the first sentence, which names the flag.
    const [problem = ''] = (error as Error).message.split(/\. |\.?\n/);
    throw new UsageError(problem.charAt(0).toLowerCase() + problem.slice(1), command);
  }
}

/** What a flag holds as a number, or undefined if it is absent. Its bounds are the planner's to check. */
export function numberOf(command: string, flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number)) return number;
  throw new UsageError(`--${flag} must be a number, got "${text}"`, command);
}

/**
 * Runs `plan`; what it says of a field is said of the flag that holds it: recordsPerSecond is --records-per-second. A
 * field within a field, such as a price in a file, keeps its name.
 */
export function inFlagTerms<T>(command: string, plan: () => T): T {
  try {
    return plan();
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    if (/[.[]/.test(error.field)) throw new UsageError(error.problem, command);
    const flag = `--${error.field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    throw new UsageError(
      error.problem.replace(error.field, () => flag),
      command,
    );
  }
}
