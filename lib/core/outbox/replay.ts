import { InvalidArgumentError } from '../kernel/errors';
import type { Connection } from './connection';
import { OutboxDatabase } from './outbox-database';
import { OutboxReplayError } from './outbox-errors';
import type { RelaySettings } from './relay-options';
import { inTransaction } from './session-settings';
import type { Streams } from './streams';

/** Which rows are sent again. */
export interface ReplayOptions {
  /** The key whose rows are sent again. @default the rows of all keys are */
  partitionKey?: string;
  /** Rows that were sent before this time are left out. @default the rows begin with the first that is there */
  sentFrom?: Date;
  /**
   * Rows that were sent at this time or later are left out.
   * @default the rows end with the last that was sent when the replay began
   */
  sentBefore?: Date;
  /** The lowest number of the rows. @default the number of the first that is there */
  firstId?: bigint;
  /** The highest number of the rows. @default the number of the last that was put when the replay began */
  lastId?: bigint;
  /**
   * `sent`: with their old numbers, so that consumers that have them drop them. `new`: put into the outbox again, with new
   * numbers, so that every consumer takes them, behind all others of their keys.
   * @default 'sent'
   */
  as?: 'sent' | 'new';
  /** When it aborts, the replay ends between two windows. */
  signal?: AbortSignal;
}

/** @returns how many rows were sent, or put */
export async function replay(
  connection: Connection,
  settings: RelaySettings,
  streams: Streams,
  options: ReplayOptions,
): Promise<number> {
  const { as = 'sent', signal } = options;
  if (as !== 'sent' && as !== 'new') throw new InvalidArgumentError('as', as, "'sent' or 'new'");
  for (const field of ['sentFrom', 'sentBefore'] as const) {
    const value = options[field];
    if (value !== undefined && !(value instanceof Date && !Number.isNaN(value.getTime()))) {
      throw new InvalidArgumentError(field, value, 'a Date');
    }
  }
  for (const field of ['firstId', 'lastId'] as const) {
    const value = options[field];
    if (value !== undefined && typeof value !== 'bigint') throw new InvalidArgumentError(field, value, 'a bigint');
  }
  const database = new OutboxDatabase(connection, settings.schema, settings.shape);
  // A transaction for each window: the stream may be slow.
  const within = <T>(work: () => Promise<T>): Promise<T> =>
    inTransaction(connection, settings.statementTimeoutMs, work);
  const { producerId, lastId } = await within(async () => {
    await database.check();
    return database.lastNumber();
  });
  // What is put again meanwhile has higher numbers.
  const wanted = {
    ...options,
    lastId: options.lastId !== undefined && options.lastId < lastId ? options.lastId : lastId,
  };
  const { windowRows: maxRows, windowBytes: maxBytes } = settings;
  let replayed = 0;
  for (let afterId = (options.firstId ?? 1n) - 1n; !signal?.aborted; ) {
    if (as === 'new') {
      const put = await within(() => database.putAgain(wanted, { afterId, maxRows, maxBytes }));
      if (put === undefined) break;
      replayed += put.rows;
      afterId = put.lastId;
      continue;
    }
    const rows = await within(() => database.readSent(wanted, { afterId, maxRows, maxBytes }, producerId));
    if (rows.length === 0) break;
    const puts = await Promise.all(streams.divide(rows).map(([stream, own]) => stream.putAll(own)));
    const failed = puts.find(({ rejected }) => rejected > 0);
    if (failed !== undefined) throw new OutboxReplayError(rows[0]!.id, { cause: failed.firstRejection?.error });
    replayed += rows.length;
    afterId = rows.at(-1)!.id;
  }
  return replayed;
}
