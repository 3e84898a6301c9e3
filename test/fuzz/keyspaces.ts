import { Client } from 'cassandra-driver';
import { clientOptions } from '../../lambda/keyspaces-query/keyspaces-client';
import type { QueryEvent } from '../../lambda/keyspaces-query/query-event';
import { queryPage } from '../../lambda/keyspaces-query/query-page';
import { SigV4AuthProvider } from '../../lambda/keyspaces-query/sigv4-authenticator';
import { loggable } from '../../lambda/loggable';
import { FanOutHistory, type ShardedKeyspacesConfig, shardColumns } from '../../lib/core';
import { FakeCassandra } from '../fakes/fake-cassandra';
import { CassandraStub, FATES, type Fate, LIES } from './cassandra-stub';
import type { FuzzTarget } from './fuzz-target';
import { CANARY, type Dice } from './random-json';

const REGION = 'eu-west-1';

const BLOGS: ShardedKeyspacesConfig = {
  keyspaceName: 'k',
  tableName: 'blogs',
  partitionKey: [{ name: 'author', type: 'text' }],
  shardColumn: 'shard',
  firstShard: 0,
  clusteringColumns: [
    { name: 'number', type: 'bigint', order: 'ASC' },
    { name: 'title', type: 'text', order: 'ASC' },
  ],
  columns: ['body'],
  shards: { default: { write: 3, read: 3 } },
  strategy: 'calculated',
};
const TYPES = { author: 'text', shard: 'int', number: 'bigint', title: 'text', body: 'text' } as const;
const AUTHORS = [`${CANARY} a`, `${CANARY} b`];
const ROWS = 40;

/** Far below the time of a real function, so that a case with a server that does not answer is short. */
const TIMEOUT_MS = 1_500;
const SILENCE_MS = 150;

/** Much more than any case takes on a busy machine, and much less than what hangs. */
const MOST_MS = 20_000;

/** The query function, with the driver and the signing of the deployed one, and Amazon Keyspaces as a stub of the wire. */
export class KeyspacesTarget {
  private constructor(private readonly stub: CassandraStub) {}

  static async start(dice: Dice): Promise<KeyspacesTarget> {
    const table = new FakeCassandra({
      partitionKey: ['author', 'shard'],
      clusteringColumns: [
        { name: 'number', order: 'ASC', compare: (a, b) => Number(a) - Number(b) },
        { name: 'title', order: 'ASC', compare: (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)) },
      ],
    });
    for (const row of rows()) table.insert({ ...row, ...shardColumns(BLOGS, row) });
    return new KeyspacesTarget(await CassandraStub.start(table, { types: TYPES, region: REGION, dice }));
  }

  async stop(): Promise<void> {
    this.stub.stop();
  }

  get targets(): FuzzTarget[] {
    return [{ name: 'queries of Amazon Keyspaces', play: (dice) => this.query(dice) }];
  }

  /** Page after page, until the last or a typed error. A server that tells no lies gives every row once, in order. */
  private async query(dice: Dice): Promise<void> {
    const fates = this.befall(dice);
    const client = this.client();
    const environment = { client, tables: { blogs: BLOGS }, history: new FanOutHistory() };
    const query = loggable((event: QueryEvent, context: Parameters<typeof queryPage>[2]) =>
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
    try {
      for (let pages = 0, cursor: string | undefined; pages < 2 * ROWS; pages++) {
        const begun = performance.now();
        const context = { getRemainingTimeInMillis: () => TIMEOUT_MS - (performance.now() - begun) };
        const page = await query({ ...event, ...(cursor && { cursor }) }, context).catch(failed);
        if (performance.now() - begun > MOST_MS) throw new Error(`took ${Math.round(performance.now() - begun)} ms`);
        if (page === undefined) return;
        read.push(...page.response.rows.map(({ title }) => String(title)));
        cursor = page.response.cursor;
        if (cursor === undefined) break;
      }
    } finally {
      this.stub.fate = () => 'honest';
      await client.shutdown();
    }
    if (fates.some((fate) => LIES.includes(fate))) return;
    const titles = rows().flatMap((row) => (row.author === author ? row.title : []));
    const expected = event.order === 'descending' ? titles.reverse() : titles;
    if (String(read) !== String(expected)) throw new Error(`read ${read}, after ${fates}`);
  }

  private befall(dice: Dice): Fate[] {
    const fates: Fate[] = [];
    const mayLie = dice.chance(0.4);
    const hostile = FATES.filter((fate) => mayLie || !LIES.includes(fate));
    const rate = dice.pick([0, 0.05, 0.2, 0.5]);
    this.stub.fate = () => {
      const fate = dice.chance(rate) ? dice.pick(hostile) : 'honest';
      fates.push(fate);
      return fate;
    };
    return fates;
  }

  /** The function's own, but for TLS, the address, and how long it is patient. */
  private client(): Client {
    const { sslOptions: _, ...options } = clientOptions(REGION);
    const credentials = { accessKeyId: 'UserID-1', secretAccessKey: CANARY };
    return new Client({
      ...options,
      contactPoints: ['127.0.0.1'],
      protocolOptions: { port: this.stub.port, maxVersion: 4 },
      authProvider: new SigV4AuthProvider(REGION, async () => credentials),
      socketOptions: { readTimeout: SILENCE_MS, connectTimeout: SILENCE_MS },
    });
  }
}

/** In order. */
function rows(): { author: string; number: string; title: string; body: string }[] {
  return Array.from({ length: ROWS }, (_, number) => ({
    author: AUTHORS[number % 2]!,
    number: String(Math.floor(number / 4)),
    title: `t${String(number).padStart(3, '0')}`,
    body: CANARY,
  }));
}

/** Throws unless the error is typed, and says nothing of the data to a log. */
function failed(error: unknown): undefined {
  const { code, name } = Object(error) as { code?: unknown; name?: string };
  const isTyped =
    typeof code === 'string' ||
    typeof code === 'number' ||
    /^(NoHostAvailable|OperationTimedOut|BusyConnection|Authentication|DriverInternal)Error$/.test(name ?? '');
  if (!isTyped) throw new Error(`untyped: ${String(error)}`, { cause: error });
  if (JSON.stringify(error).includes(CANARY)) throw new Error(`logged: ${JSON.stringify(error).slice(0, 500)}`);
  return undefined;
}
