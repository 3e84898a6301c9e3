import { MAX_AGGREGATE_OVERHEAD_BYTES } from '../../../../lib/core/foundation/aggregate-format';
import { migrateOutbox, outboxMigrations, outboxMigrationsOf } from '../../../../lib/core/outbox/outbox-migrations';
import { OUTBOX_SCHEMA_VERSION } from '../../../../lib/core/outbox/outbox-schema';
import type { PostgresQuery } from '../../../../lib/core/outbox/postgres-client';

/** A connection to a database with a version of the schema, in a transaction or not, and what it was asked. */
function connectionTo({
  version,
  isWithin = false,
  failing,
}: {
  version: number;
  isWithin?: boolean;
  failing?: string;
}) {
  const asked: string[] = [];
  const query = async ({ text }: PostgresQuery) => {
    asked.push(outboxMigrations.find(({ sql }) => sql === text)?.version.toString() ?? text.split(' ')[0]!);
    if (text.startsWith('SAVEPOINT') && !isWithin) throw Object.assign(new Error('no transaction'), { code: '25P01' });
    if (failing !== undefined && text.startsWith(failing)) throw Object.assign(new Error('failed'), { code: '53100' });
    if (text.startsWith('SELECT to_regclass')) return { rows: [{ there: version > 0 }], rowCount: 1 };
    return { rows: [{ version }], rowCount: 1 };
  };
  return { client: { query }, asked };
}

test('the last step makes the version that the relay works with', () => {
  expect(outboxMigrations.at(-1)!.version).toBe(OUTBOX_SCHEMA_VERSION);
});

test('the second step is for the whole of the first, with all its functions', () => {
  const [first, second] = outboxMigrations.map(({ sql }) => sql) as [string, string];
  const [, functions] = /FROM pg_proc WHERE .*\) < (\d+)$/m.exec(second)!;
  expect(Number(functions)).toBe(first.match(/^CREATE FUNCTION/gm)!.length);
});

test('data of which the size of a record is not asked fits into the smallest that can be set, whatever its key', () => {
  const { sql } = outboxMigrations[1]!;
  const [least, small] = [/max_record_bytes BETWEEN (\d+) /, /octet_length\(data\) <= (\d+)$/m].map((pattern) =>
    Number(pattern.exec(sql)![1]),
  ) as [number, number];
  const largestKey = '\u{1f600}'.repeat(256);
  expect(least).toBe(8_192);
  expect(small + Buffer.byteLength(largestKey) + MAX_AGGREGATE_OVERHEAD_BYTES).toBe(least);
});

describe('the schema is brought to its version', () => {
  test.each([
    [0, [1, 2]],
    [1, [2]],
    [2, []],
    [3, []],
  ])('from version %d by the steps %j, in a transaction of their own', async (version, steps) => {
    const { client, asked } = connectionTo({ version });
    expect(await migrateOutbox(client)).toEqual(steps);
    expect([asked[0], asked[1], asked.at(-1)]).toEqual(['SAVEPOINT', 'BEGIN', 'COMMIT']);
    expect(asked.filter((text) => /^\d$/.test(text))).toEqual(steps.map(String));
  });

  test('in a transaction that is there, which it leaves open', async () => {
    const { client, asked } = connectionTo({ version: 1, isWithin: true });
    expect(await migrateOutbox(client)).toEqual([2]);
    expect(asked).toEqual(['SAVEPOINT', 'RELEASE', 'SELECT', 'SELECT', 'SELECT', '2']);
  });

  test.each([
    [false, 'ROLLBACK'],
    [true, '2'],
  ])('or not at all: within a transaction %s, the last statement is %s', async (isWithin, last) => {
    const { client, asked } = connectionTo({ version: 1, isWithin, failing: 'DO' });
    await expect(migrateOutbox(client)).rejects.toThrow('failed');
    expect(asked.at(-1)).toBe(last);
  });

  test('not where it cannot be told whether there is a transaction', async () => {
    const { client, asked } = connectionTo({ version: 1, isWithin: true, failing: 'SAVEPOINT' });
    await expect(migrateOutbox(client)).rejects.toMatchObject({ code: '53100' });
    expect(asked).toEqual(['SAVEPOINT']);
  });
});

test.each(['outbox', '_1', 'x'.repeat(40)])('a schema may have the name %s', (name) => {
  expect(outboxMigrationsOf(name).map(({ version }) => version)).toEqual([1, 2]);
});

test.each(['', 'Outbox', '1st', 'a-b', 'x'.repeat(41), 'pg_outbox', 'select', 'a"; DROP TABLE users; --', 1 as never])(
  'a schema has no name like %p, and says which it could have',
  (name) => {
    const allowed = expect.stringMatching(/1 to 40 characters of a-z.* or be a reserved word of SQL/);
    const refused = { code: 'INVALID_ARGUMENT', field: 'schema', message: allowed };
    expect(() => outboxMigrationsOf(name)).toThrow(expect.objectContaining(refused));
  },
);
