import fc from 'fast-check';
import type { DeploymentPlan } from '../../../bin/local/assembly/deployment-plan';
import type { LocalEventSource } from '../../../bin/local/assembly/event-sources';
import { EventSources } from '../../../bin/local/event-sources/event-sources';
import { recordOf } from '../../../bin/local/event-sources/table-stream-client';
import type { FunctionPool } from '../../../bin/local/functions/function-pool';
import type { ItemMoveInput } from '../../../lib/core';
import { MemoryParkingStore, OrderedConsumer } from '../../../lib/core/consumer';
import { IndexKeeper } from '../../../lib/core/sharded-index/keeper/index-keeper';
import { indexStrayOf } from '../../../lib/core/sharded-index/strays/index-stray';
import { VirtualClock } from '../../../lib/testing';
import { serviceError } from '../../../lib/testing/service-error';
import { MemoryKeeperStore } from '../../support/fakes/memory-keeper-store';
import { StreamedTable } from '../../support/fakes/streamed-table';
import { indexConfig } from '../../support/index-config';
import { randomRuns } from '../../support/random-runs';

/**
 * A keeper and an ordered consumer read the stream of one table, each with a random event source mapping. Invocations crash, and
 * end before their batch is done.
 */

const write = fc.record({
  key: fc.constantFrom('a', 'b', 'c', 'd'),
  status: fc.constantFrom('open', 'done'),
  /** Whether the filter of the consumer includes the change. */
  isIncluded: fc.boolean(),
  isDeletedFirst: fc.boolean(),
  /** The number of times that the consumer fails to handle the change. */
  failures: fc.constantFrom(0, 0, 0, 1, 7),
  delayMs: fc.constantFrom(0, 0, 300, 2_000),
});
const mapping = fc.record({
  batchSize: fc.integer({ min: 1, max: 8 }),
  windowMs: fc.constantFrom(0, 2_000),
  parallelizationFactor: fc.constantFrom(1, 2, 10),
  bisects: fc.boolean(),
});
/** How an invocation ends. After a crash after the work, Lambda gets no response. */
const ending = fc.constantFrom('normal', 'normal', 'crash', 'crash after the work', 'little time');
/** Whether a request of the keeper is throttled. */
const throttles = fc.array(fc.boolean(), { maxLength: 10 });

const byStatus = indexConfig({ shards: { default: { write: 4, read: 4 } } });
const FILTER = { dynamodb: { NewImage: { kind: { S: ['in'] } } } };
const TABLE = { name: 'Jobs', path: 'App/Jobs' };
/** Longer than all retries of a batch together. */
const QUIET_MS = 120_000;

test('with any settings of the mappings, the keeper corrects every item, and a consumer of the same stream handles the changes of each item in order', async () => {
  const property = fc.asyncProperty(
    fc.array(write, { minLength: 1, maxLength: 14 }),
    ...([mapping, mapping, fc.boolean(), fc.array(ending, { maxLength: 12 }), throttles] as const),
    async (writes, ofKeeper, ofConsumer, hasFilter, endings, throttled) => {
      const clock = new VirtualClock();
      const timeOfDay = () => clock.now();
      const table = new StreamedTable(['jobId'], 'NEW_AND_OLD_IMAGES');
      const left = [...throttled];
      const client = {
        scan: table.scan.bind(table),
        getItem: table.getItem.bind(table),
        updateItem: async (input: ItemMoveInput) => {
          await clock.sleep(20);
          if (left.shift()) throw serviceError('ThrottlingException', 'later');
          table.timeOfDay = clock.now();
          return table.updateItem(input);
        },
      };
      const options = { clock, timeOfDay, random: () => 0.5 };
      const keeper = new IndexKeeper(client, [byStatus], new MemoryKeeperStore(), options);
      const failures = new Map<string, number>(writes.map((each, n) => [`${n}`, each.failures]));
      const handled: Record<string, string[]> = {};
      const consumer = new OrderedConsumer(
        async ({ partitionKey, data }) => {
          const text = JSON.parse(Buffer.from(data).toString()).dynamodb.NewImage?.text.S as string | undefined;
          if (text === undefined) return;
          await clock.sleep(10);
          const remaining = failures.get(text)!;
          failures.set(text, remaining - 1);
          if (remaining > 0) throw new Error('not yet');
          handled[partitionKey] = [...(handled[partitionKey] ?? []), text];
        },
        { parking: new MemoryParkingStore(), retryMs: 1, ...options },
      );

      const invoke = async (payload: string, work: (event: never, ms: number) => Promise<object>) => {
        const end = endings.shift() ?? 'normal';
        const crashed = { payload: '{"errorType":"Error","errorMessage":"no"}', functionError: 'Unhandled' };
        if (end === 'crash') return crashed;
        const answer = await work(JSON.parse(payload) as never, end === 'little time' ? 50 : 60_000);
        return end === 'crash after the work' ? crashed : { payload: JSON.stringify(answer) };
      };
      const pools = {
        keeper: (payload: string) =>
          invoke(payload, async (event, ms) => {
            const over = new AbortController();
            clock.schedule(() => over.abort(), ms);
            const { firstUnfinished } = await keeper.keep(event, over.signal);
            return { batchItemFailures: firstUnfinished ? [{ itemIdentifier: firstUnfinished }] : [] };
          }),
        consumer: (payload: string) =>
          invoke(payload, (event, ms) => {
            const endsAt = clock.now() + 5_000 + ms;
            return consumer.handler(event, { getRemainingTimeInMillis: () => endsAt - clock.now() });
          }),
      };
      const sourceOf = (functionName: string, settings: object, filters: object[]) => ({
        ...{ path: `App/${functionName}`, functionName, reads: 'table', streamName: TABLE.name, streamArn: 'arn' },
        ...{ from: 'TRIM_HORIZON', reportsFailures: true, ...settings, filters },
      });
      const tableStreams = {
        listShards: async () => ({ Shards: [{ ShardId: 'shard' }] }),
        getShardIterator: async () => ({ ShardIterator: '0' }),
        getRecords: async ({ ShardIterator }: { ShardIterator: string }) => {
          const from = Number(ShardIterator);
          const Records = table.records.slice(from).map((record) => recordOf(record as never));
          return { Records, NextShardIterator: String(from + Records.length) };
        },
      };
      const eventSources = [
        sourceOf('keeper', ofKeeper, []),
        sourceOf('consumer', ofConsumer, hasFilter ? [FILTER] : []),
      ] as unknown as LocalEventSource[];
      const sources = new EventSources(
        { eventSources, tables: [TABLE], schedules: [] } as never as DeploymentPlan,
        { kinesis: tableStreams as never, tableStreams: tableStreams as never },
        new Map(
          Object.entries(pools).map(([name, call]) => [
            name,
            { definition: { path: name }, invoke: call } as never as FunctionPool,
          ]),
        ),
        () => {},
        { clock, timeOfDay },
      );
      const expected: Record<string, string[]> = {};
      const run = async (): Promise<void> => {
        await sources.start();
        for (const [n, { key, status, isIncluded, isDeletedFirst, delayMs }] of writes.entries()) {
          await clock.sleep(delayMs);
          table.timeOfDay = clock.now();
          const Key = { jobId: { S: key } };
          if (isDeletedFirst) table.delete(Key);
          const kind = { S: isIncluded ? 'in' : 'out' };
          table.put({ ...Key, status: { S: status }, createdAt: { S: '1' }, kind, text: { S: `${n}` } });
          const partitionKey = JSON.stringify(Object.entries(Key));
          if (isIncluded || !hasFilter) expected[partitionKey] = [...(expected[partitionKey] ?? []), `${n}`];
        }
        await clock.sleep(QUIET_MS);
        const stopped = sources.stop();
        await clock.sleep(20_000);
        await stopped;
        for (let replays = 0; replays < 120; replays++) {
          await clock.sleep(QUIET_MS);
          await consumer.retryParked();
        }
      };
      const quiet = [jest.spyOn(console, 'error'), jest.spyOn(console, 'log')];
      for (const each of quiet) each.mockImplementation(() => {});
      await clock.runUntil(run());
      for (const each of quiet) each.mockRestore();

      for (const item of table.items.values()) expect(indexStrayOf(byStatus, item)).toBeUndefined();
      // The consumer also handles the records of corrections, which contain the text of the latest write.
      const once = Object.fromEntries(Object.entries(handled).map(([key, texts]) => [key, [...new Set(texts)]]));
      expect(once).toEqual(expected);
      for (const texts of Object.values(handled)) {
        expect(texts).toEqual([...texts].sort((a, b) => Number(a) - Number(b)));
      }
    },
  );
  await fc.assert(property, { numRuns: randomRuns(100) });
}, 120_000);
