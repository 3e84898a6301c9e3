import type { Client } from 'cassandra-driver';
import {
  type CqlClient,
  type CqlRow,
  KEYSPACES_WRITE_OPTIONS,
  reshardRows,
  shardColumns,
} from '../../../lib/core/keyspaces';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { FakeCassandra } from '../../support/fakes/fake-cassandra';
import { FakeRowTable } from '../../support/fakes/fake-row-table';
import { keyspacesConfig } from '../../support/keyspaces-config';
import { randomRuns } from '../../support/random-runs';
import { cassandraForTests } from './cassandra';

/** Sends the same random statements to the fake tables and to Apache Cassandra, and compares the results. */

const TABLE = '"calls"."blogs"';
const KEY = ['day', 'shard', 'title', 'version'];
const CALLS = 90;

/** Source: the CQL binary protocol, section 9. */
const PROTOCOL_ERROR = 0xa;

const server = cassandraForTests('calls');
let client: Client;
let cassandra: CqlClient;

beforeAll(async () => {
  client = server.client;
  cassandra = client as unknown as CqlClient;
  await client.execute(`CREATE TABLE ${TABLE} (
    day text, shard int, title text, version int, note text STATIC, body text, PRIMARY KEY ((day, shard), title, version)
  ) WITH CLUSTERING ORDER BY (title ASC, version DESC)`);
});

interface Answer {
  rows?: CqlRow[];
  next?: string;
  errorCode?: unknown;
}

/** Executes a statement. Returns the rows, or the code of the error. */
async function execute(of: CqlClient, query: string, parameters: unknown[], pageState?: string): Promise<Answer> {
  try {
    const options = { ...KEYSPACES_WRITE_OPTIONS, fetchSize: 3, ...(pageState && { pageState }) };
    const { rows = [], pageState: next } = await of.execute(query, parameters, options);
    return { rows: rows.map((row) => ({ ...row })), ...(next && { next }) };
  } catch (error) {
    const { code, name } = error as { code: unknown; name: string };
    return { errorCode: code ?? name };
  }
}

/** Reads all pages. Leaves out the last page if it is empty. */
async function pagesOf(of: CqlClient, query: string, parameters: unknown[]) {
  const pages: CqlRow[][] = [];
  for (let state: string | undefined; ; ) {
    const { rows = [], next, errorCode } = await execute(of, query, parameters, state);
    if (errorCode !== undefined) return { errorCode };
    if (rows.length > 0) pages.push(rows);
    if (next === undefined) return { pages };
    state = next;
  }
}

/** Timestamps that clients send, in microseconds. */
const PAST = 1_000;
const FUTURE = 4_000_000_000_000_000;

/**
 * Returns timestamps of clients unchanged. Returns the same text for all timestamps of the server, because these
 * timestamps differ between the fake and Cassandra.
 */
function ageOf(time: unknown): unknown {
  const number = Number(time);
  return time === null || number < 2 * PAST || number >= FUTURE ? time && number : 'of the server';
}

class Dice {
  constructor(private readonly random: () => number) {}

  below(count: number): number {
    return Math.floor(this.random() * count);
  }

  among<T>(...values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  key(): CqlRow {
    return { ...this.partition(), title: this.among('a', 'ab', 'b', 'ä'), version: this.below(3) - 1 };
  }

  partition(): CqlRow {
    return { day: this.among('d', 'e'), shard: this.below(2) };
  }
}

function insertOf(row: CqlRow): [string, unknown[]] {
  const names = Object.keys(row);
  const columns = names.map((name) => `"${name}"`).join(', ');
  return [`INSERT INTO ${TABLE} (${columns}) VALUES (${names.map(() => '?').join(', ')})`, Object.values(row)];
}

function equal(names: readonly string[]): string {
  return names.map((name) => `"${name}" = ?`).join(' AND ');
}

/** A valid or invalid SELECT of a partition, with duplicate bounds, misplaced bounds, other columns and any order. */
function selectOf(dice: Dice): [string, unknown[]] {
  const terms: [string, unknown][] = Object.entries(dice.partition()).map(([name, value]) => [`"${name}" = ?`, value]);
  if (dice.below(12) === 0) terms.splice(dice.below(2), 1);
  for (const name of ['title', 'version']) {
    for (let bounds = dice.below(3); bounds > 0; bounds--) {
      terms.push([`"${name}" ${dice.among('=', '=', '<', '<=', '>', '>=')} ?`, dice.key()[name]]);
    }
  }
  if (dice.below(12) === 0) terms.push(['"body" = ?', 'x']);
  // Sometimes a parameter is null, or is a value that the driver leaves unset.
  if (dice.below(15) === 0) terms[dice.below(terms.length)]![1] = dice.among(null, undefined);
  const order = dice.among('', '', ' ORDER BY "title" DESC, "version" ASC', ' ORDER BY "title" DESC, "version" DESC');
  const query = `SELECT "title", "version", "body" FROM ${TABLE} WHERE ${terms.map(([term]) => term).join(' AND ')}${order}`;
  return [query, terms.map(([, value]) => value)];
}

const bytes = (text: string) => Buffer.from(text);
const TITLE = { name: 'title', order: 'ASC', compare: (a: string, b: string) => bytes(a).compare(bytes(b)) } as const;
const VERSION = { name: 'version', order: 'DESC', compare: (a: string, b: string) => Number(a) - Number(b) } as const;

describe('random statements on a table', () => {
  beforeEach(async () => void (await client.execute(`TRUNCATE ${TABLE}`)));

  const seeds = Array.from({ length: randomRuns(20) }, (_, seed) => [seed]);

  test.each(seeds)(
    'FakeCassandra responds to a SELECT of a partition as Apache Cassandra does: seed %d',
    async (seed) => {
      const dice = new Dice(seededRandom(seed));
      const fake = new FakeCassandra({ partitionKey: ['day', 'shard'], clusteringColumns: [TITLE, VERSION] });
      for (let call = 0; call < CALLS; call++) {
        // The first statements only insert rows, so that a partition has several pages.
        const what = call < CALLS / 3 ? 0 : dice.below(6);
        const row: CqlRow = { ...dice.key(), body: dice.among('x', 'y', null) };
        if (what === 0) {
          fake.insert(row);
          await client.execute(...insertOf(row), KEYSPACES_WRITE_OPTIONS);
        } else if (what === 1) {
          fake.delete(row);
          const key = KEY.map((name) => row[name]);
          await client.execute(`DELETE FROM ${TABLE} WHERE ${equal(KEY)}`, key, KEYSPACES_WRITE_OPTIONS);
        } else if (what === 2 && dice.below(4) === 0) {
          const partition = dice.partition();
          fake.insertStatic(partition);
          await client.execute(...insertOf({ ...partition, note: 'static' }), KEYSPACES_WRITE_OPTIONS);
        } else {
          const [query, parameters] = selectOf(dice);
          const statement = [query, JSON.stringify(parameters)];
          expect([...statement, await pagesOf(fake, query, parameters)]).toEqual([
            ...statement,
            await pagesOf(cassandra, query, parameters),
          ]);
        }
      }
    },
  );

  test('FakeCassandra returns a partition with only static columns as Apache Cassandra does', async () => {
    const fake = new FakeCassandra({ partitionKey: ['day', 'shard'], clusteringColumns: [TITLE, VERSION] });
    const partition = { day: 'e', shard: 1 };
    fake.insertStatic(partition);
    await client.execute(...insertOf({ ...partition, note: 'static' }), KEYSPACES_WRITE_OPTIONS);
    const select = `SELECT "day", "title", "version", "body" FROM ${TABLE} WHERE "day" = ? AND "shard" = ?`;
    for (const [query, parameters] of [
      [select, ['e', 1]],
      [`${select} AND "title" >= ?`, ['e', 1, 'a']],
    ] as const) {
      expect(await pagesOf(fake, query, [...parameters])).toEqual(await pagesOf(cassandra, query, [...parameters]));
    }
  });

  test.each(['<', '<=', '>', '>=', '='])(
    'FakeCassandra accepts or rejects null after %s as Apache Cassandra does',
    async (operator) => {
      const fake = new FakeCassandra({ partitionKey: ['day', 'shard'], clusteringColumns: [TITLE, VERSION] });
      for (const title of ['a', 'b']) {
        for (const version of [0, 1]) {
          const row = { day: 'd', shard: 0, title, version, body: 'x' };
          fake.insert(row);
          await client.execute(...insertOf(row), KEYSPACES_WRITE_OPTIONS);
        }
      }
      const select = `SELECT "title", "version" FROM ${TABLE} WHERE "day" = ? AND "shard" = ?`;
      for (const [bound, values] of [
        [`"title" ${operator} ?`, []],
        [`"title" = ? AND "version" ${operator} ?`, ['b']],
      ] as const) {
        const statement = [`${select} AND ${bound}`, ['d', 0, ...values, null]] as const;
        expect(await pagesOf(fake, statement[0], [...statement[1]])).toEqual(
          await pagesOf(cassandra, statement[0], [...statement[1]]),
        );
      }
    },
  );

  test.each(seeds)(
    'FakeRowTable responds to scans and conditional writes as Apache Cassandra does: seed %d',
    async (seed) => {
      const dice = new Dice(seededRandom(seed));
      const config = keyspacesConfig({
        keyspaceName: 'calls',
        clusteringColumns: [
          { name: 'title', type: 'text', order: 'ASC' },
          { name: 'version', type: 'int', order: 'DESC' },
        ],
      });
      const fake = new FakeRowTable(config);
      const scan = `SELECT "day", "shard", "title", "version", "body" FROM ${TABLE} WHERE token("day", "shard") >= ${-(2n ** 63n)} AND token("day", "shard") <= ${2n ** 63n - 1n}`;
      const select = `SELECT "day", "shard", "title", "version", "body", WRITETIME("body") AS written, toUnixTimestamp(now()) AS now FROM ${TABLE}`;
      const inOrder = (pages: unknown) =>
        (pages as CqlRow[][])
          .flat()
          .map((row) => JSON.stringify(row))
          .sort();
      for (let call = 0; call < CALLS; call++) {
        const row: CqlRow = { ...dice.key(), body: dice.among('x', 'y', null) };
        const key = KEY.map((name) => row[name]);
        const [insert, values] = insertOf(row);
        const where = `WHERE ${equal(KEY)}`;
        if (dice.below(3) === 0) {
          // The timestamp of a client, far before or far after the clock of the server.
          const at = dice.among(PAST, FUTURE) + call;
          const [change, statement, parameters] = dice.among<[() => void, string, unknown[]]>(
            [() => fake.insert(row, at), `${insert} USING TIMESTAMP ${at}`, values],
            [
              () => fake.update(row, at),
              `UPDATE ${TABLE} USING TIMESTAMP ${at} SET "body" = ? ${where}`,
              [row.body, ...key],
            ],
            [() => fake.delete(row, at), `DELETE FROM ${TABLE} USING TIMESTAMP ${at} ${where}`, key],
          );
          change();
          await client.execute(statement, parameters, KEYSPACES_WRITE_OPTIONS);
        }
        const [query, parameters] = dice.among<[string, unknown[]]>(
          [`${insert} IF NOT EXISTS`, values],
          [`DELETE FROM ${TABLE} ${where} IF EXISTS`, key],
          [`DELETE FROM ${TABLE} ${where} IF "body" = ?`, [...key, row.body]],
          [
            `UPDATE ${TABLE} SET "body" = ? ${where} IF "body" = ?`,
            [dice.among('x', null), ...key, dice.among('y', null)],
          ],
          [`${select} ${where}`, key],
        );
        const results = await Promise.all(
          [fake, cassandra].map(async (each) => {
            const { rows, errorCode } = await execute(each, query, parameters);
            // For a write that is not applied, Cassandra also returns the existing row. The library reads only whether the write was applied.
            if (!query.startsWith('SELECT')) return { isApplied: rows?.[0]?.['[applied]'], errorCode };
            return {
              rows: rows?.map((each) => ({ ...each, written: ageOf(each.written), now: ageOf(each.now) })),
              errorCode,
            };
          }),
        );
        expect([query, parameters, results[0]]).toEqual([query, parameters, results[1]]);
        const scans = await Promise.all([fake, cassandra].map((each) => pagesOf(each, scan, [])));
        expect(inOrder(scans[0]!.pages)).toEqual(inOrder(scans[1]!.pages));
      }
    },
  );
});

describe('a page state', () => {
  const WHERE = 'WHERE "day" = ? AND "shard" = ?';
  const select = (more = '') => `SELECT "title", "version" FROM ${TABLE} ${WHERE}${more}`;
  const first: [string, unknown[]] = [select(), ['d', 0]];

  beforeEach(async () => {
    await client.execute(`TRUNCATE ${TABLE}`);
    for (const shard of [0, 1]) {
      for (const [index, title] of ['a', 'b', 'c', 'd', 'e', 'f'].entries()) {
        const row = { day: 'd', shard, title, version: index, body: 'x' };
        await client.execute(...insertOf(row), KEYSPACES_WRITE_OPTIONS);
      }
    }
  });

  const titlesOf = ({ rows = [] }: Answer) => rows.map(({ title }) => title).join('');

  // Each case sends the page state of the first statement again, with the statement of the case. FakeCassandra accepts only the first case,
  // so that tests notice if the library uses a page state with another statement.
  test.each<[string, [string, unknown[]], string]>([
    ['the same statement', first, 'def'],
    ['another partition', [select(), ['d', 1]], 'def'],
    ['a partition that is empty', [select(), ['e', 0]], ''],
    ['the other order', [select(' ORDER BY "title" DESC, "version" ASC'), ['d', 0]], 'ba'],
    ['a bound behind its row', [select(' AND "title" > ?'), ['d', 0, 'd']], 'ef'],
    ['a bound before its row', [select(' AND "title" <= ?'), ['d', 0, 'b']], ''],
    ['a row before its row', [select(' AND "title" = ?'), ['d', 0, 'b']], ''],
  ])(
    'a page state is accepted, and the page continues after the row of the page state, with this statement: %s',
    async (_, [query, parameters], titles) => {
      const { next } = await execute(cassandra, ...first);
      expect(titlesOf(await execute(cassandra, query, parameters, next))).toBe(titles);
    },
  );

  test.each([['00'], ['ff'], ['no digits']])('a page state with the malformed value %s is rejected', async (state) => {
    expect(await execute(cassandra, ...first, state)).toEqual({ errorCode: PROTOCOL_ERROR });
  });
});

describe('a moved row', () => {
  const config = keyspacesConfig({
    keyspaceName: 'calls',
    clusteringColumns: [
      { name: 'title', type: 'text', order: 'ASC' },
      { name: 'version', type: 'int', order: 'DESC' },
    ],
    columns: ['body'],
  });
  const row = { day: 'd', title: 'a', version: 1 };
  const { shard } = shardColumns(config, row);
  const where = `"day" = 'd' AND "shard" = ${shard! + 1} AND "title" = 'a' AND "version" = 1`;
  const moved = async () => {
    expect((await reshardRows(cassandra, config)).outcomes).toEqual({ moved: 1, settled: 0, refused: 0 });
    const { rows } = await client.execute(
      `SELECT "shard", "body", TTL("body") AS ttl, WRITETIME("body") AS at FROM ${TABLE}`,
    );
    return rows.map((each) => ({ ...each }));
  };
  beforeEach(async () => void (await client.execute(`TRUNCATE ${TABLE}`)));

  test.each([
    [0, null],
    [500, 500],
  ])(
    'a moved row has the default time to live of its table (%i seconds) and a new write time',
    async (ofTable, ttl) => {
      await client.execute(`ALTER TABLE ${TABLE} WITH default_time_to_live = ${ofTable}`);
      await client.execute(`UPDATE ${TABLE} USING TTL 90 AND TIMESTAMP 5 SET "body" = 'x' WHERE ${where}`);
      const [found, ...others] = await moved();
      await client.execute(`ALTER TABLE ${TABLE} WITH default_time_to_live = 0`);
      expect(others).toEqual([]);
      expect(found).toMatchObject({ shard, body: 'x' });
      expect(found!.ttl === null ? null : Math.ceil(found!.ttl / 100) * 100).toBe(ttl);
      expect(Number(found!.at)).toBeGreaterThan(5);
    },
  );

  test('a moved row exists even if all its columns are null and only an UPDATE has written it', async () => {
    await client.execute(`UPDATE ${TABLE} SET "body" = 'x' WHERE ${where}`);
    await moved();
    const there = where.replace(String(shard! + 1), String(shard));
    await client.execute(`UPDATE ${TABLE} SET "body" = null WHERE ${there}`);
    expect((await client.execute(`SELECT * FROM ${TABLE} WHERE ${there}`)).rows).toHaveLength(1);
  });
});
