import { areShardsEven, skewOf, widthOf } from '../../lib/core/resharding/skew';
import { HASH_KEY_SPACE } from '../../lib/core/stream-format/hash-key-space';
import { counted, percent } from '../plain-text';
import { textTable } from '../text-table';
import type { Shard } from './list-shards';

const BAR = 40;

/** The shards of a stream as lines for a terminal. */
export function shardsReport(stream: string, shards: readonly Shard[], withClosed: boolean): string[] {
  const open = shards.filter(({ isOpen }) => isOpen);
  const closed = shards.length - open.length;
  const skew = skewOf(open);
  const shown = withClosed ? shards : open;
  return [
    `${stream}: ${counted(open.length, 'open shard')}, ${areShardsEven(open) ? 'even' : 'UNEVEN'}: ` +
      `the widest has ${skew.toFixed(2)} times the hash keys of the mean`,
    ...(skew > 1 ? [`keys that MD5 places load it ${skew.toFixed(2)} times as much as the mean`] : []),
    '',
    ...textTable(
      ['shard', 'first hash key', 'last hash key', 'part', ''],
      shown.map(({ shardId, isOpen, startingHashKey, endingHashKey, parents }) => [
        shardId,
        String(startingHashKey),
        String(endingHashKey),
        percent(partOf({ startingHashKey, endingHashKey })),
        [
          isOpen ? bar({ startingHashKey, endingHashKey }) : 'closed',
          ...(parents.length > 0 && withClosed ? [`from ${parents.join(' and ')}`] : []),
        ].join(' '),
      ]),
    ),
    ...(withClosed ? sequenceNumberLines(shards) : []),
    ...(closed > 0 && !withClosed
      ? [
          '',
          `${closed} closed ${closed === 1 ? 'shard still holds' : 'shards still hold'} records: --closed lists them, too`,
        ]
      : []),
  ];
}

/** The sequence numbers at which each shard begins and ends, as `describe-stream` of the AWS CLI prints them. */
function sequenceNumberLines(shards: readonly Shard[]): string[] {
  const rows = shards.map(({ shardId, startingSequenceNumber = '', endingSequenceNumber = 'open' }) => [
    shardId,
    startingSequenceNumber,
    endingSequenceNumber,
  ]);
  return ['', ...textTable(['shard', 'first sequence number', 'last sequence number'], rows)];
}

type Range = Pick<Shard, 'startingHashKey' | 'endingHashKey'>;

function partOf(range: Range): number {
  return Number((widthOf(range) * 1_000_000n) / HASH_KEY_SPACE) / 1_000_000;
}

function bar(range: Range): string {
  return '#'.repeat(Math.max(1, Math.round(partOf(range) * BAR)));
}
