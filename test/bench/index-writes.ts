import type { IndexShards, ShardedIndexConfig } from '../../lib/core';
import { type Core, coresToCompare } from '../support/core-at';
import { indexConfig } from '../support/index-config';

const VALUES = [0, 1_000, 10_000];
const WRITES = 1_000;
const ROUNDS = 3;

/**
 * The CPU time of one write to an index with shard counts for single values: what `shardPut` adds to a put. With "against REF"
 * also of the core as it was at that commit.
 *
 *     npm run bench index-writes [against REF]
 */
async function main(benchArguments: string[]): Promise<void> {
  for (const [name, core] of await coresToCompare(benchArguments)) tellWrites(name, core);
}

function tellWrites(name: string, { shardPut }: Core): void {
  for (const values of VALUES) {
    const config = configWith(values);
    const first = microsecondsOf(() => shardPut([config], { jobId: 'job', status: 'value-0', createdAt: 0 }));
    const rounds = Array.from({ length: ROUNDS }, () =>
      microsecondsOf(() => {
        for (let write = 0; write < WRITES; write++)
          shardPut([config], { jobId: `job-${write}`, status: `value-${write % 100}`, createdAt: write });
      }),
    );
    const each = Math.min(...rounds) / WRITES;
    const told = values.toLocaleString('en').padStart(7);
    console.log(
      `${name}: ${told} values: ${each.toFixed(1)} us a write; the first one ${(first / 1_000).toFixed(1)} ms`,
    );
  }
}

function configWith(values: number): ShardedIndexConfig {
  const byValue: IndexShards['byValue'] = {};
  for (let value = 0; value < values; value++) byValue[`value-${value}`] = { write: 8, read: 8 };
  return indexConfig({
    shardAttribute: 'statusShard',
    sortKeyAttributes: [],
    shards: { default: { write: 4, read: 4 }, byValue },
  });
}

function microsecondsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

void main(process.argv.slice(2));
