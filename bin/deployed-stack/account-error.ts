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
    if (error instanceof EvenShardsError || !(error instanceof Error)) throw error;
    throw new AccountError(error);
  }
}
