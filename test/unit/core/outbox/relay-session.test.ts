import { Connection } from '../../../../lib/core/outbox/connection';
import { Patience } from '../../../../lib/core/outbox/patience';
import type { PostgresClient, PostgresQuery } from '../../../../lib/core/outbox/postgres-client';
import { relaySettings } from '../../../../lib/core/outbox/relay-options';
import { RelaySession } from '../../../../lib/core/outbox/relay-session';
import { inTransaction } from '../../../../lib/core/outbox/session-settings';
import { VirtualClock } from '../../../../lib/testing';

const LOCK = -7;

/** A process of a server, with what belongs to its session. The server is older than one of the settings. */
class ServerProcess {
  readonly settings = new Map<string, string>();
  readonly locks = new Set<number>();
  readonly channels = new Set<string>();
  readonly prepared = new Set<string>();

  constructor(readonly pid: number) {}

  settingOf(name: string): string | null {
    return name === 'transaction_timeout' ? null : (this.settings.get(name) ?? `default of ${name}`);
  }

  /** Everything of the relay that others would find. */
  get leftovers(): unknown[] {
    const changed = [...this.settings].filter(
      ([name, value]) => value !== `default of ${name}` && name !== 'lock_timeout',
    );
    return [...changed, ...this.locks, ...this.channels, ...this.prepared];
  }
}

interface Fault {
  /** The process that runs the next statement. @default always the same */
  processAt?(statement: number): ServerProcess;
  /** The code with which a statement fails. */
  fails?(text: string, statement: number): string | undefined;
  /** Replaces the rows of an answer. */
  spoil?(text: string, rows: object[], statement: number): object[];
  /** After how long a notification comes. */
  notifiedAfterMs?: number;
  isInTransaction?: boolean;
}

/** A session on such a process, which goes wrong in some way, and all statements that the relay sends. */
function sessionOn(
  own: ServerProcess,
  { processAt = () => own, fails, spoil, notifiedAfterMs = 0, isInTransaction }: Fault = {},
) {
  const clock = new VirtualClock();
  const sent: string[] = [];
  let session: RelaySession;
  const answer = (at: ServerProcess, { text, values = [], name }: PostgresQuery): object[] => {
    const [names, wanted] = values as string[][];
    if (name !== undefined) at.prepared.add(name);
    if (text.startsWith('SELECT pg_catalog.current_setting'))
      return [{ lock_timeout: '0', is_first: !isInTransaction }];
    if (text.startsWith('SELECT pg_catalog.pg_backend_pid')) return [{ pid: at.pid }];
    if (text.startsWith('SELECT name, pg_catalog.current_setting')) {
      return names!.map((each) => ({ name: each, value: at.settingOf(each) }));
    }
    if (text.startsWith('SELECT name, pg_catalog.set_config')) {
      const known = names!.filter((each) => at.settingOf(each) !== null);
      for (const each of known) at.settings.set(each, wanted![names!.indexOf(each)]!);
      return known.map((each) => ({ name: each, value: at.settingOf(each) }));
    }
    if (text.startsWith('LISTEN')) at.channels.add(text.slice(7));
    if (text.startsWith('UNLISTEN')) at.channels.delete(text.slice(9));
    if (text.startsWith('DEALLOCATE')) at.prepared.delete(text.slice(11));
    if (text.startsWith('SELECT lock FROM')) at.locks.add(LOCK);
    if (text.startsWith('SELECT lock FROM')) return [{ lock: LOCK }];
    if (text.startsWith('SELECT pg_catalog.pg_advisory_unlock_shared')) at.locks.delete(values[1] as number);
    if (text.startsWith('SELECT EXISTS')) return [{ isHeld: at.locks.has(values[1] as number) }];
    if (text.startsWith('SELECT pg_catalog.pg_notify')) {
      clock.schedule(() => session.hear({ payload: 'of a writer' }), 0);
      if (notifiedAfterMs < 60_000) clock.schedule(() => session.hear({ payload: `${values[1]}` }), notifiedAfterMs);
      return [{}];
    }
    return [];
  };
  const query = async (statement: PostgresQuery) => {
    const number = sent.push(statement.text.trim()) - 1;
    const text = statement.text.trim();
    const code = fails?.(text, number);
    if (code !== undefined) throw Object.assign(new Error('no'), { code });
    const rows = answer(processAt(number), statement);
    return { rows: spoil?.(text, rows, number) ?? rows, rowCount: 0 };
  };
  const connection = new Connection({ query } as unknown as PostgresClient, new Patience(clock, 30_000));
  session = new RelaySession(connection, relaySettings({ clock }));
  const start = async (other?: Connection): Promise<void> => {
    await session.check(other);
    await session.begin();
    await session.join();
  };
  const starting = (other?: Connection): Promise<void> => clock.runUntil(start(other));
  return { session, sent, clock, connection, starting };
}

const refusal = (what: string) => ({ code: 'OUTBOX_POOLER', message: expect.stringContaining(what) });

test('a session that ends leaves nothing of the relay', async () => {
  const own = new ServerProcess(1);
  const { session, starting, clock, connection } = sessionOn(own);
  await starting();
  await clock.runUntil(connection.query({ text: 'SELECT 1', name: 'outbox_window' }));
  expect(own.leftovers).toContainEqual(['row_security', 'off']);
  expect(own.leftovers).toContainEqual(LOCK);
  await clock.runUntil(session.end());
  expect(own.leftovers).toEqual([]);
});

test.each(['42501', '57P01'])('nothing of the relay is left if a statement fails with %s', async (code) => {
  const { sent: all, starting } = sessionOn(new ServerProcess(1));
  await starting();
  for (let failed = 0; failed < all.length; failed++) {
    const own = new ServerProcess(1);
    const fails = (_: string, statement: number) => (statement === failed ? code : undefined);
    const { session, starting: start, clock } = sessionOn(own, { fails });
    await expect(start()).rejects.toMatchObject({ code: expect.any(String) });
    await clock.runUntil(session.end());
    expect({ failed: all[failed], left: own.leftovers }).toEqual({ failed: all[failed], left: [] });
  }
});

describe('a session is refused, and nothing is set,', () => {
  const other = (process: ServerProcess) => sessionOn(process).connection;

  test('if another connection has the same process', async () => {
    const own = new ServerProcess(1);
    await expect(sessionOn(own).starting(other(own))).rejects.toMatchObject(
      refusal('two connections share one session'),
    );
    expect(own.leftovers).toEqual([]);
  });

  test.each([2, 5])('if its process is another one from statement %d on', async (from) => {
    const [one, two] = [new ServerProcess(1), new ServerProcess(2)];
    const { starting } = sessionOn(one, { processAt: (statement) => (statement > from ? two : one) });
    await expect(starting()).rejects.toMatchObject(refusal('several sessions'));
    expect(one.leftovers).toEqual([]);
  });

  test('if its connection is in a transaction', async () => {
    const own = new ServerProcess(1);
    const { starting, sent } = sessionOn(own, { isInTransaction: true });
    await expect(starting()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'postgres' });
    expect(sent).toHaveLength(1);
  });
});

test('a session passes if the other connection has another process, or no answer', async () => {
  const [one, two] = [new ServerProcess(1), new ServerProcess(2)];
  await sessionOn(one).starting(sessionOn(two).connection);
  await sessionOn(one).starting(sessionOn(two, { fails: () => '53300' }).connection);
});

describe('a proxy is refused that', () => {
  test.each([
    ['SET', 'SET lock_timeout'],
    ['SET', 'SELECT name, pg_catalog.set_config'],
    ['LISTEN', 'LISTEN'],
  ])('rejects %s, by "%s"', async (what, begins) => {
    for (const code of ['0A000', '08P01', 'XX000', '42501']) {
      const fails = (text: string) => (text.startsWith(begins) ? code : undefined);
      const starting = sessionOn(new ServerProcess(1), { fails }).starting();
      await expect(starting).rejects.toMatchObject({ ...refusal(`${what} was rejected: no`), cause: { code } });
    }
  });

  test.each(['57P01', '53300', '08006', '25006', '55P03'])('may still pass with %s', async (code) => {
    const fails = (text: string) => (text.startsWith('LISTEN') ? code : undefined);
    await expect(sessionOn(new ServerProcess(1), { fails }).starting()).rejects.toMatchObject({ code });
  });

  test('loses a setting', async () => {
    const spoil = (text: string, rows: object[], statement: number) =>
      text.startsWith('SELECT name, pg_catalog.current_setting') && statement > 9
        ? rows.map((row) => ({ ...row, value: 'lost' }))
        : rows;
    const { starting } = sessionOn(new ServerProcess(1), { spoil });
    await expect(starting()).rejects.toMatchObject(refusal('the setting search_path was lost'));
  });

  test('loses a lock', async () => {
    const spoil = (text: string, rows: object[]) => (text.startsWith('SELECT EXISTS') ? [{ isHeld: false }] : rows);
    await expect(sessionOn(new ServerProcess(1), { spoil }).starting()).rejects.toMatchObject(
      refusal('lock of the session'),
    );
  });

  test('loses a notification, after five seconds', async () => {
    const { starting, clock } = sessionOn(new ServerProcess(1), { notifiedAfterMs: 60_000 });
    await expect(starting()).rejects.toMatchObject(refusal('a notification to the session was lost'));
    expect(clock.now()).toBe(5_000);
  });
});

test.each([0, 4_999])('a notification that comes after %d ms is not lost', async (notifiedAfterMs) => {
  await expect(sessionOn(new ServerProcess(1), { notifiedAfterMs }).starting()).resolves.toBeUndefined();
});

test('a session whose process changes while the relay runs is refused', async () => {
  const [one, two] = [new ServerProcess(1), new ServerProcess(2)];
  let current = one;
  const { session, starting, clock } = sessionOn(one, { processAt: () => current });
  await starting();
  await clock.runUntil(session.checkLock());
  current = two;
  await expect(clock.runUntil(session.checkLock())).rejects.toMatchObject(refusal('several sessions'));
});

describe('a transaction with the settings of the relay', () => {
  test('has them until it ends', async () => {
    const { connection, sent, clock } = sessionOn(new ServerProcess(1));
    expect(await clock.runUntil(inTransaction(connection, 1_000, async () => 7))).toBe(7);
    expect(sent.map((text) => text.split(' ')[0])).toEqual(['BEGIN', 'SELECT', 'COMMIT']);
  });

  test('is rolled back if the work in it fails', async () => {
    const { connection, sent, clock } = sessionOn(new ServerProcess(1));
    const failed = inTransaction(connection, 1_000, () => Promise.reject(new Error('no')));
    await expect(clock.runUntil(failed)).rejects.toThrow('no');
    expect(sent.at(-1)).toBe('ROLLBACK');
  });
});
