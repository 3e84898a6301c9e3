import { Connection } from '../../../../lib/core/outbox/connection';
import type { PostgresClient, PostgresQuery } from '../../../../lib/core/outbox/postgres-client';
import { relaySettings } from '../../../../lib/core/outbox/relay-options';
import { RelaySession } from '../../../../lib/core/outbox/relay-session';
import { Statements } from '../../../../lib/core/outbox/statements';
import { VirtualClock } from '../../../../lib/testing';
import { statementName } from '../../../support/postgres/outbox-statements';

const LOCK = -7;

/** A server process with the state of its session. The server has an older version, which does not know one of the settings. */
class ServerProcess {
  readonly settings = new Map<string, string>();
  readonly locks = new Set<number>();
  readonly channels = new Set<string>();
  readonly prepared = new Set<string>();

  constructor(readonly pid: number) {}

  settingOf(name: string): string | null {
    return name === 'transaction_timeout' ? null : (this.settings.get(name) ?? `default of ${name}`);
  }

  /** The settings, locks, channels and prepared statements that the relay has left in the session. */
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
  /** The error code with which the statement fails, or undefined if the statement succeeds. */
  fails?(name: string, statement: number): string | undefined;
  /** Replaces the rows of a response. */
  changeRows?(name: string, rows: object[], statement: number): object[];
  /** The delay of a notification. */
  notifiedAfterMs?: number;
  isInTransaction?: boolean;
}

/** A session on a server process with these faults. `statements` contains all statements of the relay. */
function sessionOn(
  own: ServerProcess,
  { processAt = () => own, fails, changeRows, notifiedAfterMs = 0, isInTransaction }: Fault = {},
) {
  const clock = new VirtualClock();
  const sent: string[] = [];
  let session: RelaySession;
  const responses: Partial<Record<string, (at: ServerProcess, values: readonly unknown[]) => object[] | undefined>> = {
    readSession: () => [{ lock_timeout: '0', is_first: !isInTransaction }],
    readProcess: ({ pid }) => [{ pid }],
    readSettings: (at, [names]) => (names as string[]).map((name) => ({ name, value: at.settingOf(name) })),
    applySettings: (at, [names, newValues]) => {
      const existing = (names as string[]).filter((each) => at.settingOf(each) !== null);
      for (const each of existing) at.settings.set(each, (newValues as string[])[(names as string[]).indexOf(each)]!);
      return existing.map((each) => ({ name: each, value: at.settingOf(each) }));
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
      clock.schedule(() => session.onNotification({ payload: 'from a writer' }), 0);
      const notify = () => session.onNotification({ payload: `${payload}` });
      if (notifiedAfterMs < 60_000) clock.schedule(notify, notifiedAfterMs);
      return [{}];
    },
  };
  const responseTo = (at: ServerProcess, query: PostgresQuery): object[] => {
    if (query.name !== undefined) at.prepared.add(query.name);
    if (query.text.startsWith('DEALLOCATE')) at.prepared.delete(query.text.split('"')[1]!);
    return responses[statementName(query)]?.(at, query.values ?? []) ?? [];
  };
  const query = async (statement: PostgresQuery) => {
    const name = statementName(statement);
    const number = sent.push(name) - 1;
    const code = fails?.(name, number);
    if (code !== undefined) throw Object.assign(new Error('no'), { code });
    const rows = responseTo(processAt(number), statement);
    return { rows: changeRows?.(name, rows, number) ?? rows, rowCount: 0 };
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

const poolerError = (what: string) => ({ code: 'OUTBOX_POOLER', message: expect.stringContaining(what) });

test('RelaySession.end – a running session – leaves no setting, lock, channel or prepared statement', async () => {
  const own = new ServerProcess(1);
  const { session, starting, clock, statements } = sessionOn(own);
  await starting();
  await clock.runUntil(statements.rows('readBatch'));
  expect(own.leftovers).toContainEqual(['row_security', 'off']);
  expect(own.leftovers).toContainEqual(LOCK);
  await clock.runUntil(session.end());
  expect(own.leftovers).toEqual([]);
});

test.each(['42501', '57P01'])(
  'RelaySession.end – any statement of the session has failed with %s – leaves no setting, lock, channel or prepared statement',
  async (code) => {
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
  },
);

describe('a session is rejected before it changes a setting', () => {
  const other = (process: ServerProcess) => sessionOn(process).statements;

  test('if another connection has the same server process', async () => {
    const own = new ServerProcess(1);
    await expect(sessionOn(own).starting(other(own))).rejects.toMatchObject(
      poolerError('two connections share one session'),
    );
    expect(own.leftovers).toEqual([]);
  });

  test.each([2, 5])('if its server process changes after statement %d', async (from) => {
    const [one, two] = [new ServerProcess(1), new ServerProcess(2)];
    const { starting } = sessionOn(one, { processAt: (statement) => (statement > from ? two : one) });
    await expect(starting()).rejects.toMatchObject(poolerError('several sessions'));
    expect(one.leftovers).toEqual([]);
  });

  test('if its connection is in a transaction', async () => {
    const own = new ServerProcess(1);
    const { starting, sent } = sessionOn(own, { isInTransaction: true });
    await expect(starting()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'postgres' });
    expect(sent).toHaveLength(1);
  });
});

test('a session is accepted if the other connection has another server process or cannot be opened', async () => {
  const [one, two] = [new ServerProcess(1), new ServerProcess(2)];
  await sessionOn(one).starting(sessionOn(two).statements);
  await sessionOn(one).starting(sessionOn(two, { fails: () => '53300' }).statements);
});

describe('a proxy is rejected', () => {
  test.each([
    ['SET', 'SET'],
    ['SET', 'applySettings'],
    ['LISTEN', 'listen'],
  ])('if it rejects the command %s of the statement "%s"', async (what, rejected) => {
    for (const code of ['0A000', '08P01', 'XX000', '42501']) {
      const fails = (name: string) => (name === rejected ? code : undefined);
      const starting = sessionOn(new ServerProcess(1), { fails }).starting();
      await expect(starting).rejects.toMatchObject({ ...poolerError(`${what} was rejected: no`), cause: { code } });
    }
  });

  test.each(['57P01', '55P03'])('with its original error if a statement fails with %s', async (code) => {
    const fails = (name: string) => (name === 'listen' ? code : undefined);
    await expect(sessionOn(new ServerProcess(1), { fails }).starting()).rejects.toMatchObject({ code });
  });

  test('if it loses a setting', async () => {
    const changeRows = (name: string, rows: object[], statement: number) =>
      name === 'readSettings' && statement > 9 ? rows.map((row) => ({ ...row, value: 'lost' })) : rows;
    const { starting } = sessionOn(new ServerProcess(1), { changeRows });
    await expect(starting()).rejects.toMatchObject(poolerError('the setting search_path was lost'));
  });

  test('if it loses a lock', async () => {
    const changeRows = (name: string, rows: object[]) => (name === 'hasWorkerLock' ? [{ isHeld: false }] : rows);
    await expect(sessionOn(new ServerProcess(1), { changeRows }).starting()).rejects.toMatchObject(
      poolerError('lock of the session'),
    );
  });

  test('if it loses a notification for five seconds', async () => {
    const { starting, clock } = sessionOn(new ServerProcess(1), { notifiedAfterMs: 60_000 });
    await expect(starting()).rejects.toMatchObject(poolerError('a notification to the session was lost'));
    expect(clock.now()).toBe(5_000);
  });
});

test.each([0, 4_999])('a session is accepted if its notification arrives after %d ms', async (notifiedAfterMs) => {
  await expect(sessionOn(new ServerProcess(1), { notifiedAfterMs }).starting()).resolves.toBeUndefined();
});

test('a session is rejected if its server process changes after the start', async () => {
  const [one, two] = [new ServerProcess(1), new ServerProcess(2)];
  let current = one;
  const { session, starting, clock } = sessionOn(one, { processAt: () => current });
  await starting();
  await clock.runUntil(session.checkLock());
  current = two;
  await expect(clock.runUntil(session.checkLock())).rejects.toMatchObject(poolerError('several sessions'));
});
