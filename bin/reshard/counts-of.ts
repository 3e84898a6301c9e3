import type { IndexShards, ShardCount } from '../../lib/core/sharded-index/config/sharded-index-config';
import { checkIndexShardCount } from '../../lib/core/sharding/shard-count';
import { inFlagTerms, UsageError } from '../flags';

/** The forms of a flag's value: counts of writers, of readers, and the smallest count with which items were put. */
const FORMS = {
  to: { pattern: /^(?:(.+)=)?(\d+)$/s, form: 'N or VALUE=N' },
  from: { pattern: /^(?:(.+)=)?(\d+)(?:\/(\d+))?$/s, form: 'N, VALUE=N, W/R or VALUE=W/R' },
  fromTable: {
    pattern: /^(?:(.+)=)?(\d+)(?:\/(\d+)(?:\/(\d+))?)?$/s,
    form: 'N, VALUE=N, W/R, VALUE=W/R, W/R/S or VALUE=W/R/S',
  },
};

/** The counts of a repeated flag: `10`, `shipped=20`, or `10/20` for counts of writers and of readers. */
export function countsOf(command: string, kind: keyof typeof FORMS, texts: readonly string[]): IndexShards {
  const { pattern, form } = FORMS[kind];
  const flag = kind === 'to' ? 'to' : 'from';
  const counts = new Map<string | undefined, ShardCount>();
  for (const text of texts) {
    const [, value, write, read = write, since] = pattern.exec(text) ?? [];
    if (write === undefined) {
      throw new UsageError(`--${flag} must be ${form} with whole numbers, got "${text}"`, command);
    }
    if (counts.has(value)) {
      throw new UsageError(
        `--${flag} must have one count ${value === undefined ? 'without a value' : `of ${value}`}`,
        command,
      );
    }
    counts.set(
      value,
      countOf(command, flag, Number(write), Number(read), since === undefined ? undefined : Number(since)),
    );
  }
  const others = counts.get(undefined);
  if (others === undefined) {
    throw new UsageError(`--${flag} must have one count without a value (the count of all other values)`, command);
  }
  counts.delete(undefined);
  return {
    default: others,
    ...(counts.size > 0 && { byValue: Object.fromEntries(counts) as Record<string, ShardCount> }),
  };
}

function countOf(command: string, flag: string, write: number, read: number, since: number | undefined): ShardCount {
  inFlagTerms(command, () => {
    for (const count of [write, read, since ?? write]) checkIndexShardCount(flag, count);
  });
  if (read < write) {
    throw new UsageError(
      `--${flag} must have at least as many shards for readers as for writers, got "${write}/${read}"`,
      command,
    );
  }
  if (since === undefined) return { write, read };
  if (since <= write) return { write, read, since };
  throw new UsageError(`--${flag} must be W/R/S with S at most W, got "${write}/${read}/${since}"`, command);
}
