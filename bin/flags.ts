import { type ParseArgsConfig, parseArgs } from 'node:util';
import { EvenShardsError, InvalidArgumentError } from '../lib/core/kernel/errors';

/** The command line is wrong. Nothing was done. */
export class UsageError extends EvenShardsError {
  constructor(problem: string, command: string) {
    super('USAGE', `${problem}: see \`${command} --help\``);
  }
}

/**
 * Node's `parseArgs`, whose errors become a `UsageError`. Rejects a flag that is given twice, unless the flag may be
 * repeated. Accepts a negative number after a flag, so that the check of the flag can name the allowed values.
 */
export function parsedFlags<T extends ParseArgsConfig>(command: string, config: T): ReturnType<typeof parseArgs<T>> {
  const { options = {} } = config;
  const isOfText = (arg: string) => arg.startsWith('--') && options[arg.slice(2)]?.type === 'string';
  const args = [...(config.args ?? [])];
  for (let index = args.length - 1; index > 0; index--) {
    if (NEGATIVE.test(args[index]!) && isOfText(args[index - 1]!))
      args.splice(index - 1, 2, args.slice(index - 1, index + 1).join('='));
  }
  try {
    const { tokens = [] } = parseArgs({ ...config, args, tokens: true });
    const names = tokens.flatMap((token) => (token.kind === 'option' ? token.name : []));
    const twice = names.find((name, index) => names.indexOf(name) < index && options[name]?.multiple !== true);
    if (twice !== undefined) throw new UsageError(`--${twice} is given twice`, command);
    return parseArgs<T>({ ...config, args });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    // The first sentence of parseArgs names the flag. The following sentences are a long explanation.
    const [problem = ''] = (error as Error).message.split(/\. |\.?\n/);
    throw new UsageError(problem.charAt(0).toLowerCase() + problem.slice(1), command);
  }
}

const NEGATIVE = /^-[\d.]/;

/** The number that a flag holds, or undefined if the flag is absent. The planner checks its bounds. */
export function numberOf(command: string, flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number)) return number;
  throw new UsageError(`--${flag} must be a number, got "${text}"`, command);
}

/** The number above 0 that a flag holds, or undefined if the flag is absent. */
export function positiveOf(command: string, flag: string, text: string | undefined): number | undefined {
  const number = numberOf(command, flag, text);
  if (number === undefined || number > 0) return number;
  throw new UsageError(`--${flag} must be a number above 0, got "${text}"`, command);
}

/** The endpoint in the value of a flag, which must be a URL. */
export function endpointOf(command: string, flag: string, text: string | undefined): string | undefined {
  if (text === undefined || (/^https?:\/\//.test(text) && URL.canParse(text))) return text;
  throw new UsageError(`--${flag} must be a URL such as http://127.0.0.1:8000, got "${text}"`, command);
}

/**
 * Runs `plan`. Errors of `plan` name flags instead of fields: recordsPerSecond becomes --records-per-second. A field within a
 * field, such as a price in a file, keeps its name.
 */
export function inFlagTerms<T>(command: string, plan: () => T): T {
  try {
    return plan();
  } catch (error) {
    throw flagError(command, error);
  }
}

/**
 * Converts an error about a field to an error about the flag of this field. Returns any other error unchanged.
 *
 * @param flags the flags of fields that have another name
 */
export function flagError(command: string, error: unknown, flags: Readonly<Record<string, string>> = {}): unknown {
  if (!(error instanceof InvalidArgumentError)) return error;
  if (/[.[]/.test(error.field)) return new UsageError(error.problem, command);
  const flag = flags[error.field] ?? `--${error.field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  if (error.value === undefined) return new UsageError(`${flag} is missing: it must be ${error.allowed}`, command);
  return new UsageError(
    error.problem.replace(error.field, () => flag),
    command,
  );
}
