import { checkOutbox } from '../../../../lib/core/outbox/check-outbox';
import { cloudEvents } from '../../../../lib/core/outbox/envelope';
import type { HeldRange } from '../../../../lib/core/outbox/key-ranges';
import { NewRows } from '../../../../lib/core/outbox/new-rows';
import { ParkedTable } from '../../../../lib/core/outbox/parked-table';
import { SentRows } from '../../../../lib/core/outbox/sent-rows';
import type { Statements } from '../../../../lib/core/outbox/statements';
import { fakeStatements } from '../../../support/postgres/outbox-statements';

const RANGE = { number: 1, lock: 1, fence: '1', firstBucket: 0, lastBucket: 1, producerId: 'p' } as HeldRange;
const LIMITS = { afterId: 0n, maxRows: 1, maxBytes: 1, maxBytesOfAll: 1, findsParkedKeys: false };
const ENVELOPE = cloudEvents({ source: '/damaged' });
const ROW = {
  id: '1',
  partition_key: 'k',
  data: new Uint8Array(1),
  explicit_hash_key: null,
  type: null,
  headers: null,
  topic: null,
  created_at: new Date(0),
  parked_tries: null,
  tries: 0,
};

const newRows = (statements: Statements) => new NewRows(statements, RANGE, ENVELOPE);
const parkedTable = (statements: Statements) => new ParkedTable(statements, RANGE, ENVELOPE);

test.each<[string, (statements: Statements) => Promise<unknown>]>([
  ['checks the schema', checkOutbox],
  ['saves a position', (statements) => newRows(statements).save({ from: '3:3:', afterId: 0n }, [])],
  ['parks rows', (statements) => parkedTable(statements).park([])],
  ['reads the last number', (statements) => new SentRows(statements, ENVELOPE).lastNumber()],
])('a relay that %s – the response contains no row – closes the connection', async (_, run) => {
  const { statements, ran } = fakeStatements({});
  await expect(run(statements)).rejects.toMatchObject({ code: 'OUTBOX_CONNECTION' });
  const before = ran.length;
  await expect(statements.rows('rotate')).rejects.toMatchObject({ code: 'OUTBOX_CONNECTION' });
  expect(ran).toHaveLength(before);
});

test.each<[string, (statements: Statements) => Promise<unknown>]>([
  ['new rows', (statements) => newRows(statements).readBatch({ from: '3:3:', to: '5:5:', firstId: 1n }, LIMITS)],
  ['parked rows', (statements) => parkedTable(statements).read([], LIMITS)],
  ['sent rows', (statements) => new SentRows(statements, ENVELOPE).read({ lastId: 1n }, LIMITS, 'p')],
])('a relay that reads %s – a column is missing or has the wrong type – closes the connection', async (_, run) => {
  const returning = (row: object) =>
    fakeStatements({ readBatch: [row], readParkedRows: [row], readSentRows: [row] }).statements;
  await expect(run(returning(ROW))).resolves.toBeDefined();
  for (const damage of [{ partition_key: null }, { data: 'text' }, { created_at: null }]) {
    await expect(run(returning({ ...ROW, ...damage }))).rejects.toMatchObject({ code: 'OUTBOX_CONNECTION' });
  }
});
