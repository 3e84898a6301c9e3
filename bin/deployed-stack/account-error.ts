import { EvenShardsError } from '../../lib/core/kernel/errors';

/** A service of the account, or what stands in for it, has refused a call of a command or has not answered it. */
export class AccountError extends EvenShardsError {
  constructor(cause: Error) {
    super('ACCOUNT_FAILED', `${problemOf(cause)}: ${wordsOf(cause)}`, { cause });
  }
}

function problemOf(cause: Error & { $metadata?: { httpStatusCode?: number } }): string {
  if (/Credential/.test(cause.name)) return 'there are no credentials for the account: set AWS_PROFILE, or sign in';
  if (isOfRegion(cause)) return 'there is no region to ask: set AWS_REGION';
  return cause.$metadata?.httpStatusCode === undefined
    ? 'the account does not answer'
    : 'the account has refused a call';
}

/** An error of several attempts to connect has no message of its own. */
function wordsOf({ name, message, code }: Error & { code?: unknown }): string {
  return `${name}: ${message === '' ? code : message}`;
}

function isOfRegion({ message }: Error): boolean {
  return /^Region /.test(message);
}

/** Runs requests to an account. Their failures are told apart from what is wrong with the command. */
export async function askingAccount<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof EvenShardsError || !isOfAccount(error)) throw error;
    throw new AccountError(error);
  }
}

/** Whether an error is an answer of a service, a missing answer, or missing credentials. */
function isOfAccount(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return '$metadata' in error || 'code' in error || /Credential/.test(error.name) || isOfRegion(error);
}
