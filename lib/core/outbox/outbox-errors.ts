import { EvenShardsError } from '../kernel/errors';
import { FIRST_SCHEMA_VERSION } from './outbox-schema';

/** The schema of the outbox is missing, or has another version than this library needs. */
export class OutboxSchemaError extends EvenShardsError {
  constructor(
    readonly schema: string,
    /** The version of the schema; 0 if there is no schema. */
    readonly version: number,
    readonly expectedVersion: number,
  ) {
    const advice =
      version > 0 && version < FIRST_SCHEMA_VERSION
        ? 'a build before the first release created it: relay its rows with that build, drop the schema, and run migrateOutbox'
        : 'run outboxMigrations of cdk-even-shards/outbox, or migrateOutbox';
    super(
      'OUTBOX_SCHEMA',
      `schema ${schema} must have version ${expectedVersion}, got ${version || 'no schema'}; ${advice}`,
    );
  }
}

/** A migration waited too long for a lock of another session. */
export class OutboxMigrationError extends EvenShardsError {
  constructor(
    readonly schema: string,
    options?: ErrorOptions,
  ) {
    super(
      'OUTBOX_MIGRATION',
      `the migration of schema ${schema} waited too long for a lock of another session; end the session that ` +
        `pg_locks shows, for the advisory lock (hashtext('${schema}'), -1) or a table of the schema, and migrate again`,
      options,
    );
  }
}

/** The schema belongs to another role than the role that migrates it. */
export class OutboxOwnerError extends EvenShardsError {
  constructor(
    readonly schema: string,
    readonly owner: string,
    readonly role: string,
  ) {
    super(
      'OUTBOX_OWNER',
      `schema ${schema} belongs to role ${owner}, so role ${role} does not migrate it; call SET ROLE ${owner} first if you ` +
        'trust that role, or else drop the schema',
    );
  }
}

/** The role of the relay lacks permissions. */
export class OutboxPermissionError extends EvenShardsError {
  constructor(
    readonly role: string,
    /** The missing permissions, such as `SELECT on outbox.message`. */
    readonly missing: readonly string[],
    schema: string,
    options?: ErrorOptions,
  ) {
    super(
      'OUTBOX_PERMISSION',
      `role ${role} lacks ${missing.join(', ')}; let the owner call ${schema}.grant_relay('${role}')`,
      options,
    );
  }
}

/** Row level security is active on tables of the outbox, so it would hide rows from the relay. */
export class OutboxRowSecurityError extends EvenShardsError {
  constructor(
    readonly role: string,
    /** The tables, such as `outbox.message`. */
    readonly tables: readonly string[],
  ) {
    super(
      'OUTBOX_ROW_SECURITY',
      `row level security hides rows of ${tables.join(', ')} from role ${role}; let the owner call ALTER TABLE ... DISABLE ` +
        'ROW LEVEL SECURITY on each, or give the role BYPASSRLS',
    );
  }
}

/**
 * The relay does not have its own session. Between the relay and Postgres, there is a pooler in transaction or statement mode, or
 * a proxy that rejects or loses parts of the session.
 */
export class OutboxPoolerError extends EvenShardsError {
  constructor(
    /** The part of the session that was rejected or lost, or another sign of a pooler. */
    what: string,
    options?: ErrorOptions,
  ) {
    const needs = 'the relay needs its own Postgres session, but';
    const advice = 'connect without the pooler, or use its session mode';
    const reason = options?.cause instanceof Error ? `: ${options.cause.message}` : '';
    super('OUTBOX_POOLER', `${needs} ${what}${reason}; ${advice}`, {
      ...options,
      summary: `${needs} ${what}; ${advice}`,
    });
  }
}

/** The sequence of the outbox does not number rows in the order in which they are put. */
export class OutboxSequenceError extends EvenShardsError {
  constructor(schema: string, cacheSize: string) {
    super('OUTBOX_SEQUENCE', `sequence ${schema}.number must have a cache of 1, got ${cacheSize}; call ALTER SEQUENCE`);
  }
}

/**
 * The database was restored from a dump, or belongs to another cluster than at the previous run. The saved positions are
 * transaction ids, so they are no longer valid. The relay throws this error until a person calls `restored()`.
 */
export class OutboxRestoredError extends EvenShardsError {
  constructor(schema: string) {
    super(
      'OUTBOX_RESTORED',
      `schema ${schema} was last relayed in another database or cluster, or with higher transaction ids, so it was restored; ` +
        `call ${schema}.restored() before the relay starts`,
    );
  }
}

/** The topic of a row has no stream. The key of the row waits, and other keys continue. The error contains no data of the row. */
export class OutboxTopicError extends EvenShardsError {
  constructor(
    /** Whether the row has a topic. */
    readonly hasTopic: boolean,
  ) {
    const what = hasTopic ? 'another topic' : 'no topic';
    super(
      'OUTBOX_TOPIC',
      `a row must have a topic that the relay has a producer for, got ${what}; see the column topic of the table parked`,
    );
  }
}

/** The server has been read-only for a minute: it is a replica, or is configured to be read-only. */
export class OutboxReadOnlyError extends EvenShardsError {
  constructor(options?: ErrorOptions) {
    super('OUTBOX_READ_ONLY', 'the server must accept writes, got a read-only server; connect to the primary', options);
  }
}

/** The stream rejects a row. The key of the row waits, and other keys continue. */
export class OutboxRowError extends EvenShardsError {
  readonly #partitionKey: string;

  constructor(
    /** The number of the row, its `id`. */
    readonly id: bigint,
    partitionKey: string,
    /** How many times the row was tried. */
    readonly tries: number,
    /** Whether the row was moved to the table `rejected`, so that its key continues. */
    readonly isGivenUp: boolean,
    { cause }: { cause: Error },
  ) {
    const what = `row ${id} was rejected, try ${tries}`;
    const reason = cause instanceof EvenShardsError ? cause.summary : cause.name;
    super('OUTBOX_ROW', `${what}: ${cause.message}`, { cause, summary: `${what}: ${reason}` });
    this.#partitionKey = partitionKey;
  }

  get partitionKey(): string {
    return this.#partitionKey;
  }
}

/** Another worker has taken over a key range, or the keys were divided again. */
export class OutboxLeaseError extends EvenShardsError {
  constructor(range: number) {
    super('OUTBOX_LEASE', `range ${range} is held by another worker`);
  }
}

/** The connection to Postgres was lost, or Postgres did not respond in time. */
export class OutboxConnectionError extends EvenShardsError {
  constructor(options?: ErrorOptions) {
    const problem = 'the connection to Postgres was lost';
    const reason = options?.cause instanceof Error ? `: ${options.cause.message}` : '';
    super('OUTBOX_CONNECTION', `${problem}${reason}`, { ...options, summary: problem });
  }
}

/** The stream rejected rows of a replay. Start the replay again at `firstId`. */
export class OutboxReplayError extends EvenShardsError {
  constructor(
    /** The number of the first row that may not be in the stream. */
    readonly firstId: bigint,
    options?: ErrorOptions,
  ) {
    super(
      'OUTBOX_REPLAY',
      `the stream did not accept all rows from ${firstId} on; replay again with firstId ${firstId}`,
      options,
    );
  }
}
