import { EvenShardsError } from '../kernel/errors';
import { FIRST_SCHEMA_VERSION } from './outbox-schema';

/** A database whose outbox has another schema than this library works with, or none. */
export class OutboxSchemaError extends EvenShardsError {
  constructor(
    readonly schema: string,
    /** The version that is there; 0 if there is none. */
    readonly version: number,
    readonly expectedVersion: number,
  ) {
    const advice =
      version > expectedVersion
        ? 'update cdk-even-shards'
        : version > 0 && version < FIRST_SCHEMA_VERSION
          ? 'a build before the first release made it: let that build relay its rows, drop the schema, and run migrateOutbox'
          : 'run outboxMigrations of cdk-even-shards/outbox, or migrateOutbox';
    super(
      'OUTBOX_SCHEMA',
      `schema ${schema} must have version ${expectedVersion}, got ${version || 'no schema'}; ${advice}`,
    );
  }
}

/** A migration that waited too long for a lock of another session. */
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

/** A schema that belongs to another role than the one that migrates it. */
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

/** A role that lacks permissions which the relay needs. */
export class OutboxPermissionError extends EvenShardsError {
  constructor(
    readonly role: string,
    /** What it lacks, such as `SELECT on outbox.message`. */
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

/** Tables of the outbox on which row level security is active for the role: it would hide rows from the relay. */
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
 * The relay has no session of its own. Between it and Postgres is a pooler in transaction or statement mode, or a proxy that
 * rejects or loses something of the session.
 */
export class OutboxPoolerError extends EvenShardsError {
  constructor(
    /** What was rejected or lost, or what the relay saw of the pooler. */
    what: string,
    options?: ErrorOptions,
  ) {
    const needs = 'the relay needs a session of Postgres of its own, but';
    const advice = 'connect past the pooler, or use its session mode';
    const reason = options?.cause instanceof Error ? `: ${options.cause.message}` : '';
    super('OUTBOX_POOLER', `${needs} ${what}${reason}; ${advice}`, {
      ...options,
      summary: `${needs} ${what}; ${advice}`,
    });
  }
}

/** A sequence that does not number rows in the order in which they are put. */
export class OutboxSequenceError extends EvenShardsError {
  constructor(schema: string, cacheSize: string) {
    super('OUTBOX_SEQUENCE', `sequence ${schema}.number must have a cache of 1, got ${cacheSize}; call ALTER SEQUENCE`);
  }
}

/**
 * A database that is not the one that was relayed last, but restored from its dump, or in another cluster: what its
 * transaction ids say of what was relayed is not true any more. The outbox remembers it until somebody calls `restored()`.
 */
export class OutboxRestoredError extends EvenShardsError {
  constructor(schema: string) {
    super(
      'OUTBOX_RESTORED',
      `schema ${schema} was last relayed in another database or cluster, or its transaction ids are lower than then; ` +
        `it was restored: call ${schema}.restored() before the relay starts`,
    );
  }
}

/** A row whose topic has no stream. Its key waits, other keys go on. The error has no data of the row. */
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

/** A server that has taken no write for a minute: a replica, or one that was told to. */
export class OutboxReadOnlyError extends EvenShardsError {
  constructor(options?: ErrorOptions) {
    super('OUTBOX_READ_ONLY', 'the server must take writes, got one that is read-only; name the primary', options);
  }
}

/** A row that the stream does not take. Its key waits, other keys go on. */
export class OutboxRowError extends EvenShardsError {
  readonly #partitionKey: string;

  constructor(
    /** The row's number, its `id`. */
    readonly id: bigint,
    partitionKey: string,
    /** How often it was tried. */
    readonly tries: number,
    /** Whether it was moved to the table of the rejected rows, so that its key goes on. */
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

/** A range of keys that another worker has taken over, or that was divided anew. */
export class OutboxLeaseError extends EvenShardsError {
  constructor(range: number) {
    super('OUTBOX_LEASE', `range ${range} is held by another worker`);
  }
}

/** A connection to Postgres that was lost, or that gave no answer in time. */
export class OutboxConnectionError extends EvenShardsError {
  constructor(options?: ErrorOptions) {
    super('OUTBOX_CONNECTION', 'the connection to Postgres was lost', options);
  }
}

/** A replay that the stream has not taken: begin again at the number that it names. */
export class OutboxReplayError extends EvenShardsError {
  constructor(
    /** The first number that may not be in the stream. */
    readonly firstId: bigint,
    options?: ErrorOptions,
  ) {
    super(
      'OUTBOX_REPLAY',
      `the stream did not take all rows from ${firstId} on; replay again with firstId ${firstId}`,
      options,
    );
  }
}
