import { Connection } from '../../../../lib/core/outbox/connection';
import { OutboxConnectionError } from '../../../../lib/core/outbox/outbox-errors';
import type { PostgresClient, PostgresQuery } from '../../../../lib/core/outbox/postgres-client';
import { VirtualClock } from '../../../../lib/testing';

const TIMEOUT_MS = 1_000;

type Answers = Record<string, () => Promise<{ rows: object[]; rowCount: number | null }>>;

/** A connection on which each statement has its answer, and what was asked on it. */
function connectionWith(answers: Answers) {
  const clock = new VirtualClock();
  const asked: string[] = [];
  const query = (statement: PostgresQuery) => {
    asked.push(statement.text);
    return answers[statement.text]!();
  };
  const client = { query } as unknown as PostgresClient;
  const connection = new Connection(client, { ms: TIMEOUT_MS, clock });
  return { asked, ask: (text: string) => clock.runUntil(connection.query({ text })), connection };
}

const ROWS = { rows: [{ n: 1 }], rowCount: 1 };
const works = async () => ROWS;

test('one statement is asked at a time, in order', async () => {
  const ends: (() => void)[] = [];
  const slow = () => new Promise<typeof ROWS>((resolve) => ends.push(() => resolve(ROWS)));
  const { asked, connection } = connectionWith({ one: slow, two: slow });
  const both = ['one', 'two'].map((text) => connection.query({ text }));
  expect(asked).toEqual(['one']);
  ends[0]!();
  await both[0];
  await new Promise(setImmediate);
  expect(asked).toEqual(['one', 'two']);
  ends[1]!();
  expect(await Promise.all(both)).toEqual([ROWS, ROWS]);
});

test.each([
  ['Postgres', '42P01'],
  ['the system', 'ECONNRESET'],
])('what %s says is thrown as it is, and later statements are asked', async (_, code) => {
  const error = Object.assign(new Error('no such table'), { code });
  const { asked, ask } = connectionWith({ fails: () => Promise.reject(error), works });
  await expect(ask('fails')).rejects.toBe(error);
  expect(await ask('works')).toBe(ROWS);
  expect(asked).toEqual(['fails', 'works']);
});

test.each<[string, Answers[string]]>([
  ['fails without a code', () => Promise.reject(new Error('Connection terminated'))],
  ['has no answer in time', () => new Promise(() => {})],
])('behind a statement that %s none is asked any more', async (_, fails) => {
  const { asked, ask } = connectionWith({ fails, works });
  const lost = await ask('fails').catch((error) => error);
  expect(lost).toBeInstanceOf(OutboxConnectionError);
  await expect(ask('works')).rejects.toBe(lost);
  expect(asked).toEqual(['fails']);
});

test('rows that do not say what was asked are an answer to something else, and none is asked any more', async () => {
  const { asked, ask, connection } = connectionWith({ works });
  const { rows } = await ask('works');
  expect(connection.parse(() => rows[0]!.n)).toBe(1);
  expect(() => connection.parse(() => rows[1]!.n)).toThrow(OutboxConnectionError);
  await expect(ask('works')).rejects.toThrow(OutboxConnectionError);
  expect(asked).toEqual(['works']);
});
