import type { ProducerRecord } from '../producer';
import type { RecordSequence } from '../stream-format/record-sequence';
import type { Connection } from './connection';
import type { RowShape } from './envelope';
import { DATA_OF_ROW } from './first-schema';
import {
  OutboxPermissionError,
  OutboxRestoredError,
  OutboxRowSecurityError,
  OutboxSchemaError,
  OutboxSequenceError,
} from './outbox-errors';
import { OUTBOX_SCHEMA_VERSION, schemaVersion } from './outbox-schema';
import type { Batch, RangePosition, ReadRow } from './progress';

/** A row of the outbox, as the record that it becomes. */
export interface OutboxRow extends ProducerRecord {
  readonly id: bigint;
  readonly read: ReadRow;
  readonly sequence: RecordSequence;
  /** Which of several streams it goes to. */
  readonly topic?: string;
}

/** A row that waits in the table of the parked rows. */
export interface ParkedRow extends OutboxRow {
  /** How often it was tried. */
  readonly tries: number;
}

/** A key that has rows in the table of the parked rows. */
export interface KeyWithParkedRows {
  readonly partitionKey: string;
  /** How often the first of its rows was tried. */
  readonly tries: number;
}

/** A parked row that the stream has rejected. */
export interface RejectedRow {
  readonly row: OutboxRow;
  readonly error: Error;
}

/** Some rows of a batch, in order. */
export interface Window {
  readonly rows: OutboxRow[];
  /** Whether the batch has no more. */
  readonly isLast: boolean;
  /** The keys of these rows that have parked rows. Empty if the request did not look parked keys up. */
  readonly parkedKeys: readonly KeyWithParkedRows[];
}

/** A range of keys that a worker holds. */
export interface HeldRange {
  readonly number: number;
  /** The number of its lock. */
  readonly lock: number;
  readonly firstBucket: number;
  readonly lastBucket: number;
  readonly fence: string;
  readonly producerId: string;
  readonly position: RangePosition;
}

/** No row has a number as high as this one. */
const NO_ID = 2n ** 63n - 1n;

/** What Postgres says to a role without a permission. Source: its manual, error codes. */
const INSUFFICIENT_PRIVILEGE = '42501';

/** Every statement that the relay runs. */
export class OutboxDatabase {
  /** The columns of a row, but for its data. */
  private readonly columns: string;
  /** The text columns that a row is read with. Writers choose their lengths. */
  private readonly texts: readonly string[];

  /** @param shape what a row becomes besides its data; then more of each row is read */
  constructor(
    private readonly connection: Connection,
    private readonly schema: string,
    private readonly shape?: RowShape,
  ) {
    const ofEach = 'id, partition_key, explicit_hash_key::text AS explicit_hash_key';
    this.texts = shape === undefined ? ['partition_key'] : ['partition_key', 'type', 'headers', 'topic'];
    this.columns = shape === undefined ? ofEach : `${ofEach}, type, headers::jsonb AS headers, topic, created_at`;
  }

  /**
   * @throws OutboxRowSecurityError, OutboxSchemaError, OutboxPermissionError or OutboxSequenceError
   * @throws an error unless the relay can work here
   */
  async check(): Promise<void> {
    const hiding = await this.rows(
      `SELECT relname FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
         AND relkind IN ('r', 'p') AND row_security_active(oid) ORDER BY relname`,
      [this.schema],
    );
    const tables = hiding.map(({ relname }) => `${this.schema}.${relname}`);
    if (tables.length > 0) throw new OutboxRowSecurityError(await this.role(), tables);
    const version = await this.unlessDenied(() => this.version());
    if (version !== OUTBOX_SCHEMA_VERSION) throw new OutboxSchemaError(this.schema, version, OUTBOX_SCHEMA_VERSION);
    const missing = await this.missingPermissions();
    if (missing.length > 0) throw new OutboxPermissionError(await this.role(), missing, this.schema);
    const [sequence] = await this.rows(
      `SELECT cache_size FROM pg_catalog.pg_sequences WHERE schemaname = $1 AND sequencename = 'number'`,
      [this.schema],
    );
    if (Number(sequence?.cache_size ?? 1) !== 1) throw new OutboxSequenceError(this.schema, sequence.cache_size);
  }

  /** How many ranges this worker holds, and how many each of the others. It is undefined if the session has no lock of a worker. */
  async holdings(): Promise<{ mine?: number; others: number[] }> {
    const rows = await this.rows(
      `SELECT pid = pg_catalog.pg_backend_pid() AS is_mine, pg_catalog.count(number)::int AS ranges FROM (${this.locks()}) l
       LEFT JOIN ${this.schema}.range r ON r.lock = l.lock GROUP BY pid`,
      [this.schema],
    );
    return {
      mine: rows.find(({ is_mine }) => is_mine)?.ranges,
      others: rows.filter(({ is_mine }) => !is_mine).map(({ ranges }) => ranges),
    };
  }

  /**
   * Takes a range that nobody holds, until this connection ends.
   *
   * @param held those that this worker has
   * @returns undefined if there is none
   * @throws OutboxRestoredError
   */
  async claim(held: Iterable<number>): Promise<HeldRange | undefined> {
    const free = await this.rows(
      `SELECT number, lock FROM ${this.schema}.range
       WHERE lock NOT IN (SELECT lock FROM (${this.locks()}) l) AND number <> ALL($2::int[]) ORDER BY number`,
      [this.schema, [...held]],
    );
    for (const { number, lock: known } of free) {
      const lock = (await this.lock(known)) ? known : await this.lockAnew(number, known);
      if (lock === undefined) continue;
      let range: HeldRange | undefined;
      try {
        range = await this.takeOver(number, lock);
      } finally {
        if (range === undefined) await this.release({ lock });
      }
      if (range !== undefined) return range;
    }
    return undefined;
  }

  async release({ lock }: Pick<HeldRange, 'lock'>): Promise<void> {
    await this.rows('SELECT pg_catalog.pg_advisory_unlock(pg_catalog.hashtext($1::text), $2::int)', [
      this.schema,
      lock,
    ]);
  }

  private async lock(lock: number): Promise<boolean> {
    const claimed = await this.rows(
      'SELECT pg_catalog.pg_try_advisory_lock(pg_catalog.hashtext($1::text), $2::int) AS "isClaimed"',
      [this.schema, lock],
    );
    return this.connection.said(() => claimed[0].isClaimed);
  }

  /** Any role can take any lock. One that is held by a session that may not relay is not waited for: the range gets another. */
  private async lockAnew(number: number, held: number): Promise<number | undefined> {
    const [changed] = await this.rows(
      `UPDATE ${this.schema}.range SET lock = number + 64 * pg_catalog.floor(pg_catalog.random() * 33554431)::int
       WHERE number = $2 AND lock = $3 AND $3 NOT IN (SELECT lock FROM (${this.locks()}) l)
         AND EXISTS (SELECT FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND objid::bigint = $3
           AND classid::bigint = pg_catalog.hashtext($1::text)::bigint & 4294967295)
       RETURNING lock`,
      [this.schema, number, held],
    );
    return changed !== undefined && (await this.lock(changed.lock)) ? changed.lock : undefined;
  }

  /**
   * What is committed by now, as a snapshot, and whether it sees rows that `from` does not, of whatever range. A running
   * transaction may have any number, below those that a snapshot sees or above; so only the rows say where they begin.
   *
   * @returns undefined if another worker has taken the range over, or it was divided anew: who saves nothing hears it here
   */
  async look(
    { number, fence }: HeldRange,
    from: string,
  ): Promise<{ to: string; firstId: bigint; hasRows: boolean } | undefined> {
    // Without OFFSET and LIMIT the planner looks for the lowest number of all, or reads all rows, and passes those relayed.
    const rows = await this.rows(
      `SELECT seen::text AS snapshot, first_id, first_id IS NOT NULL OR seen::text <> $1 AND EXISTS (
         SELECT FROM pg_catalog.pg_snapshot_xip($1::pg_snapshot) late
         CROSS JOIN LATERAL (SELECT FROM ${this.schema}.message WHERE xid = late LIMIT 1) one
         WHERE pg_catalog.pg_visible_in_snapshot(late, seen)
       ) AS has_rows
       FROM pg_catalog.pg_current_snapshot() seen, LATERAL (
         SELECT CASE WHEN seen::text <> $1 THEN (
           SELECT pg_catalog.min(id) FROM (
             SELECT id FROM ${this.schema}.message
             WHERE xid >= pg_catalog.pg_snapshot_xmax($1::pg_snapshot) AND xid < pg_catalog.pg_snapshot_xmax(seen) OFFSET 0
           ) unseen) END AS first_id OFFSET 0
       ) first
       WHERE EXISTS (SELECT FROM ${this.schema}.range WHERE number = $2 AND fence = $3)`,
      [from, number, fence],
      'look',
    );
    if (rows.length === 0) return undefined;
    return this.connection.said(() => {
      const [{ snapshot, first_id, has_rows }] = rows;
      return { to: snapshot, firstId: BigInt(first_id ?? NO_ID), hasRows: has_rows };
    });
  }

  /** The next rows of a batch, in order. With `findsParkedKeys` it says which keys have parked rows. */
  async readWindow(
    { firstBucket, lastBucket, producerId }: HeldRange,
    { from, to, firstId }: Batch,
    { afterId, maxRows, maxBytes, findsParkedKeys }: WindowLimits & { findsParkedKeys: boolean },
  ): Promise<Window> {
    // Rows of transactions that had an id that `from` knows nothing of, by number, and of those that it knows as running.
    const found = await this.rows(
      `SELECT ${this.columns}, ${DATA_OF_ROW} AS data, bytes_before + row_bytes AS bytes_up_to, CASE WHEN $9::boolean THEN (
         SELECT p.tries FROM ${this.schema}.parked p WHERE p.partition_key = first.partition_key ORDER BY p.id LIMIT 1
       ) END AS parked_tries FROM (${firstBytes(
         this.texts,
         'coalesce(pg_catalog.octet_length(data), pg_catalog.octet_length(bytes))',
         '$8',
         `  (SELECT m.* FROM ${this.schema}.message m
            WHERE m.id >= $3::bigint AND m.id > $4::bigint AND m.bucket BETWEEN $5 AND $6
              AND m.xid >= pg_catalog.pg_snapshot_xmax($1::pg_snapshot) AND pg_catalog.pg_visible_in_snapshot(m.xid, $2::pg_snapshot)
            ORDER BY m.id LIMIT $7)
           UNION ALL
           (SELECT m.* FROM pg_catalog.pg_snapshot_xip($1::pg_snapshot) late
            CROSS JOIN LATERAL (
              SELECT * FROM ${this.schema}.message
              WHERE xid = late AND id > $4::bigint AND bucket BETWEEN $5 AND $6 ORDER BY id LIMIT $7
            ) m
            WHERE pg_catalog.pg_visible_in_snapshot(late, $2::pg_snapshot) ORDER BY m.id LIMIT $7)
           ORDER BY id LIMIT $7`,
       )}) first ORDER BY id`,
      [from, to, firstId.toString(), afterId.toString(), firstBucket, lastBucket, maxRows, maxBytes, findsParkedKeys],
      'window',
    );
    const rows = this.connection.said(() => found.map((row) => this.outboxRow(row, producerId)));
    const isLast = rows.length < maxRows && Number(found.at(-1)?.bytes_up_to ?? 0) < maxBytes;
    const ofParkedKeys = found.filter(({ parked_tries }) => parked_tries !== null);
    const parkedKeys = ofParkedKeys.map((row) => ({ partitionKey: row.partition_key, tries: row.parked_tries }));
    return { rows, isLast, parkedKeys };
  }

  /**
   * Saves how far a range is relayed, and which rows have been acknowledged since, unless another worker has taken the range
   * over: then returns false.
   */
  async save(
    { number, fence }: HeldRange,
    { from, to, afterId }: RangePosition,
    acknowledged: readonly bigint[],
  ): Promise<boolean> {
    const { lastId, text } = numbersOf(acknowledged);
    const held = await this.rows(
      `WITH saved AS (
         UPDATE ${this.schema}.range SET batch_from = $3, batch_to = $4, after_id = $5 WHERE number = $1 AND fence = $2
         RETURNING number
       ), noted AS (
         INSERT INTO ${this.schema}.ended (last_id, numbers) SELECT $6, $7 FROM saved WHERE $6::bigint IS NOT NULL
       )
       SELECT pg_catalog.count(*) = 1 AS "isHeld" FROM saved`,
      [number, fence, from, to ?? null, afterId.toString(), lastId, text],
      'save',
    );
    return this.connection.said(() => held[0].isHeld);
  }

  /**
   * Copies rows to where they wait for their key's turn, unless another worker has taken the range over: then returns
   * false. Rows that are there stay as they are.
   */
  async park({ number, fence }: HeldRange, rows: readonly OutboxRow[]): Promise<boolean> {
    // The row lock makes whoever takes the range over wait, and so see what was parked.
    const held = await this.rows(
      `WITH held AS MATERIALIZED (
         SELECT number FROM ${this.schema}.range WHERE number = $1 AND fence = $2 FOR SHARE
       ), parked AS (
         INSERT INTO ${this.schema}.parked (partition_key, id, xid, bucket, data, explicit_hash_key, type, headers, topic, created_at)
         SELECT partition_key, id, xid, bucket, ${DATA_OF_ROW}, explicit_hash_key, type, headers, topic, created_at
         FROM ${this.schema}.message, held WHERE id = ANY($3::bigint[]) ON CONFLICT DO NOTHING
       )
       SELECT pg_catalog.count(*) = 1 AS "isHeld" FROM held`,
      [number, fence, rows.map(({ id }) => id.toString())],
    );
    return this.connection.said(() => held[0].isHeld);
  }

  /**
   * Lists keys that have parked rows, ordered by the number of their first row. It returns undefined if another worker has
   * taken the range over.
   *
   * @param behindId lists only keys whose first row has a higher number
   */
  async parkedKeys(
    { number, fence, firstBucket, lastBucket }: HeldRange,
    { behindId, atMost }: { behindId: bigint; atMost: number },
  ): Promise<(KeyWithParkedRows & { firstId: bigint })[] | undefined> {
    const rows = await this.rows(
      `SELECT partition_key, tries, first_id FROM (SELECT FROM ${this.schema}.range WHERE number = $4 AND fence = $5) held
       LEFT JOIN (
         SELECT partition_key, (pg_catalog.array_agg(tries ORDER BY id))[1] AS tries, pg_catalog.min(id) AS first_id FROM ${this.schema}.parked
         WHERE bucket BETWEEN $1 AND $2 GROUP BY partition_key
         HAVING pg_catalog.min(id) > $6::bigint ORDER BY pg_catalog.min(id) LIMIT $3
       ) parked ON true ORDER BY first_id`,
      [firstBucket, lastBucket, atMost, number, fence, behindId.toString()],
    );
    if (rows.length === 0) return undefined;
    const keys = rows.filter(({ partition_key }) => partition_key !== null);
    return this.connection.said(() =>
      keys.map((row) => ({ partitionKey: row.partition_key, tries: row.tries, firstId: BigInt(row.first_id) })),
    );
  }

  /**
   * Reads the first parked rows of some keys, each key's in order, without the rows up to the key's `afterId`, where there may
   * be many dead rows. It returns undefined if another worker has taken the range over: that worker may have deleted rows that
   * it is going to send, and a key without rows would seem to have none.
   *
   * @param limits of each key: a first row that alone exceeds `maxBytes` is read. All keys together get `maxBytesOfAll`, which
   *   one row may exceed
   * @returns the rows, and the keys that have rows but did not fit into `maxBytesOfAll`
   */
  async readParked(
    { number, fence, producerId }: HeldRange,
    keys: readonly { partitionKey: string; afterId: bigint }[],
    limits: { maxRows: number; maxBytes: number; maxBytesOfAll: number },
  ): Promise<{ rows: ParkedRow[]; unreadKeys: string[] } | undefined> {
    const found = await this.rows(
      `SELECT ${this.columns}, CASE WHEN fits THEN data END AS data, tries
       FROM (SELECT FROM ${this.schema}.range WHERE number = $5 AND fence = $6) held
       LEFT JOIN (
         SELECT * FROM (
           SELECT *, pg_catalog.sum(row_bytes) OVER (ORDER BY place, id ROWS UNBOUNDED PRECEDING) - row_bytes < $7 AS fits
           FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY wanted (key, after_id, place) CROSS JOIN LATERAL (
             ${firstBytes(
               this.texts,
               'pg_catalog.octet_length(data)',
               '$4',
               `SELECT * FROM ${this.schema}.parked
              WHERE partition_key = wanted.key AND id > wanted.after_id ORDER BY id LIMIT $3`,
             )}
           ) p
         ) weighed WHERE fits OR bytes_before = 0
       ) parked ON true ORDER BY id`,
      [
        keys.map(({ partitionKey }) => partitionKey),
        keys.map(({ afterId }) => afterId.toString()),
        limits.maxRows,
        limits.maxBytes,
        number,
        fence,
        limits.maxBytesOfAll,
      ],
    );
    if (found.length === 0) return undefined;
    const ofKeys = found.filter(({ id }) => id !== null);
    const unreadKeys = ofKeys.filter(({ data }) => data === null).map(({ partition_key }) => partition_key);
    const read = ofKeys.filter(({ data }) => data !== null);
    const rows = this.connection.said(() =>
      read.map((row) => ({ ...this.outboxRow(row, producerId), tries: row.tries })),
    );
    return { rows, unreadKeys };
  }

  /** Forgets parked rows that are acknowledged. */
  async removeParked(rows: readonly OutboxRow[]): Promise<void> {
    const { lastId, text } = numbersOf(rows.map(({ id }) => id));
    await this.rows(
      `WITH removed AS (
         DELETE FROM ${this.schema}.parked p USING unnest($1::text[], $2::bigint[]) gone (partition_key, id)
         WHERE p.partition_key = gone.partition_key AND p.id = gone.id
       )
       INSERT INTO ${this.schema}.ended (last_id, numbers) VALUES ($3, $4)`,
      [rows.map(({ partitionKey }) => partitionKey), rows.map(({ id }) => id.toString()), lastId, text],
    );
  }

  /** Counts a try of each of these parked rows. One statement for all, so that no role can occupy the connection with rejected rows. */
  async countTries(rejected: readonly RejectedRow[]): Promise<void> {
    await this.rows(
      `UPDATE ${this.schema}.parked p SET tries = tries + 1, last_error = tried.error
       FROM unnest($1::text[], $2::bigint[], $3::text[]) tried (partition_key, id, error)
       WHERE p.partition_key = tried.partition_key AND p.id = tried.id`,
      columnsOf(rejected),
    );
  }

  /** Moves parked rows to the table of the rejected rows. */
  async giveUp(rejected: readonly RejectedRow[]): Promise<void> {
    await this.rows(
      `WITH gone AS (
         DELETE FROM ${this.schema}.parked p USING unnest($1::text[], $2::bigint[], $3::text[]) tried (partition_key, id, error)
         WHERE p.partition_key = tried.partition_key AND p.id = tried.id RETURNING p.*, tried.error
       )
       INSERT INTO ${this.schema}.rejected (id, partition_key, data, explicit_hash_key, type, headers, topic, created_at, tries, last_error)
       SELECT id, partition_key, data, explicit_hash_key, type, headers, topic, created_at, tries + 1, error FROM gone ON CONFLICT DO NOTHING`,
      columnsOf(rejected),
    );
  }

  /** Who numbers the rows, and the highest number that was given. */
  async lastNumber(): Promise<{ producerId: string; lastId: bigint }> {
    const rows = await this.rows(`SELECT producer_id, last_value FROM ${this.schema}.settings, ${this.schema}.number`);
    return this.connection.said(() => ({ producerId: rows[0].producer_id, lastId: BigInt(rows[0].last_value) }));
  }

  /** Rows that were sent and are still there, in order, in `maxBytes` as far as one row allows. */
  async readSent(wanted: SentRows, window: WindowLimits, producerId: string): Promise<OutboxRow[]> {
    const rows = await this.rows(
      `SELECT ${this.columns}, data FROM (${this.sent()}) s ORDER BY id`,
      sentValues(wanted, window),
    );
    return this.connection.said(() => rows.map((row) => this.outboxRow(row, producerId)));
  }

  /** Puts such rows again. It returns undefined if there are none. */
  async putAgain(wanted: SentRows, window: WindowLimits): Promise<{ rows: number; lastId: bigint } | undefined> {
    const all = (column: string): string => `pg_catalog.array_agg(${column} ORDER BY id)`;
    const rows = await this.rows(
      `SELECT last_id, ${this.schema}.put_events(keys, NULL, data, hash_keys, types, headers, topics) AS rows FROM (
         SELECT pg_catalog.max(id) AS last_id, ${all('partition_key')} AS keys, ${all('data')} AS data,
           ${all('explicit_hash_key')} AS hash_keys, ${all('type')} AS types, ${all('headers::jsonb')} AS headers,
           ${all('topic')} AS topics
         FROM (${this.sent()}) s
       ) found WHERE last_id IS NOT NULL`,
      sentValues(wanted, window),
    );
    if (rows.length === 0) return undefined;
    return this.connection.said(() => ({ rows: Number(rows[0].rows), lastId: BigInt(rows[0].last_id) }));
  }

  private sent(): string {
    return firstBytes(
      this.texts,
      'pg_catalog.octet_length(data)',
      '$7',
      `SELECT * FROM ${this.schema}.sent
         WHERE id > $1::bigint AND id <= $2::bigint AND ($3::text IS NULL OR partition_key = $3)
           AND ($4::timestamptz IS NULL OR sent_at >= $4) AND ($5::timestamptz IS NULL OR sent_at < $5)
         ORDER BY id LIMIT $6`,
    );
  }

  /** Lets new rows go to the next slot, and empties those that are relayed. */
  async rotate(): Promise<void> {
    await this.rows(`SELECT ${this.schema}.rotate()`);
  }

  /** Says whether writers are to notify, where they may. */
  async setSleeping(isSleeping: boolean): Promise<void> {
    await this.rows(
      `SELECT pg_catalog.setval('${this.schema}.sleeping', $1::bigint) FROM ${this.schema}.settings WHERE notifies OR $1::bigint = 0`,
      [isSleeping ? 1 : 0],
    );
  }

  /** The locks of workers, a row each; the schema is the first parameter. Nobody else's count, and anybody can take one. */
  private locks(): string {
    return `SELECT l.pid, l.objid::bigint AS lock FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
       WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
         AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
         AND l.classid::bigint = pg_catalog.hashtext($1::text)::bigint & 4294967295 AND l.objid::bigint > 0
         AND pg_catalog.has_table_privilege(a.usesysid, '${this.schema}.range', 'UPDATE')`;
  }

  private async takeOver(number: number, lock: number): Promise<HeldRange | undefined> {
    const [here] = await this.rows(`SELECT ${this.schema}.recognize() AS "isKnown"`);
    if (!this.connection.said(() => here.isKnown)) throw new OutboxRestoredError(this.schema);
    const [row] = await this.rows(
      `UPDATE ${this.schema}.range r SET fence = fence + 1
       FROM ${this.schema}.settings s WHERE number = $1
       RETURNING first_bucket, last_bucket, fence::text AS fence, producer_id, batch_from::text AS batch_from,
         batch_to::text AS batch_to, after_id`,
      [number],
    );
    if (row === undefined) return undefined;
    // Behind the position are rows that may not be acknowledged yet: parked rows that come after them must not pass them.
    // But what the next holder has parked, if there is one already, is not to be deleted.
    await this.rows(
      `DELETE FROM ${this.schema}.parked WHERE bucket BETWEEN $1 AND $2
         AND NOT pg_catalog.pg_visible_in_snapshot(xid, $3::pg_snapshot)
         AND ($4::pg_snapshot IS NULL OR NOT pg_catalog.pg_visible_in_snapshot(xid, $4::pg_snapshot) OR id > $5::bigint)
         AND EXISTS (SELECT FROM ${this.schema}.range WHERE number = $6 AND fence = $7)`,
      [row.first_bucket, row.last_bucket, row.batch_from, row.batch_to, row.after_id, number, row.fence],
    );
    return {
      number,
      lock,
      firstBucket: row.first_bucket,
      lastBucket: row.last_bucket,
      fence: row.fence,
      producerId: row.producer_id,
      position: {
        from: row.batch_from,
        to: (Number(row.after_id) > 0 && row.batch_to) || undefined,
        afterId: this.connection.said(() => BigInt(row.after_id)),
      },
    };
  }

  /** The version of the schema; 0 if it is not there. */
  private async version(): Promise<number> {
    try {
      return await schemaVersion(this.connection, this.schema);
    } catch (error) {
      if (error instanceof TypeError) this.connection.notAnswered(error);
      throw error;
    }
  }

  private async missingPermissions(): Promise<string[]> {
    const rows = await this.rows(
      `SELECT privilege || ' on ' || name AS missing FROM (VALUES
         ('SELECT', 'message'), ('SELECT', 'range'), ('UPDATE', 'range'), ('SELECT', 'settings'), ('SELECT', 'parked'),
         ('INSERT', 'parked'), ('UPDATE', 'parked'), ('DELETE', 'parked'), ('INSERT', 'rejected'), ('INSERT', 'ended'),
         ('SELECT', 'missing'), ('SELECT', 'sent'), ('SELECT', 'number'), ('UPDATE', 'sleeping')) needed (privilege, relation),
         LATERAL (SELECT $1 || '.' || relation AS name) n
       WHERE CASE WHEN relation IN ('number', 'sleeping') THEN NOT pg_catalog.has_sequence_privilege(name, privilege)
         ELSE NOT (pg_catalog.has_table_privilege(name, privilege) AND pg_catalog.has_table_privilege(session_user, name, privilege)) END
       UNION ALL
       SELECT 'EXECUTE on ' || p.proname FROM pg_catalog.pg_proc p
       WHERE p.pronamespace = $1::regnamespace AND p.proname IN ('rotate', 'recognize', 'verify', 'lag') AND NOT pg_catalog.has_function_privilege(p.oid, 'EXECUTE')`,
      [this.schema],
    );
    return rows.map(({ missing }) => missing);
  }

  private async unlessDenied<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if ((error as { code?: string }).code !== INSUFFICIENT_PRIVILEGE) throw error;
      throw new OutboxPermissionError(await this.role(), [(error as Error).message], this.schema, { cause: error });
    }
  }

  private async role(): Promise<string> {
    const rows = await this.rows('SELECT current_user::text AS role');
    return this.connection.said(() => rows[0].role);
  }

  private outboxRow(found: Row, producerId: string): OutboxRow {
    const { partition_key: partitionKey, data, explicit_hash_key: hashKey } = found;
    const id = BigInt(found.id);
    if (typeof partitionKey !== 'string' || !(data instanceof Uint8Array)) throw new TypeError('no row of an outbox');
    const row = {
      id,
      partitionKey,
      data,
      explicitHashKey: hashKey === null ? undefined : BigInt(hashKey),
      sequence: { producerId, sequenceNumber: id },
      read: { id, hasEnded: false },
    };
    if (this.shape === undefined) return row;
    const { type, headers, topic, created_at: createdAt } = found;
    if (!(createdAt instanceof Date)) throw new TypeError('no row of an outbox');
    return {
      ...row,
      data: this.shape.dataOf({ ...row, type: type ?? undefined, headers: headers ?? {}, createdAt }),
      ...(topic && { topic }),
    };
  }

  // biome-ignore lint/suspicious/noExplicitAny: a row's columns are the statement's
  private async rows(text: string, values: unknown[] = [], name?: string): Promise<any[]> {
    const named = name === undefined ? {} : { name: `${this.schema}_${name}` };
    return (await this.connection.query({ text, ...(values.length > 0 && { values }), ...named })).rows;
  }
}

interface Row {
  id: string | number | bigint;
  partition_key: string;
  data: Uint8Array;
  explicit_hash_key: string | null;
  type?: string | null;
  headers?: Record<string, string> | null;
  topic?: string | null;
  created_at?: Date;
}

/** Which of the rows that were sent are wanted. */
interface SentRows {
  readonly lastId: bigint;
  readonly partitionKey?: string;
  readonly sentFrom?: Date;
  readonly sentBefore?: Date;
}

interface WindowLimits {
  readonly afterId: bigint;
  readonly maxRows: number;
  readonly maxBytes: number;
}

/**
 * The first of some rows, by number, in so many bytes as far as one row allows, and the bytes before each. Every column counts
 * that is read and whose value writers choose, because thousands of rows are in memory at once.
 *
 * @param texts the columns besides the data
 * @param data the bytes of a row's data
 * @param most the parameter that says how many
 */
function firstBytes(texts: readonly string[], data: string, most: string, rows: string): string {
  const bytes = [data, ...texts.map((column) => `coalesce(pg_catalog.octet_length(${column}), 0)`)].join(' + ');
  return `SELECT * FROM (
    SELECT *, pg_catalog.sum(row_bytes) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - row_bytes AS bytes_before FROM (
      SELECT *, ${bytes} AS row_bytes FROM (${rows}) found
    ) weighed
  ) measured WHERE bytes_before < ${most}`;
}

function columnsOf(rejected: readonly RejectedRow[]): string[][] {
  return [
    rejected.map(({ row }) => row.partitionKey),
    rejected.map(({ row }) => row.id.toString()),
    rejected.map(({ error }) => storable(error.message)),
  ];
}

/** An error in characters that every database can store. */
function storable(message: string): string {
  return message.slice(0, 1_000).replace(/[^\x20-\x7e]/g, '?');
}

function sentValues({ lastId, partitionKey, sentFrom, sentBefore }: SentRows, window: WindowLimits): unknown[] {
  const times = [sentFrom, sentBefore].map((time) => time?.toISOString() ?? null);
  return [`${window.afterId}`, `${lastId}`, partitionKey ?? null, ...times, window.maxRows, window.maxBytes];
}

/** Numbers as Postgres writes a multirange of them, and the highest; nothing of no numbers. */
function numbersOf(ids: readonly bigint[]): { lastId: string | null; text: string | null } {
  if (ids.length === 0) return { lastId: null, text: null };
  const sorted = BigInt64Array.from(ids).sort();
  const ranges: string[] = [];
  let first = sorted[0]!;
  let last = first;
  for (const id of sorted) {
    if (id > last + 1n) {
      ranges.push(`[${first},${last}]`);
      first = id;
    }
    last = id;
  }
  ranges.push(`[${first},${last}]`);
  return { lastId: last.toString(), text: `{${ranges.join()}}` };
}
