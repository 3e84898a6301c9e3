import {
  cachedQueryClient,
  fanOutQuery,
  planHotItem,
  planIndex,
  type QueryClient,
  type ShardedTableConfig,
  shardAttributes,
} from '../../../lib/core';
import { DynamoDbLimits } from '../../../lib/testing';
import { VirtualClock } from '../../../lib/testing/virtual-clock';
import { adviceOf } from '../../support/alarms/advice-of';
import { FakeIndex } from '../../support/fakes/fake-index';
import { invoices } from '../../support/fakes/invoices';

/** What the guide to monitoring says to do about a table that is sharded by its own key is done here to its end. */

const INVOICE = '121212';

function withShards(count: number, config = invoices): ShardedTableConfig {
  return { ...config, shards: { default: { write: count, read: count } } };
}

describe('write throttles of a table', () => {
  const WRITES_A_SECOND = 2_400;

  /** How many of a minute's writes of one invoice the partition keys of a table refuse. */
  function refused(config: ShardedTableConfig, transactionOf: (write: number) => Record<string, string>): number {
    let nowMs = 0;
    const limits = new DynamoDbLimits({ now: () => nowMs });
    let count = 0;
    for (let write = 0; write < 60 * WRITES_A_SECOND; write += 1) {
      nowMs = (write * 1_000) / WRITES_A_SECOND;
      const item = { InvoiceNumber: INVOICE, ...transactionOf(write) };
      const key = String(shardAttributes(config, item).InvoiceNumber);
      if (limits.takeWrite([{ tableArn: 'Invoices', key, units: 1 }]) !== undefined) count += 1;
    }
    return count;
  }

  test('all shards of a value: with as many as planIndex says, no partition key refuses a write', () => {
    expect(adviceOf('Write throttles of a table')).toContain(
      '`planIndex` takes the writes a second and the size of an item',
    );
    const transactionOf = (write: number) => ({ ClientTransactionId: `transaction-${write}` });
    const { shards } = planIndex({ writesPerSecond: WRITES_A_SECOND, itemKb: 1 });
    expect(refused(withShards(2), transactionOf)).toBeGreaterThan(0);
    expect(refused(withShards(shards), transactionOf)).toBe(0);
  });

  test('one shard of a value: more shards do not help items that shardedBy does not tell apart, and attributes that differ do', () => {
    expect(adviceOf('Write throttles of a table')).toContain(
      'More shards do not help. Shard by attributes that differ',
    );
    const transactionOf = (write: number) => ({ ClientTransactionId: `transaction-${write}`, client: 'client-1' });
    const byClient = { ...invoices, shardedBy: ['client'] };
    const before = refused(withShards(2, byClient), transactionOf);
    expect(before).toBeGreaterThan(0);
    expect(refused(withShards(64, byClient), transactionOf)).toBe(before);
    const { shards } = planIndex({ writesPerSecond: WRITES_A_SECOND, itemKb: 1 });
    expect(refused(withShards(shards), transactionOf)).toBe(0);
  });
});

describe('read throttles of a table', () => {
  const PAGES_A_SECOND = 150;
  const advice = adviceOf('Read throttles of a table');

  /** An invoice of 50 transactions, behind what its partition keys give: it counts what they refuse. */
  function invoice() {
    const clock = new VirtualClock();
    const config = withShards(5);
    const table = new FakeIndex(config);
    for (let transaction = 0; transaction < 50; transaction += 1) {
      const item = { InvoiceNumber: INVOICE, ClientTransactionId: `transaction-${transaction}` };
      const { InvoiceNumber } = shardAttributes(config, item);
      const text = { S: 'x'.repeat(10_000) };
      table.put({
        InvoiceNumber: { S: String(InvoiceNumber) },
        ClientTransactionId: { S: item.ClientTransactionId },
        text,
      });
    }
    const limits = new DynamoDbLimits({ now: () => clock.now() });
    const read = { refused: 0, units: 0 };
    const client: QueryClient = {
      async query(input) {
        const load = { tableArn: 'Invoices', key: JSON.stringify(input.ExpressionAttributeValues) };
        if (limits.refuseRead(load) !== undefined) read.refused += 1;
        const output = await table.query(input);
        const { CapacityUnits: units = 0 } = output.ConsumedCapacity ?? {};
        limits.noteRead({ ...load, units });
        read.units += units;
        return output;
      },
    };
    return { clock, config, client, read };
  }

  /** Ten seconds of pages. */
  async function readPages(
    { clock, config, client, read }: ReturnType<typeof invoice>,
    { limit, consistentRead }: { limit?: number; consistentRead?: boolean },
  ): Promise<typeof read> {
    for (let page = 0; page < 10 * PAGES_A_SECOND; page += 1) {
      await fanOutQuery(client, config, { value: INVOICE, limit, consistentRead });
      await clock.runUntil(clock.sleep(1_000 / PAGES_A_SECOND));
    }
    return read;
  }

  test('pages that are read too often: small ones, and those that need not be consistent, are not refused', async () => {
    expect(advice).toContain('Ask for small pages, with a `limit`, and without `consistentRead`, which costs twice.');
    const consistent = await readPages(invoice(), { consistentRead: true });
    const eventual = await readPages(invoice(), {});
    const small = await readPages(invoice(), { limit: 10 });
    expect(consistent.refused).toBeGreaterThan(0);
    expect(eventual.units).toBe(consistent.units / 2);
    expect(small.units).toBeLessThan(eventual.units);
    expect(small.refused).toBe(0);
  });

  test('whatever is read too often: a cache of a second takes its reads from many to one a second', async () => {
    expect(advice).toContain('the same caches help');
    const plain = invoice();
    const { clock, client } = plain;
    const texts = new Map<string, { text: string; until: number }>();
    const cache = {
      get(question: string) {
        const kept = texts.get(question);
        return kept !== undefined && clock.now() < kept.until ? kept.text : undefined;
      },
      set: (question: string, text: string) => texts.set(question, { text, until: clock.now() + 1_000 }),
    };
    const cached = await readPages({ ...plain, client: cachedQueryClient(client, cache) }, {});
    expect(cached.refused).toBe(0);
    const direct = await readPages(invoice(), {});
    expect(cached.units).toBeLessThan((2 * direct.units) / PAGES_A_SECOND);
  });

  test('one item that is read too often: planHotItem says what a cache makes of it', () => {
    expect(advice).toContain('`planHotItem` says how many reads are left behind a cache');
    const { readUnitsPerSecond, cachedReadUnitsPerSecond } = planHotItem({ readsPerSecond: 10_000 });
    expect([readUnitsPerSecond, cachedReadUnitsPerSecond]).toEqual([5_000, 0.5]);
  });
});
