import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import * as consuming from '../../../../lib/core/consumer';
import { MemoryParkingStore, OrderedConsumer, type SequencePosition } from '../../../../lib/core/consumer';
import { AggregateBuilder } from '../../../../lib/core/producer/aggregate-builder';
import { kinesisEvent, shardOf } from '../../../support/fakes/stream-events';

const context = { getRemainingTimeInMillis: () => 60_000 };

interface Account {
  orders: number;
  numbers: Record<string, string>;
  version: number;
}

describe('the example in the guide to consuming, for a store other than DynamoDB and Postgres', () => {
  const guide = readFileSync(join(__dirname, '../../../../docs/guides/consuming.md'), 'utf8');
  const example = /### Any other store.*?^```ts\n(.*?)^```$/ms.exec(guide)![1]!;

  /** A document store for all processes of the consumer. */
  class Accounts {
    readonly stored = new Map<string, Account>();

    async load(id: string): Promise<Account> {
      return structuredClone(this.stored.get(id) ?? { orders: 0, numbers: {}, version: 0 });
    }

    async save(id: string, account: Account): Promise<void> {
      if ((this.stored.get(id)?.version ?? 0) !== account.version) throw new Error('another process has changed it');
      this.stored.set(id, { ...account, version: account.version + 1 });
    }
  }

  /** The handler of a new process. */
  function handlerOf(accounts: Accounts): OrderedConsumer['handler'] {
    const { code } = transformSync(example, { loader: 'ts', format: 'cjs' });
    const module = { exports: {} as { handler: OrderedConsumer['handler'] } };
    const required = () => consuming;
    new Function('module', 'require', 'accounts', 'parking', code)(
      module,
      required,
      accounts,
      new MemoryParkingStore(),
    );
    return module.exports.handler;
  }

  test('applies a batch once if it is delivered again to another process', async () => {
    const accounts = new Accounts();
    const event = kinesisEvent(shardOf(['a1', 'b1', 'a2']));
    for (let process = 0; process < 3; process++) await handlerOf(accounts)(event, context);
    expect([...accounts.stored].map(([id, { orders }]) => [id, orders])).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
  });
});

describe('the positions of a record', () => {
  /** The records and positions that the handler of a new process receives, in order. */
  async function handled(records: Parameters<typeof kinesisEvent>[0], source?: string) {
    const all: { text: string; positions: SequencePosition[] }[] = [];
    const consumer = new OrderedConsumer(
      ({ data }, { positions }) => void all.push({ text: Buffer.from(data).toString(), positions }),
      { parking: new MemoryParkingStore() },
    );
    expect(await consumer.handler(kinesisEvent(records, source), context)).toEqual({ batchItemFailures: [] });
    return all;
  }

  const sequenced = (partitionKey: string, numbers: readonly bigint[], explicitHashKey?: bigint): Uint8Array => {
    const builder = new AggregateBuilder({ maxBytes: 2 ** 20 });
    for (const sequenceNumber of numbers) {
      const data = Buffer.from(`${partitionKey}${sequenceNumber}`);
      builder.tryAdd({ partitionKey, data, explicitHashKey, sequence: { producerId: 'p', sequenceNumber } });
    }
    return builder.build().data;
  };
  const inShard = (shardId: string, sequenceNumber: string, data: Uint8Array) => ({
    ...{ shardId, partitionKey: 'a', sequenceNumber, data },
  });

  test.each([
    ['a shard', (numbers: bigint[]) => numbers.map((number) => inShard('shard-0', `${number}`, Buffer.from('a')))],
    ['a producer', (numbers: bigint[]) => [inShard('shard-0', '7', sequenced('a', numbers))]],
  ])('have numbers whose order as strings is the order in %s', async (_, recordsOf) => {
    const numbers = [0n, 9n, 10n, 99n, 100n, 10n ** 39n - 1n, 10n ** 39n, 10n ** 40n - 1n];
    const positions = (await handled(recordsOf(numbers))).flatMap((record) => record.positions);
    expect(positions).toHaveLength(numbers.length);
    expect(new Set(positions.map(({ series }) => series)).size).toBe(1);
    const texts = positions.map(({ number }) => number);
    expect(texts.toSorted()).toEqual(texts);
    expect(new Set(texts).size).toBe(texts.length);
  });

  test('have numbers whose order as strings is the order of the records in an aggregate without a sequence', async () => {
    const builder = new AggregateBuilder({ maxBytes: 2 ** 20 });
    for (let index = 0; index < 12; index++) builder.tryAdd({ partitionKey: 'a', data: Buffer.from([index]) });
    const numbers = (await handled([inShard('shard-0', '7', builder.build().data)])).map(
      ({ positions }) => positions[0]!.number,
    );
    expect(numbers.toSorted()).toEqual(numbers);
    expect(new Set(numbers).size).toBe(12);
  });

  test('are the same if a producer sends the record again to another shard', async () => {
    const [first] = await handled([inShard('shard-0', '7', sequenced('a', [3n]))]);
    const [again] = await handled([inShard('shard-9', '1', sequenced('a', [3n]))]);
    expect(again).toEqual(first);
  });

  test('contain a name of 43 ASCII characters, which is different for each combination of key, hash key, shard and source', async () => {
    const keys = ['a', 'b', '\0', 'é'.repeat(256)];
    const all = [
      ...(await handled(keys.map((partitionKey) => ({ ...inShard('shard-0', '1', Buffer.from('x')), partitionKey })))),
      ...(await handled([inShard('shard-1', '1', Buffer.from('x'))])),
      ...(await handled(
        [inShard('shard-0', '1', Buffer.from('x'))],
        'arn:aws:kinesis:us-east-1:111122223333:stream/other',
      )),
      ...(await handled([inShard('shard-0', '2', sequenced('a', [1n]))])),
      ...(await handled([inShard('shard-0', '3', sequenced('a', [1n], 5n))])),
    ];
    const series = all.flatMap(({ positions }) => positions.map((each) => each.series));
    expect(series.every((each) => /^[\w-]{43}$/.test(each))).toBe(true);
    expect(new Set(series).size).toBe(keys.length + 4);
  });
});
