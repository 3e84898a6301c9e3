import { readReportedWrites } from '../../../../lambda/adaptive-shard-count-controller/reported-writes';
import {
  AdaptiveIndex,
  DynamoDbShardCountReader,
  DynamoDbShardCountStore,
  type GrownCount,
  increaseShardCount,
  type ShardedIndexConfig,
} from '../../../../lib/core';
import { reportOf } from '../../../../lib/core/adaptive-counts/write-report-table';
import { ParkingTable } from '../../../support/fakes/parking-table';
import { goldenValues } from '../../../support/golden/golden-values';

interface Item {
  [name: string]: { S?: string; N?: string };
}

function tableOf(items: readonly Item[]) {
  const table = new ParkingTable(['index', 'value']);
  for (const item of items) table.put(structuredClone(item));
  const client = {
    query: async (input: never) => structuredClone(table.query(input)),
    putItem: async (input: never) => table.putItem(structuredClone(input)),
  } as never;
  return { table, client };
}

const noWait = () => {
  let now = 0;
  const sleep = async (ms: number) => {
    now += ms;
  };
  return { clock: { now: () => now, sleep } as never };
};

const counts = goldenValues<{ config: ShardedIndexConfig; counts: GrownCount[]; table: Item[] }>('shard-count');

test.each(counts)('golden shard counts %s – the index uses the same counts', async (_, golden) => {
  const { client } = tableOf(golden.table);
  expect(await new DynamoDbShardCountReader(client, golden.config).readCounts()).toEqual(golden.counts);
  const index = new AdaptiveIndex(golden.config, new DynamoDbShardCountReader(client, golden.config));
  const { shards } = await index.forReading();
  for (const { value, write, read } of golden.counts) {
    const count = value === undefined ? shards.default : shards.byValue![value];
    expect(count).toMatchObject({ write: Math.max(write, count!.write), read });
  }
});

test.each(counts)(
  'golden shard counts %s – the next version keeps attributes of a later release',
  async (_, golden) => {
    const { table, client } = tableOf(golden.table.map((item) => ({ ...item, color: { S: 'red' } })));
    const { config } = golden;
    const { value, version } = golden.counts[0]!;
    const increase = { to: 20, reason: 'more writes', changedBy: 'a test', ...(value !== undefined && { value }) };
    const count = await increaseShardCount(config, new DynamoDbShardCountStore(client, config), increase, noWait());
    expect(count).toMatchObject({ value, write: 20, read: 20, version: version + 2 });
    expect(JSON.stringify(count)).not.toContain('red');
    const key = value === undefined ? '*' : `=${value}`;
    const stored = table.all.filter(
      (item) => item.index.S === `${config.tableName}/${config.indexName}` && item.value.S === key,
    );
    expect(stored).toMatchObject([{ color: { S: 'red' }, write: { N: '20' }, version: { N: `${version + 2}` } }]);
  },
);

test.each(goldenValues<{ config: ShardedIndexConfig; report: object; table: Item[] }>('write-report'))(
  'golden write report %s – has the same minute, value and writes',
  async (_, { config, report, table }) => {
    const { client } = tableOf(table);
    expect(table.map((item) => reportOf(item.value!.S!, item as never))).toEqual([report]);
    const reported = await readReportedWrites(client, config, Date.parse('2026-12-01T12:02:00Z'));
    const { value, start, ...writes } = report as { value?: string; start: number };
    expect(reported).toEqual([{ value, minutes: [expect.objectContaining({ start, ...writes })] }]);
  },
);
