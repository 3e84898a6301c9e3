import { InvalidArgumentError } from '../kernel/errors';
import { checkOutbox } from './check-outbox';
import type { BatchLimits } from './new-rows';
import { OutboxReplayError } from './outbox-errors';
import type { RelaySettings } from './relay-options';
import { SentRows } from './sent-rows';
import { inTransaction } from './session-settings';
import type { Statements } from './statements';
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
  /** When it aborts, the replay ends between two batches. */
  signal?: AbortSignal;
}

/** How many rows a step has replayed, and the number of the last one. */
interface Step {
  readonly rows: number;
  readonly lastId: bigint;
}

/** @returns how many rows were sent, or put */
export async function replay(
  statements: Statements,
  settings: RelaySettings,
  streams: Streams,
  options: ReplayOptions,
): Promise<number> {
  checkReplayOptions(options);
  const sentRows = new SentRows(statements, settings.shape);
  // A transaction for each batch, because the stream may be slow.
  const inOne = <T>(work: () => Promise<T>): Promise<T> => inTransaction(statements, settings.statementTimeoutMs, work);
  const { producerId, lastId } = await inOne(async () => {
    await checkOutbox(statements);
    return sentRows.lastNumber();
  });
  // Rows that are put again meanwhile have higher numbers.
  const wanted = {
    ...options,
    lastId: options.lastId !== undefined && options.lastId < lastId ? options.lastId : lastId,
  };
  const putAgain = (limits: BatchLimits): Promise<Step | undefined> => inOne(() => sentRows.putAgain(wanted, limits));
  const sendAgain = async (limits: BatchLimits): Promise<Step | undefined> => {
    const rows = await inOne(() => sentRows.read(wanted, limits, producerId));
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
