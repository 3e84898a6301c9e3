import type { QueryEvent } from '../../../lambda/keyspaces-query-fanout/query-event';
import { queryPage } from '../../../lambda/keyspaces-query-fanout/query-page';
import { loggable } from '../../../lambda/loggable';
import { FanOutHistory, shardColumns } from '../../../lib/core';
import { systemClock } from '../../../lib/core/kernel/clock';
import type { CqlClient, StatementResult } from '../../../lib/core/keyspaces/cql-client';
import { FakeCassandra } from '../../support/fakes/fake-cassandra';
import { keyspacesConfig } from '../../support/keyspaces-config';
import { CANARY, type Dice, hostileValue } from '../../support/random-json';
import type { FuzzCase } from './fuzz-case';
import type { FuzzTarget } from './fuzz-target';

const BLOGS = keyspacesConfig({
  keyspaceName: 'k',
  partitionKey: [{ name: 'author', type: 'text' }],
  firstShard: 0,
  clusteringColumns: [
    { name: 'number', type: 'bigint', order: 'ASC' },
    { name: 'title', type: 'text', order: 'ASC' },
  ],
  shards: { default: { write: 3, read: 3 } },
});
const AUTHORS = [`${CANARY} a`, `${CANARY} b`];
const ROWS = 40;

/** This timeout is much shorter than the timeout of a real function, so that a case with a silent server is short. */
const TIMEOUT_MS = 1_500;
const LATE_MS = 100;

/** An error of the driver. Only a message of the server can contain data. */
const driverError = (name: string, more: object = {}) =>
  Object.assign(new Error(name === 'ResponseError' ? CANARY : name), { name, ...more });

/** The ways in which a statement can fail. */
const FAULTS = {
  failed: () => Promise.reject(driverError('ResponseError', { code: 0x0000 })),
  'no connection': () => Promise.reject(driverError('NoHostAvailableError', { innerErrors: {} })),
  lost: () => Promise.reject(driverError('Error', { code: 'ECONNRESET' })),
  overloaded: () => Promise.reject(driverError('ResponseError', { code: 0x1001 })),
  refused: () => Promise.reject(driverError('ResponseError', { code: 0x2200 })),
  silence: () => new Promise<never>(() => {}),
  throttled: () => Promise.reject(driverError('ResponseError', { code: 0x1200 })),
  'timed out': () => Promise.reject(driverError('OperationTimedOutError')),
  unreadable: () => Promise.reject(new RangeError(CANARY)),
};

/** The ways in which a response can be wrong without an error. After a lie, the oracle cannot check the rows. */
const LIES: Record<string, (result: StatementResult, dice: Dice, before: StatementResult) => unknown> = {
  'another row': ({ rows, ...rest }, dice) => ({ ...rest, rows: [...rows, hostileValue(dice)] }),
  doubled: ({ rows, ...rest }) => ({ ...rest, rows: [...rows, ...rows] }),
  empty: (result) => ({ ...result, rows: [] }),
  'no rows at all': () => ({}),
  'the response before': (_, __, before) => before,
  'mutated values': ({ rows, ...rest }, dice) => ({
    ...rest,
    rows: rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, dice.chance(0.7) ? value : hostileValue(dice)]),
      ),
    ),
  }),
};

/** The query function without its driver, and a client whose statements fail and whose responses lie. */
export const KEYSPACES_TARGET: FuzzTarget = { name: 'queries of Amazon Keyspaces', play: query };

/** Reads pages until the last page or a typed error. An honest server returns every row once, in order. */
async function query(fuzzCase: FuzzCase): Promise<void> {
  const { dice } = fuzzCase;
  const fates: string[] = [];
  const client = hostileClient(fuzzCase.diceFor('Amazon Keyspaces'), fates);
  const environment = { client, tables: { blogs: BLOGS }, history: new FanOutHistory() };
  const askPage = loggable((event: QueryEvent, context: Parameters<typeof queryPage>[2]) =>
    queryPage(environment, event, context),
  );
  const author = dice.pick(AUTHORS);
  const event = {
    table: 'blogs',
    value: { author },
    limit: dice.pick([1, 7, 100]),
    order: dice.pick(['ascending', 'descending'] as const),
  };
  const read: string[] = [];
  for (let pages = 0, cursor: string | undefined; pages < 2 * ROWS; pages++) {
    fuzzCase.begins(`page ${pages} of ${JSON.stringify(event)}, after ${fates}`);
    const begun = performance.now();
    const context = { getRemainingTimeInMillis: () => TIMEOUT_MS - (performance.now() - begun) };
    const page = await askPage({ ...event, ...(cursor && { cursor }) }, context).catch(failed);
    if (page === undefined) return;
    read.push(...page.response.rows.map(({ title }) => String(title)));
    cursor = page.response.cursor;
    if (cursor === undefined) break;
  }
  if (fates.some((fate) => fate in LIES)) return;
  const titles = rows().flatMap((row) => (row.author === author ? row.title : []));
  const expected = event.order === 'descending' ? titles.reverse() : titles;
  if (String(read) !== String(expected))
    throw new Error(`the query must return the rows ${expected}, got ${read}, after the faults ${fates}`);
}

function hostileClient(dice: Dice, fates: string[]): CqlClient {
  const table = new FakeCassandra({
    partitionKey: ['author', 'shard'],
    clusteringColumns: [
      { name: 'number', order: 'ASC', compare: (a, b) => Number(a) - Number(b) },
      { name: 'title', order: 'ASC', compare: (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)) },
    ],
  });
  for (const row of rows()) table.insert({ ...row, ...shardColumns(BLOGS, row) });
  const hostile = [...Object.keys(FAULTS), 'late', ...(dice.chance(0.4) ? Object.keys(LIES) : [])];
  const rate = dice.pick([0, 0.05, 0.2, 0.5]);
  let before: StatementResult = { rows: [] };
  return {
    execute: async (...statement) => {
      const fate = dice.chance(rate) ? dice.pick(hostile) : 'honest';
      fates.push(fate);
      if (fate in FAULTS) return FAULTS[fate as keyof typeof FAULTS]();
      if (fate === 'late') await systemClock.sleep(LATE_MS);
      const result = await table.execute(...statement);
      const response = (LIES[fate]?.(result, dice, before) ?? result) as StatementResult;
      before = result;
      return response;
    },
  };
}

/** The rows of the fake table. */
function rows(): { author: string; number: string; title: string; body: string }[] {
  return Array.from({ length: ROWS }, (_, number) => ({
    author: AUTHORS[number % 2]!,
    number: String(Math.floor(number / 4)),
    title: `t${String(number).padStart(3, '0')}`,
    body: CANARY,
  }));
}

/** Throws unless the error is typed, and its text contains no data of the case. */
function failed(error: unknown): undefined {
  const { code, name } = Object(error) as { code?: unknown; name?: string };
  const isTyped =
    typeof code === 'string' ||
    typeof code === 'number' ||
    /^(NoHostAvailable|OperationTimedOut|BusyConnection|Authentication|DriverInternal)Error$/.test(name ?? '');
  if (!isTyped) throw new Error(`the error has no type: ${String(error)}`, { cause: error });
  if (JSON.stringify(error).includes(CANARY))
    throw new Error(`the error contains data of the case: ${JSON.stringify(error).slice(0, 500)}`);
  return undefined;
}
