import { InvalidArgumentError } from '../kernel/errors';
import { checkOutbox } from './check-outbox';
import type { BatchLimits } from './new-rows';
import { OutboxReplayError } from './outbox-errors';
import type { RelaySettings } from './relay-options';
import { SentRows } from './sent-rows';
import { inTransaction } from './session-settings';
import type { Statements } from './statements';
import type { Streams } from './streams';

/** Options of a replay, which select the rows. */
export interface ReplayOptions {
  /** The key whose rows are sent again. @default all keys */
  partitionKey?: string;
  /** Only rows that were sent at this time or later. @default no lower bound */
  sentFrom?: Date;
  /**
   * Only rows that were sent before this time.
   * @default no upper bound, but only rows that were put before the replay began
   */
  sentBefore?: Date;
  /** The lowest number of the rows. @default no lower bound */
  firstId?: bigint;
  /** The highest number of the rows. @default the highest number when the replay began */
  lastId?: bigint;
  /**
   * `sent`: sends the rows with their old numbers, so that a consumer drops the rows that it already has. `new`: puts the rows
   * into the outbox again with new numbers, after all other rows of their keys, so that every consumer handles them.
   * @default 'sent'
   */
  as?: 'sent' | 'new';
  /** When it aborts, the replay stops after the current batch. */
  signal?: AbortSignal;
}

/** How many rows a step has replayed, and the number of the last row. */
interface Step {
  readonly rows: number;
  readonly lastId: bigint;
}

/** @returns the number of rows that were sent, or put again */
export async function replay(
  statements: Statements,
  settings: RelaySettings,
  streams: Streams,
  options: ReplayOptions,
): Promise<number> {
  checkReplayOptions(options);
  const sentRows = new SentRows(statements, settings.shape);
  // Uses a separate transaction for each batch, because sending the rows to the stream may take long.
  const inOneTransaction = <T>(work: () => Promise<T>): Promise<T> =>
    inTransaction(statements, settings.statementTimeoutMs, work);
  const { producerId, lastId } = await inOneTransaction(async () => {
    await checkOutbox(statements);
    return sentRows.lastNumber();
  });
  // Rows that are put during the replay have higher numbers.
  const selection = {
    ...options,
    lastId: options.lastId !== undefined && options.lastId < lastId ? options.lastId : lastId,
  };
  const putAgain = (limits: BatchLimits): Promise<Step | undefined> =>
    inOneTransaction(() => sentRows.putAgain(selection, limits));
  const sendAgain = async (limits: BatchLimits): Promise<Step | undefined> => {
    const rows = await inOneTransaction(() => sentRows.read(selection, limits, producerId));
    if (rows.length === 0) return undefined;
    const puts = await Promise.all(streams.divide(rows).map(([stream, own]) => stream.putAll(own)));
    const failed = puts.find(({ rejected }) => rejected > 0);
    if (failed !== undefined) throw new OutboxReplayError(rows[0]!.id, { cause: failed.firstRejection?.error });
    return { rows: rows.length, lastId: rows.at(-1)!.id };
  };
  const replayBatch = options.as === 'new' ? putAgain : sendAgain;
  const { batchRows: maxRows, batchBytes: maxBytes } = settings;
  let replayed = 0;
  for (let afterId = (options.firstId ?? 1n) - 1n; !options.signal?.aborted; ) {
    const step = await replayBatch({ afterId, maxRows, maxBytes });
    if (step === undefined) break;
    replayed += step.rows;
    afterId = step.lastId;
  }
  return replayed;
}

function checkReplayOptions(options: ReplayOptions): void {
  const { as = 'sent' } = options;
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
}
