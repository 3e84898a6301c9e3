/** Why something was not measured, and how to measure it. */
export interface Missing {
  readonly why: string;
  readonly change: string;
}

/** An idle resource and missing metrics look the same, so the doctor reports both. */
export const NO_METRICS: Missing = {
  why: 'CloudWatch has no value: it had no traffic, or its metrics are missing',
  change: 'read more hours with --hours, or send traffic and run doctor again',
};

export function isMissing(measured: object): measured is Missing {
  return 'why' in measured;
}

/** The result of a measurement. If the account does not allow these actions, the reason why there is no result. */
export async function unlessDenied<T extends object>(
  actions: readonly string[],
  measure: () => Promise<T>,
): Promise<T | Missing> {
  try {
    return await measure();
  } catch (error) {
    if (!isDenied(error)) throw error;
    return { why: `access denied: ${(error as Error).message}`, change: `allow ${actions.join(' and ')}` };
  }
}

/** Whether the account does not allow a request. */
export function isDenied(error: unknown): boolean {
  return error instanceof Error && /AccessDenied|NotAuthorized|UnauthorizedOperation/.test(error.name);
}
