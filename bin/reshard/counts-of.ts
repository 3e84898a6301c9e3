import { checkShardCount, MAX_INDEX_SHARDS } from '../../lib/core/foundation/shard-count';
import type { IndexShards, ShardCount } from '../../lib/core/sharded-index/sharded-index-config';
import { inFlagTerms, UsageError } from '../flags';

/** The counts that a repeated flag holds: `10`, `shipped=20`, or `10/20` for counts of writers and of readers. */
export function countsOf(command: string, flag: 'from' | 'to', texts: readonly string[]): IndexShards {
  const counts = new Map<string | undefined, ShardCount>();
  for (const text of texts) {
    const [, value, write, read] = /^(?:(.+)=)?(\d+)(?:\/(\d+))?$/s.exec(text) ?? [];
    if (write === undefined || (flag === 'to' && read !== undefined)) {
      const form = flag === 'to' ? 'N or VALUE=N' : 'N, VALUE=N, W/R or VALUE=W/R';
      throw new UsageError(`--${flag} must be ${form} with whole numbers, got "${text}"`, command);
    }
    if (counts.has(value)) {
      throw new UsageError(
        `--${flag} must have one count ${value === undefined ? 'without a value' : `of ${value}`}`,
        command,
      );
    }
    counts.set(value, countOf(command, flag, Number(write), Number(read ?? write)));
  }
  const others = counts.get(undefined);
  if (others === undefined) {
    throw new UsageError(`--${flag} must have one count without a value, which is that of all other values`, command);
  }
  counts.delete(undefined);
  return {
    default: others,
    ...(counts.size > 0 && { byValue: Object.fromEntries(counts) as Record<string, ShardCount> }),
  };
}

function countOf(command: string, flag: string, write: number, read: number): ShardCount {
  inFlagTerms(command, () => {
    checkShardCount(flag, write, MAX_INDEX_SHARDS);
    checkShardCount(flag, read, MAX_INDEX_SHARDS);
  });
  if (read >= write) return { write, read };
  throw new UsageError(`--${flag} must have readers ask all shards of writers, got "${write}/${read}"`, command);
}
