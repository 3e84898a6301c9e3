import { shardCountOf } from '../../../lib/core/sharded-index/config/sharded-index-config';
import { SampleFailedError } from '../../invalid-input-error';
import { counted } from '../../plain-text';
import type { QueriedIndex } from '../producers-and-indexes';
import type { LocalStack } from '../run-local';
import { sampleWeights } from '../sample-payloads';
import { type PlainItem, writeItems } from '../write-items';
import { queryPage } from './query-pages';

const ITEMS = 1_000;
const NEWEST = 10;
const START = Date.UTC(2020, 1, 1);

/**
 * The second example of "GSI Sharding in DynamoDB". Writes jobs with few statuses, and most jobs have one of two
 * statuses. The shards of each status are in proportion to its jobs. Then queries the newest jobs of the first status
 * as one ordered page. In an app with other items, the attributes have the names that its table and index declare.
 */
export async function itemsByValue(
  stack: LocalStack,
  index: QueriedIndex,
  print: (line: string) => void,
): Promise<void> {
  const { config } = index;
  const [id, sortKey] = [config.tableKey[0]!, config.sortKeyAttributes[0]!];
  // indexesOf selects only indexes whose values are texts.
  const weights = sampleWeights(index) as [value: string, weight: number][];
  // Each value has as many slots as its weight. If there are more slots than items, the items use some slots of each value.
  const slots = weights.flatMap(([value, weight]) => Array.from({ length: weight }, () => value));
  const step = Math.ceil(slots.length / ITEMS);
  const noun = itemNoun(id);
  const sample = Array.from({ length: ITEMS }, (_, number): PlainItem => {
    const name = `${noun}-${String(number).padStart(4, '0')}`;
    return {
      ...Object.fromEntries([...config.sortKeyAttributes, ...config.tableKey].map((attribute) => [attribute, name])),
      [sortKey]: new Date(START + number * 60_000).toISOString(),
      [config.valueAttribute!]: slots[(number * step) % slots.length]!,
    };
  });
  await writeItems(stack, config.tableName, sample);

  const value = weights[0]![0];
  const { items, stats } = await queryPage(stack, index, { value, order: 'descending', limit: NEWEST });
  const ofValue = (wanted: string) => sample.filter((item) => item[config.valueAttribute!] === wanted);
  const expected = ofValue(value).slice(-NEWEST).reverse();
  if (items.map((item) => item[id]).join() !== expected.map((item) => item[id]).join()) {
    throw new SampleFailedError(`${config.indexName} did not return the newest ${NEWEST} of ${value}`);
  }

  print('');
  print(
    `${ITEMS} ${noun}s in the index ${config.indexName}: a ${config.valueAttribute} with more shards gets more ${noun}s`,
  );
  const shardsOf = weights.map(
    ([each]) => `${each} ${ofValue(each).length} on ${counted(shardCountOf(config, each).read, 'shard')}`,
  );
  print(`   ${shardsOf.join(', ')}`);
  print(
    `   one query for the newest ${NEWEST} ${value}, in order, from ${counted(stats.shards, 'shard')} in ${counted(stats.waves, 'wave')} of parallel requests:`,
  );
  print(`   ${items.map((item) => item[id]).join(', ')}`);
}

/** The name of a kind of item, from the name of its key: `jobId` gives a job. */
function itemNoun(key: string): string {
  return /^([a-z]+?)_?id$/i.exec(key)?.[1]?.toLowerCase() ?? 'item';
}
