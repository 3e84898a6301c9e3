import { type Clock, systemClock } from '../clock';
import { InvalidArgumentError } from '../errors';
import { checkHedgeBudget, type FanOutHistory } from './fan-out-history';

/** How shards are asked: how many at a time, how often, and for how long. */
export interface FanOutReadOptions {
  /**
   * Most requests under way at once, at least 1. Give the client as many sockets (`maxSockets`): the SDK's own 50 are
   * what the default is made for, and what goes beyond them waits in the client, where it looks late.
   * @default 50
   */
  concurrency?: number;
  /**
   * How often a read is tried in all, if it is throttled, times out or loses its connection. The engine waits between
   * attempts, with full jitter; keep the client from retrying by itself (`maxAttempts: 1`), or the two multiply, and a
   * throttled shard is taken for a slow one.
   * @default 5
   */
  attempts?: number;
  /** Upper bound of the first wait between attempts, in milliseconds; it doubles each time. @default 50 */
  backoffBaseMs?: number;
  /** Upper bound of every wait between attempts, in milliseconds. @default 1000 */
  backoffCapMs?: number;
  /**
   * When the page has to be done, in milliseconds from the call. It then ends with what is certain, and its cursor goes
   * on from there. If nothing is, `onShardFailure` decides.
   * @default none
   */
  deadlineMs?: number;
  /**
   * What becomes of a page when a shard cannot be read, after all attempts or by the deadline. `fail`: the query throws.
   * `partial`: the page is made of the other shards and names the missing ones in `missingShards`; if none can be read,
   * the query still throws. Errors that no attempt can mend, such as a refused filter, always throw.
   * @default 'fail'
   */
  onShardFailure?: 'fail' | 'partial';
  /**
   * The share of requests that may be sent a second time because they are late: later than all but this share of the
   * requests before, and than three times their median; 0 to 0.1. The first answer counts. A shard that throttles is never asked twice at a time. Needs
   * `history`, which knows what late means.
   * @default 0, no hedging
   */
  hedgeBudget?: number;
  /** What earlier queries have shown. @default what the cursor carries, and what this query sees */
  history?: FanOutHistory;
  /** @default the system's clock */
  clock?: Clock;
  /** A source of numbers in [0, 1). @default Math.random */
  random?: () => number;
}

/** The SDK's default number of sockets. */
export const DEFAULT_CONCURRENCY = 50;

/** Read options, checked, with their defaults filled in. */
export type ReadPolicy = Required<Omit<FanOutReadOptions, 'history' | 'deadlineMs'>> &
  Pick<FanOutReadOptions, 'history' | 'deadlineMs'>;

export function readPolicy(options: FanOutReadOptions): ReadPolicy {
  const policy: ReadPolicy = {
    concurrency: options.concurrency ?? DEFAULT_CONCURRENCY,
    attempts: options.attempts ?? 5,
    backoffBaseMs: options.backoffBaseMs ?? 50,
    backoffCapMs: options.backoffCapMs ?? 1_000,
    deadlineMs: options.deadlineMs,
    onShardFailure: options.onShardFailure ?? 'fail',
    hedgeBudget: options.hedgeBudget ?? 0,
    history: options.history,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
  };
  for (const field of ['concurrency', 'attempts'] as const) {
    if (!Number.isSafeInteger(policy[field]) || policy[field] < 1) {
      throw new InvalidArgumentError(field, policy[field], 'a whole number of at least 1');
    }
  }
  for (const field of ['backoffBaseMs', 'backoffCapMs', 'deadlineMs'] as const) {
    const ms = policy[field];
    if (ms !== undefined && !(Number.isFinite(ms) && ms >= 0)) {
      throw new InvalidArgumentError(field, ms, 'a number of milliseconds, at least 0');
    }
  }
  if (!['fail', 'partial'].includes(policy.onShardFailure)) {
    throw new InvalidArgumentError('onShardFailure', policy.onShardFailure, 'fail or partial');
  }
  checkHedgeBudget(policy.hedgeBudget);
  if (policy.hedgeBudget > 0 && policy.history === undefined) {
    throw new InvalidArgumentError('history', undefined, 'a FanOutHistory if there is a hedgeBudget');
  }
  return policy;
}
