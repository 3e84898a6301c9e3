import { callWithin } from '../../lib/core/kernel/call-within';
import { systemClock } from '../../lib/core/kernel/clock';
import { isPermanent } from '../../lib/core/outbox/lasting-errors';
import { OutboxConnectionError } from '../../lib/core/outbox/outbox-errors';
import type { PostgresPool } from '../../lib/core/outbox/postgres-client';
import { loggableMessage } from '../loggable';

/**
 * The maximum time to wait. A paused Aurora database resumes within 15 seconds, or within 30 seconds if it was paused
 * for a day. The limit is short, because a wrong host name should fail soon.
 */
const LONGEST_MS = 60_000;

const PAUSE_MS = 1_000;

/**
 * Waits until the database accepts a connection. The database may be resuming, starting or failing over.
 *
 * @param withinMs the time that the invocation can wait
 * @throws the error of the last attempt, after at most a minute. A permanent error, such as a wrong password, is
 *   thrown immediately. OutboxConnectionError in place of an error without a code
 */
export async function firstConnection(
  pool: Pick<PostgresPool, 'connect'>,
  withinMs: number,
  clock = systemClock,
): Promise<void> {
  const endMs = clock.now() + Math.min(withinMs, LONGEST_MS);
  for (;;) {
    try {
      const ms = Math.max(1, endMs - clock.now());
      return await callWithin({ ms, clock }, async () => (await pool.connect()).release());
    } catch (cause) {
      const error = (cause as { code?: string }).code === undefined ? new OutboxConnectionError({ cause }) : cause;
      if (isPermanent(error) || clock.now() + PAUSE_MS >= endMs) throw error;
      console.warn({ message: 'no connection yet', cause: loggableMessage(cause as Error) });
    }
    await clock.sleep(PAUSE_MS);
  }
}
