import { checkWhole } from '../kernel/checks';
import { type Clock, LONGEST_TIMER_MS, systemClock } from '../kernel/clock';
import { type CloudEventsEnvelope, checkEnvelope, cloudEvents, type RowShape, WITHOUT_ENVELOPE } from './envelope';
import type { OutboxRowError } from './outbox-errors';
import { checkSchemaName, DEFAULT_OUTBOX_SCHEMA } from './outbox-schema';

/** Options of an `OutboxRelay`. */
export interface OutboxRelayOptions {
  /**
   * The schema of the outbox.
   * @default 'outbox'
   */
  schema?: string;
  /**
   * How many rows of a key range may be in flight. One key may have an eighth of these rows. At the limit, the relay reads no
   * further batch. While a row is not acknowledged, the relay reads up to 16 times this number of later rows. Set this option to
   * at most the producer's `maxBufferedRecords`, so that no key fills the producer's buffer.
   * @default 10000
   */
  maxRowsInFlight?: number;
  /**
   * How many bytes of data may be in flight. One key may have an eighth of these bytes. At the limit, the relay reads no further
   * batch.
   * @default 33554432 (32 MiB)
   */
  maxBytesInFlight?: number;
  /**
   * How many times a rejected row is tried. Then the relay moves the row to the table `rejected`, and sends the next rows of its
   * key. A try includes all attempts of the producer: 20 by default, or fewer if the producer is aborted.
   * @default no limit: the key waits, and the row is tried again every minute
   */
  maxTries?: number;
  /**
   * How long a rejected row waits before it is tried again, in milliseconds. The wait doubles with each try, up to a minute.
   * After another worker has taken over the key range, that worker begins with this wait again.
   * @default 1000
   */
  retryMs?: number;
  /**
   * How long a statement may take, in milliseconds. After that time the relay drops the connection. With a pool it uses a new
   * connection, and with a client it ends with an `OutboxConnectionError`. The server cancels the statement, too, because the
   * relay sets `statement_timeout`. After the signal has aborted, the timeout is 3 seconds.
   * @default 30000
   */
  statementTimeoutMs?: number;
  /**
   * Called each time that the stream rejects a row.
   * @default nothing: the error is in the column `last_error`, and the summary counts it
   */
  onRejected?(error: OutboxRowError): void;
  /**
   * The envelope of each record, which includes the type, the headers and the time of its row.
   * @default the data of the row; its type and headers stay in the database
   */
  envelope?: { cloudEvents: CloudEventsEnvelope };
  /**
   * Called with the error when the relay connects again, after a lost connection or another transient error.
   * @default a warning of the process, `process.emitWarning`
   */
  onReconnect?(error: Error): void;
  /** @default the system's timers */
  clock?: Clock;
}

/** Settings that only tests change. */
interface RelayTuning {
  /** The maximum number of rows of a batch. */
  batchRows: number;
  /** The maximum number of bytes of a batch. The first row is read even if it is larger. */
  batchBytes: number;
  /** The time between two polls for rows while there are no rows and no notifications. */
  pollMs: number;
  /**
   * The time between two saves of the position. If a worker crashes, the next worker sends the rows after the latest save again.
   */
  saveMs: number;
  /**
   * The time between two rotations of the three slots of the table `message`. A rotation truncates each slot whose rows are all
   * relayed.
   */
  rotateMs: number;
  /**
   * The time between two checks for free key ranges. In a check, a worker also compares its number of ranges with the numbers of
   * other workers.
   */
  leaseMs: number;
  /** How many parked keys a range keeps in memory. The relay reads the other keys from the table `parked`. */
  mostParkedKeys: number;
}

export type TunedRelayOptions = OutboxRelayOptions & Partial<RelayTuning>;

export type RelaySettings = RelayTuning &
  Required<Omit<OutboxRelayOptions, 'maxTries' | 'envelope'>> &
  Pick<OutboxRelayOptions, 'maxTries'> & { readonly shape: RowShape };

const MAX_PARKED_KEYS = 10_000;

const TUNING: RelayTuning = {
  batchRows: 2_000,
  batchBytes: 4 * 1024 * 1024,
  pollMs: 1_000,
  saveMs: 1_000,
  rotateMs: 30_000,
  leaseMs: 1_000,
  mostParkedKeys: MAX_PARKED_KEYS,
};

/** Checks the options, and sets the defaults of absent options. */
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
