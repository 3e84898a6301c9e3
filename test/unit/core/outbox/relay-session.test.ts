import { Connection } from '../../../../lib/core/outbox/connection';
import type { PostgresClient, PostgresQuery } from '../../../../lib/core/outbox/postgres-client';
import { relaySettings } from '../../../../lib/core/outbox/relay-options';
import { RelaySession } from '../../../../lib/core/outbox/relay-session';
import { Statements } from '../../../../lib/core/outbox/statements';
import { VirtualClock } from '../../../../lib/testing';
import { statementName } from '../../../support/postgres/outbox-statements';

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
  fails?(name: string, statement: number): string | undefined;
  /** Replaces the rows of an answer. */
  spoil?(name: string, rows: object[], statement: number): object[];
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
  const answers: Partial<Record<string, (at: ServerProcess, values: readonly unknown[]) => object[] | undefined>> = {
    readSession: () => [{ lock_timeout: '0', is_first: !isInTransaction }],
    readProcess: ({ pid }) => [{ pid }],
    readSettings: (at, [names]) => (names as string[]).map((name) => ({ name, value: at.settingOf(name) })),
    applySettings: (at, [names, wanted]) => {
      const known = (names as string[]).filter((each) => at.settingOf(each) !== null);
      for (const each of known) at.settings.set(each, (wanted as string[])[(names as string[]).indexOf(each)]!);
      return known.map((each) => ({ name: each, value: at.settingOf(each) }));
    },
    listen: (at) => void at.channels.add('outbox'),
    unlisten: (at) => void at.channels.delete('outbox'),
    lockWorker: (at) => {
      at.locks.add(LOCK);
      return [{ lock: LOCK }];
    },
    unlockWorker: (at, [lock]) => void at.locks.delete(lock as number),
    hasWorkerLock: (at, [lock]) => [{ isHeld: at.locks.has(lock as number) }],
    notifySession: (_, [payload]) => {
      clock.schedule(() => session.onNotification({ payload: 'of a writer' }), 0);
      const notify = () => session.onNotification({ payload: `${payload}` });
      if (notifiedAfterMs < 60_000) clock.schedule(notify, notifiedAfterMs);
      return [{}];
    },
  };
  const answer = (at: ServerProcess, query: PostgresQuery): object[] => {
    if (query.name !== undefined) at.prepared.add(query.name);
    if (query.text.startsWith('DEALLOCATE')) at.prepared.delete(query.text.split('"')[1]!);
    return answers[statementName(query)]?.(at, query.values ?? []) ?? [];
  };
  const query = async (statement: PostgresQuery) => {
    const name = statementName(statement);
    const number = sent.push(name) - 1;
    const code = fails?.(name, number);
    if (code !== undefined) throw Object.assign(new Error('no'), { code });
    const rows = answer(processAt(number), statement);
    return { rows: spoil?.(name, rows, number) ?? rows, rowCount: 0 };
  };
  const connection = new Connection({ query } as unknown as PostgresClient, { ms: 30_000, clock });
  const statements = new Statements(connection, 'outbox');
  session = new RelaySession(statements, relaySettings({ clock }));
  const start = async (other?: Statements): Promise<void> => {
    await session.check(other);
    await session.begin();
    await session.join();
  };
  const starting = (other?: Statements): Promise<void> => clock.runUntil(start(other));
  return { session, sent, clock, statements, starting };
}

const refusal = (what: string) => ({ code: 'OUTBOX_POOLER', message: expect.stringContaining(what) });

test('a session that ends leaves nothing of the relay', async () => {
  const own = new ServerProcess(1);
  const { session, starting, clock, statements } = sessionOn(own);
  await starting();
  await clock.runUntil(statements.rows('readBatch'));
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
  const other = (process: ServerProcess) => sessionOn(process).statements;

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
  await sessionOn(one).starting(sessionOn(two).statements);
  await sessionOn(one).starting(sessionOn(two, { fails: () => '53300' }).statements);
});

describe('a proxy is refused that', () => {
  test.each([
    ['SET', 'SET'],
    ['SET', 'applySettings'],
    ['LISTEN', 'listen'],
  ])('rejects %s, by "%s"', async (what, rejected) => {
    for (const code of ['0A000', '08P01', 'XX000', '42501']) {
      const fails = (name: string) => (name === rejected ? code : undefined);
      const starting = sessionOn(new ServerProcess(1), { fails }).starting();
      await expect(starting).rejects.toMatchObject({ ...refusal(`${what} was rejected: no`), cause: { code } });
    }
  });

  test.each(['57P01', '55P03'])('may still pass with %s', async (code) => {
    const fails = (name: string) => (name === 'listen' ? code : undefined);
    await expect(sessionOn(new ServerProcess(1), { fails }).starting()).rejects.toMatchObject({ code });
  });

  test('loses a setting', async () => {
    const spoil = (name: string, rows: object[], statement: number) =>
      name === 'readSettings' && statement > 9 ? rows.map((row) => ({ ...row, value: 'lost' })) : rows;
    const { starting } = sessionOn(new ServerProcess(1), { spoil });
    await expect(starting()).rejects.toMatchObject(refusal('the setting search_path was lost'));
  });

  test('loses a lock', async () => {
    const spoil = (name: string, rows: object[]) => (name === 'hasWorkerLock' ? [{ isHeld: false }] : rows);
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
