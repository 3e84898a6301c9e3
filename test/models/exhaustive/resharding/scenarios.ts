import { type HashKeyRange, uniformRanges } from '../../../../lib/core';
import { HASH_KEY_SPACE } from '../../../../lib/core/stream-format/hash-key-space';
import type { Scenario } from '../explore';
import { NOW, type ReshardBounds, reshardScenario } from './reshard-scenario';

/** Shards that start at these eighths of the hash key space. */
function shardsFrom(...eighths: readonly number[]): HashKeyRange[] {
  const starts = [...eighths, 8].map((eighth) => (HASH_KEY_SPACE / 8n) * BigInt(eighth));
  return starts.slice(0, -1).map((startingHashKey, index) => {
    return { startingHashKey, endingHashKey: starts[index + 1]! - 1n };
  });
}

/** Processes reshard a stream to a shard count, with faults. */
export function reshardScenarios(faults: number): Scenario[] {
  const all: Record<string, ReshardBounds> = {
    'two updates': { ranges: uniformRanges(1), work: [{ shardCount: 4 }], faults: faults + 1 },
    'by one shard': { ranges: uniformRanges(2), work: [{ shardCount: 3 }], faults: faults + 1 },
    'with intermediate updates': { ranges: shardsFrom(0, 4, 6), work: [{ shardCount: 3 }], faults },
    'splits and merges': { ranges: shardsFrom(0, 2, 4, 5), work: [{ shardCount: 4 }], faults: faults + 1 },
    'no updates left for the day': {
      ranges: uniformRanges(2),
      work: [{ shardCount: 4 }],
      updatesAreUsedUp: true,
      faults: faults + 1,
    },
    'two processes': { ranges: uniformRanges(1), work: [{ shardCount: 2 }, { shardCount: 2 }], faults },
    'two deployments': {
      ranges: uniformRanges(2),
      work: [
        { shardCount: 2, startedAt: NOW - 1_000 },
        { shardCount: 3, startedAt: NOW - 2_000 },
      ],
      faults: 0,
    },
    'a deployment and a repair': {
      ranges: uniformRanges(1),
      work: [{ shardCount: 3 }, { shardCount: 2, startedAt: NOW - 1_000 }],
      faults: 0,
    },
  };
  return Object.entries(all).map(([name, bounds]) => reshardScenario(`a reshard, ${name}`, bounds));
}
