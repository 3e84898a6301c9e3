import { EvenShardsError } from '../../lib/core/kernel/errors';

/** A service of the account, or an emulator, rejected a request of a command or did not respond. */
export class AccountError extends EvenShardsError {
  constructor(cause: Error) {
    super('ACCOUNT_FAILED', `${problemOf(cause)}: ${wordsOf(cause)}`, { cause });
  }
}

function problemOf(cause: Error & { $metadata?: { httpStatusCode?: number } }): string {
  if (/Credential/.test(cause.name)) return 'there are no credentials for the account: set AWS_PROFILE, or sign in';
  if (isOfRegion(cause)) return 'no region is configured: set AWS_REGION';
  return cause.$metadata?.httpStatusCode === undefined
    ? 'the account does not respond'
    : 'the account has rejected a request';
}

/** An AggregateError of several connection attempts has no message. */
function wordsOf({ name, message, code }: Error & { code?: unknown }): string {
  return `${name}: ${message === '' ? code : message}`;
}

function isOfRegion({ message }: Error): boolean {
  return /^Region /.test(message);
}

/**
 * Runs requests to an account. Converts their failures to an `AccountError`, so that the exit code differs from the
 * exit code for invalid arguments.
 */
export async function askingAccount<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof EvenShardsError || !isOfAccount(error)) throw error;
    throw new AccountError(error);
  }
}

/** Whether an error means that a service failed or did not respond, or that credentials are missing. */
function isOfAccount(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return '$metadata' in error || 'code' in error || /Credential/.test(error.name) || isOfRegion(error);
}
