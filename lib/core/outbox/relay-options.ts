import { checkWhole } from '../kernel/checks';
import { type Clock, LONGEST_TIMER_MS, systemClock } from '../kernel/clock';
import { type CloudEventsEnvelope, checkEnvelope, cloudEvents, type RowShape, WITHOUT_ENVELOPE } from './envelope';
import type { OutboxRowError } from './outbox-errors';
import { checkSchemaName, DEFAULT_OUTBOX_SCHEMA } from './outbox-schema';

/** How an `OutboxRelay` reads its outbox, and what it reports. */
export interface OutboxRelayOptions {
  /**
   * The schema that the outbox is in.
   * @default 'outbox'
   */
  schema?: string;
  /**
   * How many rows of a range of keys may be in flight at once. One key may have an eighth of them. The relay reads no further
   * batch until there is room. Behind a row that waits for its acknowledgement, it reads up to 16 times as many rows. Keep it
   * at most as high as the producer's `maxBufferedRecords`, so that no key fills the producer's buffer.
   * @default 10000
   */
  maxRowsInFlight?: number;
  /**
   * How many bytes of data may be in flight at once. One key may have an eighth of them. The relay reads no further batch until
   * there is room.
   * @default 33554432 (32 MiB)
   */
  maxBytesInFlight?: number;
  /**
   * How many times a rejected row is tried. Then the relay moves the row to the table `rejected`, and sends the next rows of its
   * key. A try is everything that the producer does for a record: 20 attempts unless you configure another number, or fewer if
   * the producer is aborted in between.
   * @default no limit: the key waits, and the row is tried again every minute
   */
  maxTries?: number;
  /**
   * How long a rejected row waits before it is tried again, in milliseconds. The wait doubles with each try, up to a minute. A
   * worker that takes over the rows of another worker begins with this wait.
   * @default 1000
   */
  retryMs?: number;
  /**
   * How long a statement may take, in milliseconds. Then the relay gives the connection up: it replaces a connection of a pool, and
   * with a client it ends with an `OutboxConnectionError`. The server ends the statement, too, because the relay sets
   * `statement_timeout`. After the relay was told to end, a statement may take 3 seconds.
   * @default 30000
   */
  statementTimeoutMs?: number;
  /**
   * Called for each try of a row that was rejected.
   * @default nothing: the error is in the column `last_error`, and the summary counts it
   */
  onRejected?(error: OutboxRowError): void;
  /**
   * The envelope of each record, which has the type, headers and time of its row, too.
   * @default the data of the row; its type and headers stay in the database
   */
  envelope?: { cloudEvents: CloudEventsEnvelope };
  /**
   * Called with the error when the relay connects again, after a lost connection or another error that can pass.
   * @default a warning of the process, `process.emitWarning`
   */
  onReconnect?(error: Error): void;
  /** @default the system's timers */
  clock?: Clock;
}

/** How the relay reads and saves. These are no options, because no task of a user needs them. Tests set them. */
export interface RelayTuning {
  /** How many rows a batch has at most. */
  batchRows: number;
  /** How many bytes a batch has at most. One row is read even if it is larger. */
  batchBytes: number;
  /** How often the relay looks for rows while there are none and no notification comes. */
  pollMs: number;
  /** How often progress is saved. If a worker stops, the next one sends the rows after the last save again. */
  saveMs: number;
  /** How often slots are rotated, and emptied when their rows are relayed. */
  rotateMs: number;
  /** How often a worker checks whether ranges of keys are free, and whether it holds more than others. */
  leaseMs: number;
  /** How many parked keys a range remembers. It finds the others in the table. */
  mostParkedKeys: number;
}

export type TunedRelayOptions = OutboxRelayOptions & Partial<RelayTuning>;

export type RelaySettings = RelayTuning &
  Required<Omit<OutboxRelayOptions, 'maxTries' | 'envelope'>> &
  Pick<OutboxRelayOptions, 'maxTries'> & { readonly shape: RowShape };

const MOST_PARKED_KEYS = 10_000;

const TUNING: RelayTuning = {
  batchRows: 2_000,
  batchBytes: 4 * 1024 * 1024,
  pollMs: 1_000,
  saveMs: 1_000,
  rotateMs: 30_000,
  leaseMs: 1_000,
  mostParkedKeys: MOST_PARKED_KEYS,
};

/** Checks the options, and adds the defaults of those that are absent. */
export function relaySettings({ envelope, ...options }: TunedRelayOptions): RelaySettings {
  const settings: RelaySettings = {
    ...TUNING,
    ...options,
    schema: options.schema ?? DEFAULT_OUTBOX_SCHEMA,
    maxRowsInFlight: options.maxRowsInFlight ?? 10_000,
    maxBytesInFlight: options.maxBytesInFlight ?? 32 * 1024 * 1024,
    retryMs: options.retryMs ?? 1_000,
    statementTimeoutMs: options.statementTimeoutMs ?? 30_000,
    onRejected: options.onRejected ?? (() => {}),
    onReconnect:
      options.onReconnect ?? ((error) => process.emitWarning(`the relay of an outbox connects again: ${error}`)),
    clock: options.clock ?? systemClock,
    shape: envelope === undefined ? WITHOUT_ENVELOPE : shapeOf(envelope),
  };
  checkSchemaName(settings.schema);
  checkWhole('maxRowsInFlight', settings.maxRowsInFlight, 1);
  checkWhole('maxBytesInFlight', settings.maxBytesInFlight, 1);
  if (settings.maxTries !== undefined) checkWhole('maxTries', settings.maxTries, 1);
  checkWhole('retryMs', settings.retryMs, 1, LONGEST_TIMER_MS);
  checkWhole('statementTimeoutMs', settings.statementTimeoutMs, 1, LONGEST_TIMER_MS);
  return settings;
}

function shapeOf({ cloudEvents: envelope }: { cloudEvents: CloudEventsEnvelope }): RowShape {
  checkEnvelope(envelope);
  return cloudEvents(envelope);
}
