import { Client } from 'cassandra-driver';
import { clientOptions } from '../../../lambda/keyspaces-query-fanout/keyspaces-client';
import type { QueryEvent } from '../../../lambda/keyspaces-query-fanout/query-event';
import { queryPage } from '../../../lambda/keyspaces-query-fanout/query-page';
import { SigV4AuthProvider } from '../../../lambda/keyspaces-query-fanout/sigv4-authenticator';
import { loggable } from '../../../lambda/loggable';
import { FanOutHistory, shardColumns } from '../../../lib/core';
import { CassandraStub, FATES, type Fate, LIES } from '../../support/fakes/cassandra-stub';
import { FakeCassandra } from '../../support/fakes/fake-cassandra';
import { keyspacesConfig } from '../../support/keyspaces-config';
import { CANARY, type Dice } from '../../support/random-json';
import type { FuzzCase } from './fuzz-case';
import type { FuzzTarget } from './fuzz-target';

const REGION = 'eu-west-1';

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
const TYPES = { author: 'text', shard: 'int', number: 'bigint', title: 'text', body: 'text' } as const;
const AUTHORS = [`${CANARY} a`, `${CANARY} b`];
const ROWS = 40;

/** This timeout is much shorter than the timeout of a real function, so that a case with a silent server is short. */
const TIMEOUT_MS = 1_500;
const SILENCE_MS = 150;

/** The query function, with the driver and signed requests, and a stub of the protocol of Amazon Keyspaces. */
export const KEYSPACES_TARGET: FuzzTarget = { name: 'queries of Amazon Keyspaces', play: query };

/** Reads pages until the last page or a typed error. An honest server returns every row once, in order. */
async function query(fuzzCase: FuzzCase): Promise<void> {
  const { dice } = fuzzCase;
  const stub = await startKeyspaces(fuzzCase);
  const fates = drawFates(stub, dice);
  const client = fuzzCase.with(clientOf(stub), (each) => {
    stub.fate = () => 'honest';
    return each.shutdown();
  });
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
  if (fates.some((fate) => LIES.includes(fate))) return;
  const titles = rows().flatMap((row) => (row.author === author ? row.title : []));
  const expected = event.order === 'descending' ? titles.reverse() : titles;
  if (String(read) !== String(expected))
    throw new Error(`the query must return the rows ${expected}, got ${read}, after the faults ${fates}`);
}

async function startKeyspaces(fuzzCase: FuzzCase): Promise<CassandraStub> {
  const table = new FakeCassandra({
    partitionKey: ['author', 'shard'],
    clusteringColumns: [
      { name: 'number', order: 'ASC', compare: (a, b) => Number(a) - Number(b) },
      { name: 'title', order: 'ASC', compare: (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)) },
    ],
  });
  for (const row of rows()) table.insert({ ...row, ...shardColumns(BLOGS, row) });
  const dice = fuzzCase.diceFor('Amazon Keyspaces');
  return fuzzCase.with(await CassandraStub.start(table, { types: TYPES, region: REGION, dice }), (stub) => stub.stop());
}

function drawFates(stub: CassandraStub, dice: Dice): Fate[] {
  const fates: Fate[] = [];
  const mayLie = dice.chance(0.4);
  const hostile = FATES.filter((fate) => mayLie || !LIES.includes(fate));
  const rate = dice.pick([0, 0.05, 0.2, 0.5]);
  stub.fate = () => {
    const fate = dice.chance(rate) ? dice.pick(hostile) : 'honest';
    fates.push(fate);
    return fate;
  };
  return fates;
}

/** The client of the function, but with another address, another timeout and no TLS. */
function clientOf(stub: CassandraStub): Client {
  const { sslOptions: _, ...options } = clientOptions(REGION);
  const credentials = { accessKeyId: 'UserID-1', secretAccessKey: CANARY };
  return new Client({
    ...options,
    contactPoints: ['127.0.0.1'],
    protocolOptions: { port: stub.port, maxVersion: 4 },
    authProvider: new SigV4AuthProvider(REGION, async () => credentials),
    socketOptions: { readTimeout: SILENCE_MS, connectTimeout: SILENCE_MS },
  });
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
