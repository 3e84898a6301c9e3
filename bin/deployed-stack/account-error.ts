import { EvenShardsError } from '../../lib/core/foundation/errors';

/** A service of the account, or what stands in for it, has refused or not answered a call of a command. */
export class AccountError extends EvenShardsError {
  constructor(cause: Error) {
    super('ACCOUNT_FAILED', `the account does not answer: ${cause.name}: ${cause.message}`, { cause });
  }
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
  const { name, message } = error;
  return '$metadata' in error || 'code' in error || /Credential/.test(name) || /^Region /.test(message);
}
