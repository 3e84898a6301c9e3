import type { Client } from 'pg';
import { migrateOutbox, OutboxRelay, type RecordSink } from '../../lib/core/outbox';
import type { TunedRelayOptions } from '../../lib/core/outbox/relay-options';
import type { FakeKinesis } from '../../lib/testing/fake-kinesis';
import { seededRandom } from '../../lib/testing/seeded-random';
import { describeOnPostgres } from '../support/postgres/describe-on-postgres';
import { PostgresServer } from '../support/postgres/postgres-server';
import {
  producerFor,
  FAST as QUICK,
  RunningRelays,
  realTimeKinesis,
  recordsIn,
  textsIn,
  until,
} from '../support/postgres/relays';
import { tuned } from '../support/postgres/tuned';

const FAST: TunedRelayOptions = { ...QUICK, rotateMs: 50 };

describeOnPostgres('an outbox in a shared database', () => {
  let server: PostgresServer;
  let owner: Client;
  let url: string;
  let databases = 0;
  let kinesis: FakeKinesis;
  let reconnects = 0;
  const relays = new RunningRelays();
  const connections: Client[] = [];

  beforeAll(async () => {
    server = await PostgresServer.start(['wal_level=logical']);
    const admin = await server.connect();
    await admin.query("CREATE ROLE writer LOGIN PASSWORD 'writer'; CREATE ROLE relay LOGIN PASSWORD 'relay'");
    await admin.end();
  }, 60_000);
  afterAll(() => server?.stop());
  beforeEach(async () => {
    databases += 1;
    url = await server.createDatabase(`shared_${databases}`);
    owner = await connect('postgres');
    await migrateOutbox(owner);
    await owner.query("SELECT outbox.grant_put('writer'), outbox.grant_relay('relay')");
    kinesis = realTimeKinesis({ shardCount: 16 });
    reconnects = 0;
  });
  afterEach(async () => {
    await relays.stop();
    await Promise.all(connections.splice(0).map((connection) => connection.end()));
  });

  const urlOf = (role: string): string =>
    role === 'postgres' ? url : server.urlOf(`shared_${databases}`, { user: role, password: role });

  async function connect(role: string): Promise<Client> {
    const connection = await server.connect(urlOf(role));
    connections.push(connection);
    return connection;
  }

  function start(): Promise<unknown> {
    const onReconnect = () => {
      reconnects += 1;
    };
    const options = { ...FAST, onReconnect };
    return relays.start(new OutboxRelay(server.pool(urlOf('relay')), producerFor(kinesis), options)).ended;
  }

  const records = () => recordsIn(kinesis);
  const count = async (table: string) =>
    (await owner.query(`SELECT count(*)::int AS rows FROM outbox.${table}`)).rows[0].rows;

  test('works if a publication for all tables exists before the relay starts, or is created while the relay runs', async () => {
    await owner.query('CREATE PUBLICATION everything FOR ALL TABLES');
    const calls = [
      'accept_records_of(2097152)',
      "retain('1 hour')",
      "retain('0')",
      'notify(true)',
      'recognize()',
      'restored()',
      'divide(2)',
      'verify()',
      'rotate()',
    ];
    for (const call of calls) await owner.query(`SELECT outbox.${call}`);
    start();
    for (let n = 0; n < 100; n++) await owner.query('SELECT outbox.put($1, $2)', [`key ${n % 3}`, `${n}`]);
    await until(() => records().length === 100);
    await owner.query('DROP PUBLICATION everything; CREATE PUBLICATION again FOR ALL TABLES');
    await owner.query("SELECT outbox.put('k', 'after')");
    await until(async () => records().length === 101 && (await count('message')) === 0 && (await count('ended')) === 0);
    expect(reconnects).toBe(0);
  });

  test('relays rows and empties its slots while another role holds the advisory locks of the outbox', async () => {
    const { rows } = await owner.query('SELECT lock FROM outbox.range');
    const locks = [-2, -1, 0, 1, rows[0].lock];
    const other = await connect('writer');
    await other.query("SELECT pg_advisory_lock(hashtext('outbox'), n) FROM unnest($1::int[]) n", [locks]);
    start();
    for (let n = 0; n < 10; n++) await owner.query('SELECT outbox.put($1, $2)', ['k', `${n}`]);
    await until(async () => records().length === 10 && (await count('message')) === 0);
  });

  test('rejects headers of more than 16,384 bytes, and does not count their white space', async () => {
    const writer = await connect('writer');
    const run = (headers: string) => writer.query(`SELECT outbox.put('k', 'x', headers => $1::jsonb)`, [headers]);
    // Postgres writes the headers as {"a": "..."}, which has nine bytes in addition to the value.
    await run(`{"a":"${'x'.repeat(16_375)}"}${' '.repeat(50_000)}`);
    await expect(run(`{"a":"${'x'.repeat(16_376)}"}`)).rejects.toThrow('headers must have at most 16384 bytes');
    const { rows } = await owner.query('SELECT max(octet_length(headers)) AS bytes FROM outbox.message');
    expect(rows).toEqual([{ bytes: 16_384 }]);
  });

  test('the relay counts the bytes of all columns when it reads a batch, so rows with large headers come in small batches', async () => {
    const writer = await connect('writer');
    await writer.query(
      `SELECT outbox.put(repeat('😀', 126) || n, 'x', 7, repeat('😀', 256), json_build_object('a', repeat('x', 16375)),
         repeat('t', 256)) FROM generate_series(1, 60) n`,
    );
    const batches: number[] = [];
    const pool = server.pool(urlOf('relay'));
    pool.on('connect', (connection) => {
      const query = connection.query.bind(connection) as (statement: { text: string }) => Promise<{ rows: object[] }>;
      connection.query = (async (statement: { text: string; name?: string }) => {
        const found = await query(statement);
        if (statement.name?.includes('readBatch')) batches.push(found.rows.length);
        return found;
      }) as never;
    });
    const options = tuned({ ...FAST, batchBytes: 500_000, envelope: { cloudEvents: { source: '/s' } } });
    relays.start(new OutboxRelay(pool, { ['t'.repeat(256)]: producerFor(kinesis) }, options));
    await until(() => records().length === 60);
    // A row has 16,384 bytes of headers, 506 to 511 bytes of key, 1,024 bytes of type, 256 bytes of topic and 1 byte of data.
    expect(Math.max(...batches)).toBe(Math.ceil(500_000 / (16_384 + 507 + 1_024 + 256 + 1)));
  });

  test('if the stream rejects more keys than a worker can park in memory, relays the rows of the other keys, and later relays every rejected row in order', async () => {
    const random = seededRandom(1);
    const writer = await connect('writer');
    const put = (rows: readonly [key: string, data: number][]): Promise<unknown> =>
      writer.query('SELECT outbox.put(k, d::text) FROM unnest($1::text[], $2::int[]) rows (k, d)', [
        rows.map(([key]) => key),
        rows.map(([, data]) => data),
      ]);
    let isAccepting = false;
    const sent = new Map<string, number[]>();
    const stream: RecordSink = {
      putAll: async (rows, observer) => {
        const rejected = new Set<string>();
        for await (const row of rows) {
          const isRejected = rejected.has(row.partitionKey) || random() < 0.8;
          if (!isAccepting && row.partitionKey.startsWith('rejected') && isRejected) {
            rejected.add(row.partitionKey);
            observer?.rejected?.(0, row, new Error('rejected'));
          } else {
            const seen = sent.get(row.partitionKey) ?? [];
            const number = Number(Buffer.from(row.data));
            // If a relay ends while the stream rejects a row, the next relay sends the later rows again. Consumers drop
            // these duplicates.
            if (number > (seen.at(-1) ?? 0)) sent.set(row.partitionKey, [...seen, number]);
            observer?.delivered?.(0, row, { shardId: '0', sequenceNumber: '1', attempts: 1 });
          }
        }
        return { delivered: 0, rejected: 0 };
      },
    };
    const run = () => {
      const options = { ...FAST, batchRows: 1 + Math.floor(random() * 30), mostParkedKeys: 20 };
      return relays.start(new OutboxRelay(server.pool(urlOf('relay')), stream, options));
    };
    const keys = Array.from({ length: 60 }, (_, index) => `rejected ${index}`);
    let relay = run();
    for (let round = 0; round < 4; round++) {
      // A round puts three rows of each key, so the relay reads batches while it parks and forgets keys.
      const numbers = [1, 2, 3].map((nth) => 3 * round + nth);
      const rows = numbers.flatMap((nth) =>
        keys.toSorted(() => random() - 0.5).map((key) => [key, nth] as [string, number]),
      );
      await put(rows);
      await put([[`accepted ${round}`, 1]]);
      await until(() => sent.has(`accepted ${round}`));
      if (random() < 0.5) continue;
      await relay.stop();
      relay = run();
    }
    isAccepting = true;
    await until(() => [...sent.values()].flat().length >= 4 * (3 * keys.length + 1));
    await relay.stop();
    const inOrder = Array.from({ length: 12 }, (_, index) => index + 1);
    for (const key of keys) expect([key, sent.get(key)]).toEqual([key, inOrder]);
    expect([await count('parked'), await count('rejected')]).toEqual([0, 0]);
  }, 30_000);

  test('if each waiting row of 40 parked keys is larger than batchBytes, the relay reads one row for each putAll, and retries each key', async () => {
    const writer = await connect('writer');
    await writer.query(`SELECT outbox.put('large ' || n, repeat('x', 200000)) FROM generate_series(1, 40) n`);
    const rowsOfPuts: number[] = [];
    const stream: RecordSink = {
      putAll: async (rows, observer) => {
        let read = 0;
        for await (const row of rows) {
          read += 1;
          observer?.rejected?.(0, row, new Error('rejected'));
        }
        if (read > 0) rowsOfPuts.push(read);
        return { delivered: 0, rejected: read };
      },
    };
    const rejected = new Set<string>();
    const onRejected = ({ partitionKey }: { partitionKey: string }): void => void rejected.add(partitionKey);
    const options = tuned({ ...FAST, batchBytes: 100_000, onRejected });
    const relay = relays.start(new OutboxRelay(server.pool(urlOf('relay')), stream, options));
    await until(() => rejected.size === 40);
    await relay.stop();
    expect(Math.max(...rowsOfPuts)).toBe(1);
  });

  test('grant_relay grants only the privileges that the relay uses', async () => {
    const { rows } = await owner.query(
      `SELECT relname AS name, string_agg(privilege_type, ', ' ORDER BY privilege_type) AS rights
       FROM pg_class c, aclexplode(c.relacl) a WHERE relnamespace = 'outbox'::regnamespace AND grantee = 'relay'::regrole
       GROUP BY 1 ORDER BY 1`,
    );
    expect(Object.fromEntries(rows.map(({ name, rights }) => [name, rights]))).toEqual({
      ended: 'INSERT',
      message: 'SELECT',
      missing: 'SELECT',
      number: 'SELECT',
      parked: 'DELETE, INSERT, SELECT, UPDATE',
      range: 'SELECT, UPDATE',
      rejected: 'INSERT',
      sent: 'SELECT',
      settings: 'SELECT',
      sleeping: 'UPDATE',
    });
  });

  test('stores a key of any type as its text, with each function that puts events', async () => {
    await owner.query("CREATE TYPE mood AS ENUM ('happy')");
    for (const key of [
      'gen_random_uuid()',
      '9007199254740993::bigint',
      "'v'::varchar(40)",
      '7',
      "'happy'::mood",
      "'k'",
    ]) {
      await owner.query(`CREATE TABLE keys AS SELECT ${key} AS key`);
      await owner.query('SELECT outbox.put(key, $1), outbox.lock(ARRAY[key]) FROM keys', ['x']);
      await owner.query("SELECT outbox.put_all(ARRAY[key], ARRAY['x']) FROM keys");
      await owner.query("INSERT INTO outbox.message (partition_key, data) SELECT key, 'x' FROM keys");
      const { rows } = await owner.query(
        'SELECT count(*)::int AS rows FROM outbox.message, keys WHERE partition_key = key::text',
      );
      expect([key, rows]).toEqual([key, [{ rows: 3 }]]);
      await owner.query('DROP TABLE keys');
    }
  });

  test('stores a text unchanged, with each function that puts events and with each type that can hold the text', async () => {
    const texts = ['plain', '{"path":"C:\\\\temp"}', '{"re":"\\\\d+"}', '\\x41', '\\', '{"a" : 1.10,"a":2}', '😀', ''];
    for (const text of texts) {
      const types = ['text', 'varchar', ...(text.startsWith('{') ? ['json'] : [])];
      const calls: [string, unknown[]][] = [
        ['SELECT outbox.put($1, $2)', [text, text]],
        ['SELECT outbox.put_all($1, $2)', [[text], [text]]],
        ['INSERT INTO outbox.message (partition_key, data) VALUES ($1, $2)', [text, text]],
        ...types.flatMap((type): [string, unknown[]][] => [
          [`SELECT outbox.put($1, $2::${type})`, [text, text]],
          [`SELECT outbox.put_all($1, $2::${type}[])`, [[text], [text]]],
          [`INSERT INTO outbox.message (partition_key, data) VALUES ($1, $2::${type})`, [text, text]],
        ]),
      ];
      for (const [sql, [key, data]] of calls) {
        const keyed = text === '' ? (Array.isArray(key) ? ['empty'] : 'empty') : key;
        await owner.query(sql, [keyed, data]);
      }
    }
    const expected = texts.flatMap((text) => Array<string>(text.startsWith('{') ? 12 : 9).fill(text));
    const { rows } = await owner.query('SELECT data FROM outbox.message ORDER BY id');
    expect(rows.map(({ data }) => data)).toEqual(expected);
    start();
    await until(() => records().length === expected.length);
    expect(textsIn(kinesis).toSorted()).toEqual(expected.toSorted());
  });

  test('stores bytes that are not UTF-8, with each function that puts events', async () => {
    const bytes = Buffer.from([0, 255, 92]);
    await owner.query('SELECT outbox.put($1, $2::bytea)', ['k', bytes]);
    await owner.query('SELECT outbox.put_all($1, $2::bytea[])', [['k'], [bytes]]);
    await owner.query('INSERT INTO outbox.message (partition_key, bytes) VALUES ($1, $2)', ['k', bytes]);
    start();
    await until(() => records().length === 3);
    expect(records().map(({ data }) => Buffer.from(data))).toEqual([bytes, bytes, bytes]);
  });

  test.each(['on', 'off'])(
    'warns only about a text that looks like bytea in hexadecimal, with standard_conforming_strings %s',
    async (strings) => {
      const warnings: unknown[] = [];
      owner.on('notice', ({ severity, message }) => warnings.push([severity, message]));
      await owner.query(`SET standard_conforming_strings = ${strings}; SET escape_string_warning = off`);
      for (const text of ['plain', '{"a":"\\x41"}', '\\\\x41', '\\x4', '\\x4g', 'x41', ' \\x41', '\\x41']) {
        await owner.query('SELECT outbox.put($1, $2)', ['k', text]);
        await owner.query('SELECT outbox.put_all($1, $2)', [['k'], [text]]);
        await owner.query('INSERT INTO outbox.message (partition_key, data) VALUES ($1, $2)', ['k', text]);
      }
      await owner.query('SELECT outbox.put($1, $2::bytea)', ['k', Buffer.from('\\x41')]);
      const { rows } = await owner.query('SELECT data FROM outbox.message ORDER BY id DESC LIMIT 2');
      expect(rows).toEqual([{ data: null }, { data: '\\x41' }]);
      expect(warnings).toEqual([1, 2, 3].map(() => ['WARNING', 'data is a text that looks like bytes in hexadecimal']));
    },
  );

  test.each(['{"a":"b"}', null])(
    'stores the headers %j as JSON, with each way to put an event and each type of the headers',
    async (headers) => {
      for (const type of ['', '::text', '::varchar', '::json', '::jsonb']) {
        await owner.query(`SELECT outbox.put('k', 'x', headers => $1${type})`, [headers]);
        await owner.query(`SELECT outbox.put('k', 'x', NULL, 't', $1${type}, 'topic')`, [headers]);
        await owner.query(`INSERT INTO outbox.message (partition_key, data, headers) VALUES ('k', 'x', $1${type})`, [
          headers,
        ]);
        const array = type === '' ? '' : `${type}[]`;
        await owner.query(`SELECT outbox.put_all('{k}', '{x}', headers => $1${array})`, [
          headers === null ? null : [headers],
        ]);
      }
      const { rows } = await owner.query(
        'SELECT DISTINCT headers::jsonb AS headers, count(*)::int AS rows FROM outbox.message GROUP BY 1',
      );
      expect(rows).toEqual([{ headers: headers === null ? null : { a: 'b' }, rows: 20 }]);
    },
  );

  test('empties the other slots while the transaction of a put stays open', async () => {
    const idle = await connect('writer');
    await idle.query("BEGIN; SELECT outbox.put('idle', 'late')");
    start();
    for (let round = 1; round <= 6; round++) {
      for (let n = 0; n < 5; n++) await owner.query("SELECT outbox.put('k', 'x')");
      // Slot 0 keeps its rows, because the open transaction has written to it.
      await until(async () => records().length === 5 * round && (await count('message WHERE slot <> 0')) === 0);
      await until(async () => (await count('slot WHERE last_value <> 0')) === 1);
    }
    await idle.query('COMMIT');
    await until(() => records().length === 31);
  });

  test('if the sequence of a database copy returns numbers that rows already have, sends every event of the copy', async () => {
    await owner.query("SELECT outbox.put('k', n::text) FROM generate_series(1, 5) n");
    await owner.query("SELECT setval('outbox.number', 1, false); SELECT outbox.restored()");
    await owner.query("SELECT outbox.put('k', n::text) FROM generate_series(6, 10) n");
    start();
    await until(() => records().length === 10);
    const numbers = new Set(records().map(({ sequence }) => sequence?.sequenceNumber));
    expect(numbers.size).toBe(10);
    expect((await owner.query('SELECT missing_rows::int AS missing FROM outbox.verify()')).rows).toEqual([
      { missing: 0 },
    ]);
  });

  test('records its database in the migration, so the relay refuses a copy of an outbox that was never relayed', async () => {
    await owner.query("UPDATE outbox.settings SET cluster = replace(cluster, '/', '/1')");
    await owner.query("SELECT outbox.put('k', 'x')");
    await expect(start()).rejects.toMatchObject({ code: 'OUTBOX_RESTORED' });
  });

  test('grant_put revokes the default privileges that other roles have after a restore of a dump without privileges', async () => {
    await owner.query('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA outbox TO PUBLIC');
    await owner.query("SELECT outbox.grant_put('writer')");
    const writer = await connect('writer');
    for (const call of ['rotate()', 'verify()', 'restored()', "grant_relay('writer')"]) {
      await expect(writer.query(`SELECT outbox.${call}`)).rejects.toThrow('permission denied');
    }
    await writer.query("SELECT outbox.put('k', 'x')");
  });

  test('stores the same text for a key, whatever the settings of the session are', async () => {
    const keys = {
      "'2026-02-01'::date": ["DateStyle = 'German'", "DateStyle = 'SQL, DMY'"],
      "'2026-02-01 12:00+00'::timestamptz": ["TimeZone = 'Asia/Tokyo'", "DateStyle = 'Postgres'"],
      "'1 day'::interval": ["IntervalStyle = 'iso_8601'"],
      '0.1::float8 + 0.2::float8': ['extra_float_digits = 0'],
      "'\\x00ff'::bytea": ["bytea_output = 'escape'"],
    };
    for (const [key, settings] of Object.entries(keys)) {
      await owner.query('DELETE FROM outbox.message');
      for (const setting of ['DateStyle = DEFAULT', ...settings]) {
        await owner.query(`SET ${setting}`);
        await owner.query(`SELECT outbox.put(${key}, 'x'), outbox.put_all(ARRAY[${key}], ARRAY['x'])`);
      }
      await owner.query('RESET ALL');
      const { rows } = await owner.query('SELECT DISTINCT partition_key FROM outbox.message');
      expect([key, rows.length]).toEqual([key, 1]);
    }
  });

  test.each(['LATIN1', 'SQL_ASCII'])(
    'parks a row whose error cannot be stored in a database with the encoding %s',
    async (encoding) => {
      databases += 1;
      await owner.query(`CREATE DATABASE shared_${databases} ENCODING ${encoding} LOCALE 'C' TEMPLATE template0`);
      url = server.urlOf(`shared_${databases}`);
      const other = await connect('postgres');
      await migrateOutbox(other);
      await other.query("SELECT outbox.grant_relay('relay')");
      kinesis.putRecords = async () => {
        throw Object.assign(new Error('no \u{1f600}\0'), {
          name: 'ValidationException',
          $metadata: { httpStatusCode: 400 },
        });
      };
      await other.query("SELECT outbox.put('k', 'x')");
      const ended = start();
      await until(async () => {
        const { rows } = await other.query('SELECT last_error FROM outbox.parked WHERE tries > 1');
        return rows.length === 1 && rows[0].last_error.includes('no ??');
      });
      expect(await Promise.race([ended, 'still running'])).toBe('still running');
    },
  );

  test('in a database that does not check encodings, each column rejects text that is not UTF-8', async () => {
    databases += 1;
    await owner.query(`CREATE DATABASE shared_${databases} ENCODING SQL_ASCII LOCALE 'C' TEMPLATE template0`);
    url = server.urlOf(`shared_${databases}`);
    const other = await connect('postgres');
    await migrateOutbox(other);
    await other.query("SET client_encoding = 'SQL_ASCII'");
    for (const put of [
      "put(E'\\xc3', 'x')",
      "put('k', E'\\xc3')",
      "put('k', 'x', type => E'\\xc3', topic => E'\\xa9')",
      "put('k', 'x', headers => E'{\"a\":\"\\xc3\"}'::text)",
    ]) {
      await expect(other.query(`SELECT outbox.${put}`)).rejects.toMatchObject({ code: '22021' });
    }
  });
});
