import { type Clock, LONGEST_TIMER_MS, systemClock } from '../kernel/clock';
import { InvalidArgumentError } from '../kernel/errors';
import { type CloudEventsEnvelope, checkEnvelope, cloudEvents, type RowShape } from './envelope';
import type { OutboxRowError } from './outbox-errors';
import { checkSchemaName, DEFAULT_OUTBOX_SCHEMA } from './outbox-schema';

/** How an `OutboxRelay` reads its outbox, and what it tells of its work. */
export interface OutboxRelayOptions {
  /**
   * The schema that the outbox is in.
   * @default 'outbox'
   */
  schema?: string;
  /**
   * How many rows are read at a time, 1 to 100,000.
   * @default 2000
   */
  windowRows?: number;
  /**
   * How many bytes of data are read at a time, 1 or more; one row is always read.
   * @default 4194304 (4 MiB)
   */
  windowBytes?: number;
  /**
   * How many rows of a range of keys may be on their way at once, beyond which no window is read; an eighth of them of
   * one key. Behind a row that waits for its acknowledgement, up to 16 times as many are read. Keep it at most as high as
   * the producer's `maxBufferedRecords`, so that no key fills its buffer.
   * @default 10000
   */
  maxRowsInFlight?: number;
  /**
   * How many bytes of data may be on their way at once, beyond which no window is read; an eighth of them of one key.
   * @default 33554432 (32 MiB)
   */
  maxBytesInFlight?: number;
  /**
   * After how many tries a row that the stream does not take is given up: moved to the table `rejected`, so that its key
   * goes on behind it. A try is all that the producer does for a record: 20 attempts, unless it was given another number, or
   * fewer if the producer is aborted between two of them.
   * @default never: its key waits, and the row is tried again every minute
   */
  maxTries?: number;
  /**
   * How long to wait after a row was rejected until it is tried again, in milliseconds; it doubles with each try, up to a
   * minute. A worker that goes on with the rows of another begins with this wait, however often they were tried.
   * @default 1000
   */
  retryMs?: number;
  /**
   * How often to look for rows while there are none and no notification comes, in milliseconds.
   * @default 1000
   */
  pollMs?: number;
  /**
   * How often progress is saved, in milliseconds: what a worker that dies has sent since is sent again by the next.
   * @default 1000
   */
  saveMs?: number;
  /**
   * How often slots are rotated, and emptied when they are relayed, in milliseconds.
   * @default 30000
   */
  rotateMs?: number;
  /**
   * How often a worker looks whether ranges of keys are free, and whether it holds more than others, in milliseconds.
   * @default 1000
   */
  leaseMs?: number;
  /**
   * How long a statement may take, in milliseconds. If there is no answer by then, the connection is given up: that of a
   * pool is replaced, that of a client ends the relay with an `OutboxConnectionError`. The server ends the statement then,
   * too: the relay sets `statement_timeout`. When the relay was told to end, a statement may take 3 seconds.
   * @default 30000
   */
  statementTimeoutMs?: number;
  /**
   * Is told of each row that was rejected, once a try.
   * @default nothing is done: the error is in the column `last_error`, and the summary counts it
   */
  onRejected?(error: OutboxRowError): void;
  /**
   * What the data of each record is: the data of its row, or an envelope that has its type, headers and time, too.
   * @default the data of the row; its type and headers stay in the database
   */
  envelope?: { cloudEvents: CloudEventsEnvelope };
  /**
   * Is told of a lost connection, and of whatever else may pass, when the relay connects again.
   * @default a warning of the process, `process.emitWarning`
   */
  onReconnect?(error: Error): void;
  /** @default the system's timers */
  clock?: Clock;
}

export type RelaySettings = Required<Omit<OutboxRelayOptions, 'maxTries' | 'envelope'>> &
  Pick<OutboxRelayOptions, 'maxTries'> & { shape?: RowShape; mostParkedKeys: number };

const MOST_WINDOW_ROWS = 100_000;

/** A range remembers this many parked keys at most. It finds the others in the table. */
const MOST_PARKED_KEYS = 10_000;

/** The options, checked, with the defaults in place of what is absent. */
export function relaySettings(options: OutboxRelayOptions): RelaySettings {
  const settings: RelaySettings = {
    schema: options.schema ?? DEFAULT_OUTBOX_SCHEMA,
    windowRows: options.windowRows ?? 2_000,
    windowBytes: options.windowBytes ?? 4 * 1024 * 1024,
    maxRowsInFlight: options.maxRowsInFlight ?? 10_000,
    maxBytesInFlight: options.maxBytesInFlight ?? 32 * 1024 * 1024,
    maxTries: options.maxTries,
    retryMs: options.retryMs ?? 1_000,
    pollMs: options.pollMs ?? 1_000,
    saveMs: options.saveMs ?? 1_000,
    rotateMs: options.rotateMs ?? 30_000,
    leaseMs: options.leaseMs ?? 1_000,
    statementTimeoutMs: options.statementTimeoutMs ?? 30_000,
    onRejected: options.onRejected ?? (() => {}),
    onReconnect:
      options.onReconnect ?? ((error) => process.emitWarning(`the relay of an outbox connects again: ${error}`)),
    clock: options.clock ?? systemClock,
    mostParkedKeys: MOST_PARKED_KEYS,
    ...(options.envelope && { shape: shapeOf(options.envelope) }),
  };
  checkSchemaName(settings.schema);
  checkWhole('windowRows', settings.windowRows, MOST_WINDOW_ROWS);
  for (const field of ['windowBytes', 'maxRowsInFlight', 'maxBytesInFlight'] as const) {
    checkWhole(field, settings[field], Number.MAX_SAFE_INTEGER);
  }
  if (settings.maxTries !== undefined) checkWhole('maxTries', settings.maxTries, Number.MAX_SAFE_INTEGER);
  for (const field of ['retryMs', 'pollMs', 'saveMs', 'rotateMs', 'leaseMs', 'statementTimeoutMs'] as const) {
    checkWhole(field, settings[field], LONGEST_TIMER_MS);
  }
  return settings;
}

function shapeOf({ cloudEvents: envelope }: { cloudEvents: CloudEventsEnvelope }): RowShape {
  checkEnvelope(envelope);
  return cloudEvents(envelope);
}

function checkWhole(field: string, value: number, max: number): void {
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw new InvalidArgumentError(field, value, `a whole number from 1 to ${max}`);
  }
}
