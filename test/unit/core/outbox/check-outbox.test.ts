import { checkOutbox } from '../../../../lib/core/outbox/check-outbox';
import { OUTBOX_SCHEMA_VERSION } from '../../../../lib/core/outbox/outbox-schema';
import { fakeStatements } from '../../../support/postgres/outbox-statements';

type Answers = Parameters<typeof fakeStatements>[0];

const READY: Answers = {
  hasSettingsTable: [{ there: true }],
  readVersion: [{ version: OUTBOX_SCHEMA_VERSION }],
  readCacheSize: [{ cache_size: '1' }],
  readRole: [{ role: 'relay' }],
};

const check = (answers: Answers) => checkOutbox(fakeStatements({ ...READY, ...answers }).statements);

const failing = (code: string) => () => {
  throw Object.assign(new Error(`rejected with ${code}`), { code });
};

test.each<[string, Answers]>([
  ['has all permissions', {}],
  ['may not see the sequence', { readCacheSize: [] }],
  ['finds a schema of a later version that it can use', { readVersion: [{ version: 4, format: '3@0.1.0' }] }],
])('checkOutbox – a role that %s – passes', async (_, answers) => {
  await expect(check(answers)).resolves.toBeUndefined();
});

test.each<[string, Answers, object]>([
  [
    'a schema that only later relays can use',
    { readVersion: [{ version: 99, format: '99@0.9.0' }] },
    { code: 'NEWER_FORMAT', version: 99, message: expect.stringContaining('update cdk-even-shards to 0.9.0 or later') },
  ],
  [
    'a schema of an earlier version',
    { readVersion: [{ version: 1 }] },
    { code: 'OUTBOX_SCHEMA', version: 1, message: expect.stringContaining('got 1; a build before the first release') },
  ],
  [
    'a role that may not see the schema',
    { readVersion: failing('42501') },
    { code: 'OUTBOX_PERMISSION', role: 'relay', missing: ['rejected with 42501'], cause: { code: '42501' } },
  ],
  ['any other error of Postgres', { readVersion: failing('53100') }, { code: '53100' }],
])('checkOutbox – %s – throws', async (_, answers, error) => {
  await expect(check(answers)).rejects.toMatchObject(error);
});
