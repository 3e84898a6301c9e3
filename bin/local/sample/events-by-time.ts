import { shardCountOf } from '../../../lib/core/sharded-index/config/sharded-index-config';
import { SampleFailedError } from '../../invalid-input-error';
import type { QueriedIndex } from '../producers-and-indexes';
import type { LocalStack } from '../run-local';
import { type PlainItem, writeItems } from '../write-items';
import { queryAll } from './query-pages';

const MINUTE_MS = 60_000;
const START = Date.UTC(2020, 0, 1);
const FROM = new Date(START).toISOString();
const TO = new Date(START + 12 * 60 * MINUTE_MS - 1_000).toISOString();

/**
 * The example of "GSI Sharding in DynamoDB". Writes 100 events, one every 15 minutes, to the shards of an index over
 * the whole table. Then queries the events of the first twelve hours, unordered and ordered.
 */
export async function eventsByTime(
  stack: LocalStack,
  index: QueriedIndex,
  print: (line: string) => void,
): Promise<void> {
  const { tableName, indexName, tableKey, sortKeyAttributes } = index.config;
  const sortKey = sortKeyAttributes[0]!;
  const events = Array.from({ length: 100 }, (_, number): PlainItem => {
    const id = `event-${String(number).padStart(3, '0')}`;
    return {
      ...Object.fromEntries(sortKeyAttributes.map((attribute) => [attribute, id])),
      ...Object.fromEntries(tableKey.map((attribute) => [attribute, id])),
      [sortKey]: new Date(START + number * 15 * MINUTE_MS).toISOString(),
    };
  });
  await writeItems(stack, tableName, events);

  const sortKeyRange = { between: [FROM, TO] as [string, string] };
  const unordered = await queryAll(stack, index, { sortKey: sortKeyRange, order: 'unordered' });
  const ordered = await queryAll(stack, index, { sortKey: sortKeyRange });
  const expected = events.filter((event) => event[sortKey]! <= TO).map((event) => event[tableKey[0]!]);
  const ids = (items: PlainItem[]) => items.map((item) => item[tableKey[0]!]);
  if (ids(unordered).sort().join() !== expected.join()) throw new SampleFailedError(`${indexName} missed an event`);
  if (ids(ordered).join() !== expected.join()) throw new SampleFailedError(`${indexName} is not in time order`);

  print('');
  print(`${events.length} events over ${shardCountOf(index.config, undefined).read} shards of ${indexName}`);
  print(
    `   one query for the first 12 hours, in order of time: ${ordered.length} events, ${ids(ordered).slice(0, 4).join(', ')}, ...`,
  );
}
