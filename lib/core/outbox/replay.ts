import { checkFields, checkSignal, isText } from '../kernel/checks';
import { InvalidArgumentError } from '../kernel/errors';
import { InvalidPartitionKeyError } from '../producer';
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
  /** Only rows that were sent at this time or later, in the years 1 to 9999. @default no lower bound */
  sentFrom?: Date;
  /**
   * Only rows that were sent before this time, in the years 1 to 9999.
   * @default no upper bound, but only rows that were put before the replay began
   */
  sentBefore?: Date;
  /** The lowest number of the rows, from 0 to 2^63 - 1. @default no lower bound */
  firstId?: bigint;
  /** The highest number of the rows, from 0 to 2^63 - 1. @default the highest number when the replay began */
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

/** The highest number that a row can have, because the column of the number is a `bigint`. */
const LAST_ID = 2n ** 63n - 1n;

/** Postgres and JavaScript write the years from 1 to 9999 in the same way. */
const [FIRST_TIME, LAST_TIME] = [new Date('0001-01-01T00:00:00.000Z'), new Date('9999-12-31T23:59:59.999Z')];

function checkReplayOptions(options: ReplayOptions): void {
  checkFields('options', options);
  const { as = 'sent', partitionKey, signal } = options;
  if (as !== 'sent' && as !== 'new') throw new InvalidArgumentError('as', as, "'sent' or 'new'");
  if (partitionKey !== undefined) checkKey(partitionKey);
  for (const field of ['sentFrom', 'sentBefore'] as const) {
    const value = options[field];
    // A comparison with an invalid Date is false.
    if (value === undefined || (value instanceof Date && value >= FIRST_TIME && value <= LAST_TIME)) continue;
    throw new InvalidArgumentError(field, value, 'a Date of the years 1 to 9999');
  }
  for (const field of ['firstId', 'lastId'] as const) {
    const value = options[field];
    if (value === undefined || (typeof value === 'bigint' && value >= 0n && value <= LAST_ID)) continue;
    throw new InvalidArgumentError(field, value, `a bigint from 0 to ${LAST_ID}`);
  }
  checkSignal(signal);
}

/** @throws InvalidPartitionKeyError for a key that no row can have */
function checkKey(partitionKey: unknown): void {
  const isKey = isText(partitionKey) && partitionKey.length <= 256 && !/\p{Surrogate}/u.test(partitionKey);
  if (isKey && !partitionKey.includes('\0')) return;
  const allowed = 'a string of 1 to 256 UTF-16 code units, without NUL characters and lone surrogates';
  throw new InvalidPartitionKeyError('partitionKey', partitionKey, allowed);
}
