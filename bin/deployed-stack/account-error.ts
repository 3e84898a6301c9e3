import { EvenShardsError } from '../../lib/core/foundation/errors';

/** A service of the account, or what stands in for it, has refused or not answered a call of a command. */
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

/** Runs what asks an account; what fails there is told from what is wrong with the command. */
export async function askingAccount<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof EvenShardsError || !isOfAccount(error)) throw error;
    throw new AccountError(error);
  }
}

/** An answer of a service, or none; or nothing to ask it with. */
function isOfAccount(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return '$metadata' in error || 'code' in error || /Credential/.test(error.name) || isOfRegion(error);
}
