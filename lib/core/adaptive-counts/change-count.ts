import { randomBytes } from 'node:crypto';
import type { Clock } from '../kernel/clock';
import { InvalidArgumentError } from '../kernel/errors';
import type { GrownCount } from './grown-count';
import type { ShardCountStore } from './shard-count-store';

/** Who changes a count, and why. Both are kept with the count, for people. */
export interface CountChange {
  /** Why the count changes, of 1 to 500 characters. */
  reason: string;
  /** Who changes it, of 1 to 100 characters, such as the name of a function or of a person. */
  changedBy: string;
}

const MAX_REASON = 500;
const MAX_NAME = 100;

/** @throws InvalidArgumentError unless a change says briefly who makes it, and why */
export function checkChange(change: CountChange): void {
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
 * Writes the next version of a count, on condition that nobody else has. Undefined if somebody has.
 *
 * A store may refuse what it has written: when the first answer is lost, the SDK sends the write again, and the condition
 * fails. And a write whose answer is lost may have been made. So each attempt has an id, by which it recognises itself.
 */
export async function writeNext(
  store: ShardCountStore,
  now: GrownCount | undefined,
  next: Pick<GrownCount, 'value' | 'write' | 'read'>,
  { reason, changedBy }: CountChange,
): Promise<GrownCount | undefined> {
  const expected = now?.version ?? 0;
  const count: GrownCount = {
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
 * Waits for some milliseconds of this process. Nothing else counts: neither how long another process has waited, nor the
 * time of day at which a version was written, says how much time has passed here.
 */
export async function watch(clock: Clock, forMs: number): Promise<void> {
  const end = clock.now() + forMs;
  while (clock.now() < end) await clock.sleep(end - clock.now());
}
