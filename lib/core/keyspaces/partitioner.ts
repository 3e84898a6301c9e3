import { shortened } from '../kernel/errors';
import { CONSISTENCY_LEVELS, type CqlClient } from './cql-client';
import { isRefusal } from './cql-failure';
import { UnknownPartitionerError } from './keyspaces-errors';
import { selectRows } from './select-rows';

/** The tokens that partitions can have: `count` whole numbers from `first` on. */
interface TokenSpace {
  first: bigint;
  count: bigint;
}

const TOKENS_OF_RANDOM: TokenSpace = { first: 0n, count: 2n ** 127n + 1n };

/**
 * Sources: Murmur3Partitioner and RandomPartitioner of Apache Cassandra, and the Amazon Keyspaces developer guide, "Working
 * with partitioners": its DefaultPartitioner has the tokens of RandomPartitioner.
 */
const TOKEN_SPACES: Record<string, TokenSpace> = {
  Murmur3Partitioner: { first: -(2n ** 63n), count: 2n ** 64n },
  RandomPartitioner: TOKENS_OF_RANDOM,
  DefaultPartitioner: TOKENS_OF_RANDOM,
};

const UNREADABLE =
  'a scan must read the partitioner from the table system.local, which this client may not read; allow cassandra:Select on it';

/** The partitioner of a database: how it computes the token of a partition, and so which tokens there are. */
export interface Partitioner {
  /** The name of its class, without the package. */
  name: string;
  tokens: TokenSpace;
}

/**
 * Reads which partitioner the database uses. An account of Amazon Keyspaces can change its partitioner at any time.
 *
 * @throws UnknownPartitionerError if the database refuses the request, or if the partitioner's tokens are not known
 */
export async function partitionerOf(client: CqlClient): Promise<Partitioner> {
  // Not prepared: the developer guide shows this statement, and it has no parameters.
  const options = { prepare: false, consistency: CONSISTENCY_LEVELS.LOCAL_ONE, isIdempotent: true };
  const statement = { query: 'SELECT partitioner FROM system.local', parameters: [] };
  const { rows } = await selectRows(client, statement, options).catch((cause) => {
    throw isRefusal(cause) ? new UnknownPartitionerError(UNREADABLE, { cause }) : cause;
  });
  const className = String(rows[0]?.partitioner);
  const name = className.slice(className.lastIndexOf('.') + 1);
  if (!Object.hasOwn(TOKEN_SPACES, name)) {
    const known = Object.keys(TOKEN_SPACES).join(', ');
    throw new UnknownPartitionerError(
      `the partitioner must be one of ${known} for a scan, got ${shortened(className)}`,
    );
  }
  return { name, tokens: TOKEN_SPACES[name]! };
}

/**
 * The first and the last token of a segment. The last token is never one before the first token of all: Cassandra would take that
 * as the end of the ring.
 */
export function tokensOfSegment(
  { tokens: { first, count } }: Partitioner,
  segment: number,
  totalSegments: number,
): [first: bigint, last: bigint] {
  const tokenAt = (of: number): bigint => first + (count * BigInt(of)) / BigInt(totalSegments);
  return [tokenAt(segment), tokenAt(segment + 1) - 1n];
}
