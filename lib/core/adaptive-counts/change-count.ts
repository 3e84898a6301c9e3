import { randomBytes } from 'node:crypto';
import type { Clock } from '../kernel/clock';
import { InvalidArgumentError } from '../kernel/errors';
import type { GrownCount } from './grown-count';
import type { ShardCountStore } from './shard-count-store';

/** The author and the reason of a change. Both texts are stored with the count, so that operators can read them. */
export interface CountChange {
  /** The reason of the change, from 1 to 500 characters. */
  reason: string;
  /** The author of the change, from 1 to 100 characters, such as the name of a function or a person. */
  changedBy: string;
}

const MAX_REASON = 500;
const MAX_NAME = 100;

/**
 * Checks the author and the reason of a change, and rejects an unknown field: an option in this argument would have no effect.
 *
 * @param fields the other fields of the change
 * @throws InvalidArgumentError if a field is unknown, or the reason or the author is missing, empty or too long
 */
export function checkChange(change: CountChange, fields: readonly string[]): void {
  const known = [...fields, 'reason', 'changedBy'];
  const unknown = Object.keys(Object(change)).find((field) => !known.includes(field));
  if (unknown !== undefined) {
    const allowed = `made of ${known.join(', ')} (options are the next argument)`;
    throw new InvalidArgumentError('change', unknown, allowed);
  }
  const { reason, changedBy }: Partial<CountChange> = Object(change);
  for (const [field, text, most] of [
    ['reason', reason, MAX_REASON],
    ['changedBy', changedBy, MAX_NAME],
  ] as const) {
    if (typeof text === 'string' && text.length >= 1 && text.length <= most) continue;
    throw new InvalidArgumentError(field, text, `a text of 1 to ${most} characters`);
  }
}

/**
 * Writes the next version of a count, on the condition that no other process has written this version. Returns undefined if
 * another process has written this version.
 *
 * If the response to a write is lost, the write may have succeeded. If the SDK then retries the write, the condition
 * fails. So each attempt has a unique `commit`, and this function reads the count to check whether its own write is
 * stored.
 */
export async function writeNext(
  store: ShardCountStore,
  now: GrownCount | undefined,
  next: Pick<GrownCount, 'value' | 'write' | 'read'>,
  { reason, changedBy }: CountChange,
): Promise<GrownCount | undefined> {
  const expected = now?.version ?? 0;
  const count: GrownCount = {
    // A store may keep further fields of a count.
    ...now,
    ...next,
    version: expected + 1,
    commit: randomBytes(8).toString('base64url'),
    changedBy,
    changedAt: new Date().toISOString(),
    reason,
  };
  const isStored = async () => (await store.readCount(count.value))?.commit === count.commit;
  try {
    return (await store.writeCount(count, expected)) || (await isStored()) ? count : undefined;
  } catch (error) {
    if (await isStored().catch(() => false)) return count;
    throw error;
  }
}

/**
 * Waits for `forMs` milliseconds by the clock of this process. A stored time or the wait of another process does not shorten this
 * wait, because neither proves how much time has passed.
 */
export async function waitFor(clock: Clock, forMs: number): Promise<void> {
  const end = clock.now() + forMs;
  while (clock.now() < end) await clock.sleep(end - clock.now());
}
