import { shardIndexOf, uniformRanges } from '../../lib/core/stream-format/hash-key-ranges';
import { hashPartitionKey } from '../../lib/core/stream-format/hash-key-space';
import { textTable } from '../text-table';
import type { Placement } from './simulation';
import type { KeyRecords } from './strategies';

/** The results of a simulation. */
export interface SimulationReport {
  records: number;
  keys: KeyRecords;
  busiest: { key: string; share: number };
  /** The shard counts now and after each doubling. */
  shardCounts: readonly number[];
  placements: readonly Placement[];
}

/** A line about the simulated keys and shards. */
export function summary({ records, keys, shardCounts }: SimulationReport): string {
  return `${records.toLocaleString('en')} records of ${keys.length.toLocaleString('en')} keys on ${shardCounts[0]} shards`;
}

/** The lines of a simulation's report. */
export function simulationLines(report: SimulationReport): string[] {
  const { busiest } = report;
  return [
    `${summary(report)}; the busiest key, ${busiest.key}, has ${(busiest.share * 100).toPrecision(2)}% of the records`,
    '',
    'a stream: all records of a key on one shard; the busiest shard in multiples of the mean',
    ...placementTable(report, 'keys'),
    '',
    'an index: every item on a shard of its own; the busiest shard in multiples of the mean',
    ...placementTable(report, 'items'),
    '',
    ...findings(report),
    '(after a doubling, each key of a stream keeps its hash key; all items of an index are written again)',
    '',
    ...LEGEND,
  ];
}

/** The conclusions from the numbers. */
export function findings(report: SimulationReport): string[] {
  const { busiest, shardCounts, placements } = report;
  const [shards] = shardCounts as [number];
  const hottest = (name: string) => placements.find((placement) => placement.name === name)?.hottest[0];
  const byHash = hottest('partition-key')!;
  const byCount = hottest('allocator')!;
  const byWeight = hottest('allocator-by-weight');
  const product = placements.find(({ name }) => name === 'product-suffix')!;
  const unused = product.loads[0]!.filter((load) => load === 0).length;
  return [
    ...keysByHash(report),
    `by partition key (MD5) the busiest of ${shards} shards has ${times(byHash)} its share, with balanced explicit hash ` +
      (byWeight === undefined
        ? `keys (allocator) ${times(byCount)}: the same stream carries ${times(byHash / byCount)} as much`
        : `keys by weight (allocator by weight) ${times(byWeight)}: the same stream carries ${times(byHash / byWeight)} as much`),
    ...(byCount > byHash
      ? [
          `BALANCED KEYS WITHOUT WEIGHTS ARE WORSE THAN MD5 HERE, ${times(byCount)} against ${times(byHash)}: they count ` +
            'owners, and these owners are unequal. Give each its weight',
        ]
      : []),
    ...(busiest.share * shards > 1
      ? [
          `no placement of whole keys goes below ${times(busiest.share * shards)}: that is ${busiest.key} alone, which ` +
            'only splitting the key fixes',
        ]
      : []),
    ...(unused > 0 ? [`the product of code points leaves ${unused} of ${shards} shards of an index empty`] : []),
  ];
}

/** Up to this number, each shard has its own line, as in the article. */
const SHOWN_SHARDS = 8;

/** The number of keys on each shard if Kinesis places them. */
function keysByHash({ keys, shardCounts: [shards = 1] }: SimulationReport): string[] {
  if (shards > SHOWN_SHARDS) return [];
  const ranges = uniformRanges(shards);
  const counts = new Array<number>(shards).fill(0);
  for (const [key] of keys) counts[shardIndexOf(hashPartitionKey(key), ranges)]! += 1;
  const listed = new Intl.ListFormat('en').format(counts.map((count) => count.toLocaleString('en')));
  return [`by partition key (MD5) the shards have, one after the other, ${listed} keys`];
}

/** An explanation of each strategy. */
const LEGEND = [
  'partition key (MD5)       Kinesis places a key by the hash of its partition key',
  'left to right, alternating, balanced   the orders of "Kinesis Hash Key Space Partitioning", one key after the other',
  'allocator                 a HashKeyRegistry without weights: as many owners on each shard',
  'allocator by weight       a HashKeyRegistry with weights: as many records on each shard, the busiest owner first',
  'random suffix, calculated suffix       each item of an index on one of its shards',
  'suffixes by weight        each value has shards of its own, in proportion to its share and one at least',
  'product of code points    the calculated suffix of the guides of DynamoDB and Amazon Keyspaces',
];

function times(multiple: number): string {
  return `${multiple.toFixed(2)} times`;
}

function placementTable({ placements, shardCounts }: SimulationReport, places: Placement['places']): string[] {
  const rows = placements
    .filter((placement) => placement.places === places)
    .map(({ title, hottest, loads }) => [
      loads[0]!.length > shardCounts[0]! ? `${title} (${loads[0]!.length} shards)` : title,
      ...hottest.map((multiple) => multiple.toFixed(2)),
      loads[0]!.filter((load) => load === 0).length,
    ]);
  return textTable(['strategy', ...shardCounts.map((count) => `${count} shards`), `empty of ${shardCounts[0]}`], rows);
}
