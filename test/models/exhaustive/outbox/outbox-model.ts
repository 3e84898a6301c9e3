import { OUTBOX_SCHEMA_VERSION, type PostgresQuery } from '../../../../lib/core/outbox';
import { statementName } from '../../../support/postgres/outbox-statements';
import { type ModelRow, type ModelTransaction, ModelTransactions } from './model-transactions';

interface Range {
  readonly number: number;
  readonly firstBucket: number;
  readonly lastBucket: number;
  fence: number;
  from: string;
  to: string | null;
  afterId: string;
}

interface Snapshot {
  readonly xmin: number;
  readonly xmax: number;
  readonly xip: readonly number[];
}

/** The data that a statement reads and writes. */
type Place = 'locks' | 'ranges' | 'transactions' | 'messages' | 'parked';

interface Statement {
  readonly name: string;
  readonly statement: ReturnType<typeof statementName>;
  /** Whether the response can show that a range has progressed. */
  readonly moves?: boolean;
  /**
   * Absent if the statement concerns only its session, or only the ranges that a worker tries to lock. The model applies such a
   * statement immediately.
   */
  readonly touches?: { readonly reads?: readonly Place[]; readonly writes?: readonly Place[] };
  /** Whether the statement also reads the parked rows with these values. */
  readonly readsParked?: (values: readonly unknown[]) => boolean;
  // biome-ignore lint/suspicious/noExplicitAny: the parameters depend on the statement
  answer(model: OutboxModel, session: string, values: any[]): object[] | number;
}

interface OutboxModelOptions {
  /** @default 1 */
  ranges?: number;
  /** @default 0 for every key */
  bucketOf?(key: string): number;
  /** The id of the first transaction. @default 10 */
  nextXid?: number;
  /** Whether writes of the relay get transaction ids, as in Postgres. @default false, which has fewer states */
  relayTakesIds?: boolean;
  /** Called with each row that is removed, so that no worker can send it again. */
  onRemoved?(row: ModelRow): void;
  /** Called with each missing row: all positions are after the row, but the row is not acknowledged, parked or rejected. */
  onMissing?(row: ModelRow): void;
  /** Called with each row that is given up. */
  onGivenUp?(row: ModelRow): void;
}

const BUCKETS = 4_096;

/** Every row has the same put time, because no behaviour depends on this time. */
const PUT_AT = new Date(0);
const MEMBER = 'member';

/**
 * The schema of the outbox in Postgres, limited to the statements of the relay. Each statement is one transaction, applied at one
 * moment.
 */
export class OutboxModel {
  messages: ModelRow[] = [];
  parked: ModelRow[] = [];
  rejected: ModelRow[] = [];
  /** The numbers of the rows that the stream has acknowledged. */
  private ended: number[] = [];
  /** The numbers of missing rows: all positions are after the row, but the row is not acknowledged, parked or rejected. */
  private readonly missing = new Set<number>();
  /** The data of each key, in the order of the commits. */
  readonly committed = new Map<string, string[]>();
  slot = 0;
  readonly transactions: ModelTransactions;
  private ranges: Range[];
  /** For each session: its locks, and how often it holds each lock. */
  private readonly locks = new Map<string, Map<string | number, number>>();
  /** Whether a statement fails on a range that another session has taken over. */
  private isFenced = true;
  private nextId = 1;

  constructor(private readonly options: OutboxModelOptions = {}) {
    this.ranges = divided(options.ranges ?? 1);
    this.transactions = new ModelTransactions(options.nextXid ?? 10);
  }

  /** The state on which responses depend. */
  get state(): unknown {
    const { messages, parked, rejected, committed, slot, ranges, locks, transactions, nextId, ended } = this;
    const held = [...locks].map(([session, own]) => [session, [...own].sort()]).sort();
    return [messages, parked, rejected, committed, slot, ranges, held, transactions.state, nextId, ended];
  }

  /** Puts a row in a transaction. */
  put(transaction: ModelTransaction, key: string, data: string): void {
    const xid = this.transactions.idOf(transaction);
    const bucket = this.options.bucketOf?.(key) ?? 0;
    const row = { id: this.nextId++, xid, slot: this.slot, bucket, key, data, tries: 0 };
    this.transactions.write(transaction);
    transaction.levels.at(-1)!.rows.push(row);
  }

  end(transaction: ModelTransaction, ends: 'commit' | 'rollback'): void {
    const rows = this.transactions.end(transaction, ends);
    this.messages = [...this.messages, ...rows].sort((a, b) => a.id - b.id);
    for (const { key, data } of rows) this.committed.set(key, [...(this.committed.get(key) ?? []), data]);
  }

  /** The name of a statement and the data that it reads and writes. Throws for an unknown statement. */
  static statement(query: PostgresQuery): Statement {
    const found = STATEMENTS.get(statementName(query));
    if (found === undefined) throw new Error(`the model does not support the statement ${query.text}`);
    return found;
  }

  /** Applies a statement immediately. */
  query(session: string, query: PostgresQuery): { rows: object[]; rowCount: number } {
    this.isFenced = query.text.includes('fence = $');
    const answer = OutboxModel.statement(query).answer(this, session, query.values ?? []);
    return typeof answer === 'number' ? { rows: [], rowCount: answer } : { rows: answer, rowCount: answer.length };
  }

  /** Removes the locks of a session: at its end, or without notice to the session. */
  unlockAll(session: string): void {
    this.locks.delete(session);
  }

  lock(session: string, lock: string | number): boolean {
    const isFree = [...this.locks].every(([other, locks]) => other === session || lock === MEMBER || !locks.has(lock));
    if (!isFree) return false;
    const own = this.locks.get(session) ?? new Map<string | number, number>();
    this.locks.set(session, own.set(lock, (own.get(lock) ?? 0) + 1));
    return true;
  }

  unlock(session: string, lock: string | number): void {
    const own = this.locks.get(session);
    const times = own?.get(lock);
    if (own === undefined || times === undefined) return;
    if (times > 1) own.set(lock, times - 1);
    else own.delete(lock);
  }

  holdings(session: string): { is_mine: boolean; ranges: number }[] {
    const holders = [...this.locks].filter(([, locks]) => locks.size > 0);
    return holders.map(([other, locks]) => ({
      is_mine: other === session,
      ranges: [...locks.keys()].filter((lock) => lock !== MEMBER).length,
    }));
  }

  freeRanges(held: readonly number[]): object[] {
    const locked = new Set([...this.locks.values()].flatMap((locks) => [...locks.keys()]));
    return this.ranges
      .filter(({ number }) => !locked.has(number) && !held.includes(number))
      .map(({ number }) => ({ number, lock: number }));
  }

  /** Whether the session would claim or release a range at its next check of the leases. */
  isUnbalanced(session: string, held: readonly number[]): boolean {
    const holdings = this.holdings(session);
    const mine = holdings.find(({ is_mine }) => is_mine)?.ranges ?? 0;
    const fewest = Math.min(...holdings.filter(({ is_mine }) => !is_mine).map(({ ranges }) => ranges));
    return mine <= fewest ? this.freeRanges(held).length > 0 : mine >= fewest + 2;
  }

  /** Creates the state that an earlier worker leaves after it has parked the first rows and has saved its position. */
  parkFirst(rows: number): void {
    const parked = this.messages.slice(0, rows);
    const range = this.ranges[0]!;
    const position = { to: this.transactions.snapshot, afterId: `${parked.at(-1)?.id ?? 0}` };
    if (parked.length > 0) this.ranges = [{ ...range, ...position }];
    this.parked = parked.map((row) => ({ ...row }));
  }

  /** The saved position of a range. */
  position(number: number): { from: string; to: string | null; afterId: string } {
    const { from, to, afterId } = this.ranges.find((range) => range.number === number)!;
    return { from, to, afterId };
  }

  /** Divides the keys again, like an administrator. */
  divide(ranges: number): void {
    const least = [...this.ranges].sort((a, b) => {
      const [one, other] = [snapshotOf(a.from), snapshotOf(b.from)];
      return one.xmax - other.xmax || other.xip.length - one.xip.length;
    })[0]!;
    const fence = Math.max(...this.ranges.map((range) => range.fence)) + 1;
    this.ranges = divided(ranges).map((range) => ({ ...range, fence, from: least.from }));
  }

  takeOver(number: number): object[] {
    const range = this.ranges.find((each) => each.number === number);
    if (range === undefined) return [];
    range.fence += 1;
    if (this.options.relayTakesIds) this.transactions.writeAlone();
    return [
      {
        first_bucket: range.firstBucket,
        last_bucket: range.lastBucket,
        fence: `${range.fence}`,
        producer_id: 'outbox',
        batch_from: range.from,
        batch_to: range.to,
        after_id: range.afterId,
        is_of_the_future: false,
      },
    ];
  }

  deleteUncovered([first, last, from, to, afterId, number, fence]: [
    number,
    number,
    string,
    string | null,
    string,
    number,
    string,
  ]): void {
    if (this.rangeOf(number, fence) === undefined) return;
    const isCovered = ({ id, xid }: ModelRow): boolean =>
      isVisible(xid, from) || (to !== null && isVisible(xid, to) && id <= Number(afterId));
    const isGone = (row: ModelRow): boolean => row.bucket >= first && row.bucket <= last && !isCovered(row);
    const isNowhereElse = ({ id }: ModelRow): boolean => this.messages.every((row) => row.id !== id);
    this.checkRemoved(this.parked.filter((row) => isGone(row) && isNowhereElse(row)));
    this.parked = this.parked.filter((row) => !isGone(row));
  }

  look(from: string, number: number, fence: string): object[] {
    if (this.rangeOf(number, fence) === undefined) return [];
    const { snapshot } = this.transactions;
    const { xmax, xip } = snapshotOf(from);
    const last = snapshotOf(snapshot).xmax;
    const first = this.messages.find(({ xid }) => xid >= xmax && xid < last);
    const hasLateRows = this.messages.some(({ xid }) => xip.includes(xid));
    return [
      { snapshot, first_id: first === undefined ? null : `${first.id}`, has_rows: first !== undefined || hasLateRows },
    ];
  }

  batch([from, to, firstId, afterId, first, last, maxRows, maxBytes, findsParkedKeys]: [
    string,
    string,
    string,
    string,
    number,
    number,
    number,
    number,
    boolean,
  ]): object[] {
    const { xmax, xip } = snapshotOf(from);
    const isNew = ({ id, xid }: ModelRow): boolean => xid >= xmax && id >= Number(firstId);
    const found = this.messages
      .filter((row) => row.id > Number(afterId) && row.bucket >= first && row.bucket <= last)
      .filter((row) => (isNew(row) || xip.includes(row.xid)) && isVisible(row.xid, to))
      .slice(0, maxRows);
    const triesOf = (key: string): number | null =>
      findsParkedKeys ? (this.parked.find((row) => row.key === key)?.tries ?? null) : null;
    return withinBytes(found, maxBytes).map(({ row, upTo }) => ({
      ...columns(row),
      bytes_up_to: `${upTo}`,
      parked_tries: triesOf(row.key),
    }));
  }

  save([number, fence, from, to, afterId, _, acknowledged]: [
    number,
    string,
    string,
    string | null,
    string,
    string | null,
    string | null,
  ]): object[] {
    const range = this.rangeOf(number, fence);
    if (range === undefined) return [{ isHeld: false }];
    if (this.options.relayTakesIds) this.transactions.writeAlone();
    Object.assign(range, { from, to, afterId });
    this.note(numbersOf(acknowledged ?? '{}'));
    return [{ isHeld: true }];
  }

  /** Records the rows that the stream has acknowledged. */
  note(ids: readonly (string | number)[]): void {
    this.ended = [...new Set([...this.ended, ...ids.map(Number)])].sort((a, b) => a - b);
  }

  park(number: number, fence: string, ids: readonly string[]): object[] {
    const isHeld = this.rangeOf(number, fence) !== undefined;
    const isThere = (id: number): boolean => this.parked.some((row) => row.id === id);
    const copies = isHeld ? this.messages.filter(({ id }) => ids.includes(`${id}`) && !isThere(id)) : [];
    this.parked = [...this.parked, ...copies.map((row) => ({ ...row, tries: 0 }))].sort((a, b) => a.id - b.id);
    return [{ isHeld }];
  }

  parkedKeys([first, last, atMost, number, fence, behindId]: [
    number,
    number,
    number,
    number,
    string,
    string,
  ]): object[] {
    if (this.rangeOf(number, fence) === undefined) return [];
    const own = this.parked.filter(({ bucket }) => bucket >= first && bucket <= last);
    const firsts = own.filter((row, index) => own.findIndex(({ key }) => key === row.key) === index);
    const behind = firsts.filter(({ id }) => id > Number(behindId)).slice(0, atMost);
    const keys = behind.map(({ key, tries, id }) => ({ partition_key: key, tries, first_id: `${id}` }));
    return keys.length > 0 ? keys : [{ partition_key: null, tries: null }];
  }

  readParked([keys, afterIds, maxRows, maxBytes, number, fence, maxBytesOfAll]: [
    readonly string[],
    readonly string[],
    number,
    number,
    number,
    string,
    number,
  ]): object[] {
    if (this.rangeOf(number, fence) === undefined) return [];
    const found = keys.flatMap((key, index) => {
      const own = this.parked.filter((row) => row.key === key && row.id > Number(afterIds[index]));
      return withinBytes(own.slice(0, maxRows), maxBytes).map(({ row }, place) => ({ row, isFirst: place === 0 }));
    });
    const fitting = new Set(
      withinBytes(
        found.map(({ row }) => row),
        maxBytesOfAll,
      ).map(({ row }) => row),
    );
    const rows = found
      .filter(({ row, isFirst }) => fitting.has(row) || isFirst)
      .sort((a, b) => a.row.id - b.row.id)
      .map(({ row }) => ({ ...columns(row), ...(!fitting.has(row) && { data: null }), tries: row.tries }));
    return rows.length > 0 ? rows : [{ id: null }];
  }

  removeParked(isGone: (row: ModelRow) => boolean): void {
    this.checkRemoved(this.parked.filter(isGone));
    this.parked = this.parked.filter((row) => !isGone(row));
  }

  countTry(key: string, id: string): void {
    for (const row of this.parked) if (row.key === key && `${row.id}` === id) row.tries += 1;
  }

  giveUp(key: string, id: string): void {
    const gone = this.parked.filter((row) => row.key === key && `${row.id}` === id);
    this.rejected = [...this.rejected, ...gone];
    this.parked = this.parked.filter((row) => !gone.includes(row));
    for (const row of gone) this.options.onGivenUp?.(row);
  }

  /** Whether a rotation has an effect: it can empty a slot, or new rows can go to the next slot. */
  get canRotate(): boolean {
    return this.emptied.length > 0 || this.hasNextSlot;
  }

  rotate(): object[] {
    for (const row of this.unaccounted) {
      this.missing.add(row.id);
      this.options.onMissing?.(row);
    }
    const { emptied } = this;
    const gone = this.messages.filter(({ slot }) => emptied.includes(slot));
    const isParked = ({ id }: ModelRow): boolean => [...this.parked, ...this.rejected].some((row) => row.id === id);
    this.messages = this.messages.filter((row) => !gone.includes(row));
    this.checkRemoved(gone.filter((row) => !isParked(row)));
    if (this.hasNextSlot) this.slot = (this.slot + 1) % 3;
    return [{ rotate: emptied.length }];
  }

  /** Missing rows: all positions are after the row, but the row is not acknowledged, parked or rejected. */
  private get unaccounted(): ModelRow[] {
    const noted = new Set([...this.ended, ...[...this.parked, ...this.rejected].map(({ id }) => id)]);
    return this.messages.filter(
      ({ id, xid }) => !noted.has(id) && this.ranges.every(({ from }) => isVisible(xid, from)),
    );
  }

  /** The slots that can be emptied, without slots that have rows of a transaction in progress. */
  private get emptied(): number[] {
    return [1, 2]
      .map((other) => (this.slot + other) % 3)
      .filter((slot) => {
        const own = this.messages.filter((row) => row.slot === slot);
        const isWritten = this.transactions.rows.some((row) => row.slot === slot);
        const isUnrelayed = this.ranges.some(({ from }) => own.some(({ xid }) => !isVisible(xid, from)));
        return own.length > 0 && !isWritten && !isUnrelayed && !own.some(({ id }) => this.missing.has(id));
      });
  }

  private get hasNextSlot(): boolean {
    const hasRows = (slot: number): boolean => this.messages.some((row) => row.slot === slot);
    return hasRows(this.slot) && !hasRows((this.slot + 1) % 3);
  }

  private rangeOf(number: number, fence: string): Range | undefined {
    return this.ranges.find((range) => range.number === number && (!this.isFenced || `${range.fence}` === fence));
  }

  private checkRemoved(gone: readonly ModelRow[]): void {
    for (const row of gone) this.options.onRemoved?.(row);
  }
}

const nothing = (): object[] => [];
const settings = (names: readonly string[]): object[] => names.map((name) => ({ name, value: 'as it is' }));

/** All statements of the relay. */
const STATEMENTS: ReadonlyMap<string, Statement> = new Map(
  (
    [
      { name: 'finds the schema', statement: 'hasSettingsTable', answer: () => [{ there: true }] },
      { name: 'reads the version', statement: 'readVersion', answer: () => [{ version: OUTBOX_SCHEMA_VERSION }] },
      { name: 'checks its permissions', statement: 'findMissingPermissions', answer: nothing },
      { name: 'checks the sequence', statement: 'readCacheSize', answer: () => [{ cache_size: '1' }] },
      { name: 'checks row level security', statement: 'findRowSecurity', answer: nothing },
      {
        name: 'reads its lock timeout',
        statement: 'readSession',
        answer: () => [{ lock_timeout: '0', is_first: true }],
      },
      { name: 'sets', statement: 'SET', answer: nothing },
      { name: 'finds its process', statement: 'readProcess', answer: () => [{ pid: 1 }] },
      {
        name: 'reads its settings',
        statement: 'readSettings',
        answer: (_, __, [names]) => settings(names),
      },
      {
        name: 'sets its settings',
        statement: 'applySettings',
        answer: (_, __, [names]) => settings(names),
      },
      { name: 'checks its lock', statement: 'hasWorkerLock', answer: () => [{ isHeld: true }] },
      { name: 'notifies itself', statement: 'notifySession', answer: nothing },
      { name: 'deallocates a statement', statement: 'DEALLOCATE', answer: nothing },
      { name: 'listens', statement: 'listen', answer: nothing },
      { name: 'listens no more', statement: 'unlisten', answer: nothing },
      { name: 'sleeps', statement: 'setSleeping', answer: nothing },
      {
        name: 'joins',
        statement: 'lockWorker',
        answer: (model, session) => {
          model.lock(session, MEMBER);
          return [{ lock: -1 }];
        },
      },
      {
        name: 'leaves',
        statement: 'unlockWorker',
        answer: (model, session) => {
          model.unlock(session, MEMBER);
          return [];
        },
      },
      {
        name: 'counts holdings',
        statement: 'countHoldings',
        answer: (model, session) => model.holdings(session),
      },
      {
        name: 'lists free ranges',
        statement: 'findFreeRanges',
        answer: (model, _, [held]) => model.freeRanges(held),
      },
      {
        name: 'locks a range',
        statement: 'lockRange',
        touches: { writes: ['locks'] },
        answer: (model, session, [number]) => [{ isClaimed: model.lock(session, number) }],
      },
      {
        name: 'unlocks a range',
        statement: 'unlockRange',
        touches: { writes: ['locks'] },
        answer: (model, session, [number]) => {
          model.unlock(session, number);
          return [];
        },
      },
      // Only relays take locks in this model.
      { name: 'takes another lock', statement: 'replaceLock', answer: nothing },
      { name: 'recognizes the database', statement: 'recognizeDatabase', answer: () => [{ isKnown: true }] },
      {
        name: 'takes a range over',
        statement: 'takeOverRange',
        touches: { writes: ['ranges'] },
        answer: (model, _, [number]) => model.takeOver(number),
      },
      {
        name: 'deletes what is not covered',
        statement: 'deleteUncoveredParkedRows',
        // After this statement, the worker checks the leases again.
        touches: { reads: ['locks', 'ranges', 'messages'], writes: ['parked'] },
        answer: (model, _, values) => {
          model.deleteUncovered(values as Parameters<OutboxModel['deleteUncovered']>[0]);
          return [];
        },
      },
      {
        name: 'looks',
        statement: 'takeSnapshot',
        touches: { reads: ['ranges', 'transactions', 'messages'] },
        answer: (model, _, [from, number, fence]) => model.look(from, number, fence),
      },
      {
        name: 'reads a batch',
        moves: true,
        statement: 'readBatch',
        touches: { reads: ['messages'] },
        readsParked: ([, , , , , , , , findsParkedKeys]) => findsParkedKeys === true,
        answer: (model, _, values) => model.batch(values as Parameters<OutboxModel['batch']>[0]),
      },
      {
        name: 'saves',
        statement: 'savePosition',
        touches: { writes: ['ranges'] },
        answer: (model, _, values) => model.save(values as Parameters<OutboxModel['save']>[0]),
      },
      {
        name: 'parks',
        moves: true,
        statement: 'parkRows',
        touches: { reads: ['ranges', 'messages'], writes: ['parked'] },
        answer: (model, _, [number, fence, ids]) => model.park(number, fence, ids),
      },
      {
        name: 'lists parked keys',
        statement: 'listParkedKeys',
        touches: { reads: ['ranges', 'parked'] },
        answer: (model, _, values) => model.parkedKeys(values as Parameters<OutboxModel['parkedKeys']>[0]),
      },
      {
        name: 'reads parked rows',
        statement: 'readParkedRows',
        touches: { reads: ['ranges', 'parked'] },
        answer: (model, _, values) => model.readParked(values as Parameters<OutboxModel['readParked']>[0]),
      },
      {
        name: 'removes parked rows',
        statement: 'removeParkedRows',
        touches: { reads: ['messages'], writes: ['parked'] },
        answer: (model, _, [keys, ids]) => {
          const gone = new Set((ids as string[]).map((id, index) => `${keys[index]} ${id}`));
          model.removeParked(({ key, id }) => gone.has(`${key} ${id}`));
          model.note(ids);
          return [];
        },
      },
      {
        name: 'counts a try',
        statement: 'countTries',
        touches: { writes: ['parked'] },
        answer: (model, _, [keys, ids]) => {
          for (const [index, id] of ids.entries()) model.countTry(keys[index], id);
          return [];
        },
      },
      {
        name: 'gives a row up',
        statement: 'giveUpRows',
        touches: { writes: ['parked'] },
        answer: (model, _, [keys, ids]) => {
          for (const [index, id] of ids.entries()) model.giveUp(keys[index], id);
          return [];
        },
      },
      {
        name: 'rotates',
        statement: 'rotate',
        touches: { reads: ['ranges', 'parked'], writes: ['transactions', 'messages'] },
        answer: (model) => model.rotate(),
      },
    ] as Statement[]
  ).map((each) => [each.statement, each]),
);

/** Returns ranges in the state before the first row is relayed. */
function divided(ranges: number): Range[] {
  return Array.from({ length: ranges }, (_, index) => ({
    number: index + 1,
    firstBucket: Math.floor((index * BUCKETS) / ranges),
    lastBucket: Math.floor(((index + 1) * BUCKETS) / ranges) - 1,
    fence: 0,
    from: '3:3:',
    to: null,
    afterId: '0',
  }));
}

function columns({ id, key, data }: ModelRow): object {
  const named = { id: `${id}`, partition_key: key, data: Buffer.from(data), explicit_hash_key: null };
  return { ...named, type: null, headers: null, topic: null, created_at: PUT_AT };
}

/** Returns the first rows, until their bytes reach the maximum. */
function withinBytes(rows: readonly ModelRow[], maxBytes: number): { row: ModelRow; upTo: number }[] {
  let upTo = 0;
  return rows.flatMap((row) => {
    const isWithin = upTo < maxBytes;
    upTo += Buffer.byteLength(row.key + row.data);
    return isWithin ? [{ row, upTo }] : [];
  });
}

/** Returns the numbers in a multirange of Postgres. */
function numbersOf(text: string): number[] {
  const ranges = [...text.matchAll(/\[(\d+),(\d+)\]/g)].map(
    ([, first, last]) => [Number(first), Number(last)] as const,
  );
  return ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index));
}

function snapshotOf(text: string): Snapshot {
  const [xmin, xmax, xip = ''] = text.split(':');
  return { xmin: Number(xmin), xmax: Number(xmax), xip: xip === '' ? [] : xip.split(',').map(Number) };
}

function isVisible(xid: number, text: string): boolean {
  const { xmin, xmax, xip } = snapshotOf(text);
  return xid < xmin || (xid < xmax && !xip.includes(xid));
}
