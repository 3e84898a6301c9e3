import { migrateOutbox, outboxMigrations, outboxMigrationsOf } from '../../../../lib/core/outbox/outbox-migrations';
import { OUTBOX_SCHEMA_VERSION } from '../../../../lib/core/outbox/outbox-schema';

test('the last element of outboxMigrations has the schema version that the relay needs', () => {
  expect(outboxMigrations.at(-1)!.version).toBe(OUTBOX_SCHEMA_VERSION);
});

test('outboxMigrationsOf – another schema – contains that schema and no placeholder', () => {
  for (const { sql } of outboxMigrationsOf('events_1')) {
    expect(sql).toContain('CREATE TABLE events_1.message');
    expect(sql).not.toMatch(/outbox_schema|\boutbox\./);
  }
});

test('migrateOutbox changes nothing if it cannot check whether a transaction is open', async () => {
  const statements: string[] = [];
  const query = async ({ text }: { text: string }) => {
    statements.push(text);
    throw Object.assign(new Error('failed'), { code: '53100' });
  };
  await expect(migrateOutbox({ query })).rejects.toMatchObject({ code: '53100' });
  expect(statements).toEqual([expect.stringMatching(/^SAVEPOINT/)]);
});

test('migrateOutbox throws the error of the migration, and not the error of the rollback on the lost connection', async () => {
  let isLost = false;
  const query = async ({ text }: { text: string }) => {
    if (text.startsWith('SAVEPOINT')) throw Object.assign(new Error('no transaction'), { code: '25P01' });
    if (isLost) throw new Error('not queryable');
    isLost = !text.startsWith('BEGIN');
    if (isLost) throw Object.assign(new Error('terminated'), { code: '57P01' });
    return { rows: [], rowCount: 0 };
  };
  await expect(migrateOutbox({ query })).rejects.toMatchObject({ code: '57P01' });
});

test.each(['outbox', '_1', 'x'.repeat(40)])('a schema may have the name %s', (name) => {
  expect(outboxMigrationsOf(name).map(({ version }) => version)).toEqual([OUTBOX_SCHEMA_VERSION]);
});

test.each(['', 'Outbox', 'x'.repeat(41), 'pg_outbox', 'select', 'a"; DROP TABLE users; --'])(
  'outboxMigrationsOf rejects the schema name %p and describes the allowed names',
  (name) => {
    const allowed = expect.stringMatching(/1 to 40 characters of a-z.* not a reserved word of SQL/);
    const expected = { code: 'INVALID_ARGUMENT', field: 'schema', message: allowed };
    expect(() => outboxMigrationsOf(name)).toThrow(expect.objectContaining(expected));
  },
);
