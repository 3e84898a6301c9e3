import { shortened } from '../kernel/errors';
import { CONSISTENCY_LEVELS, type CqlClient } from './cql-client';
import { isRejection } from './cql-failure';
import { UnknownPartitionerError } from './keyspaces-errors';
import { selectRows } from './select-rows';

/** The possible tokens of partitions: `count` consecutive integers from `first` on. */
interface TokenSpace {
  first: bigint;
  count: bigint;
}

const TOKENS_OF_RANDOM: TokenSpace = { first: 0n, count: 2n ** 127n + 1n };

/**
 * The DefaultPartitioner of Amazon Keyspaces uses the same tokens as RandomPartitioner. Sources: Murmur3Partitioner and
 * RandomPartitioner of Apache Cassandra, and the Amazon Keyspaces developer guide, "Working with partitioners".
 */
const TOKEN_SPACES: Record<string, TokenSpace> = {
  Murmur3Partitioner: { first: -(2n ** 63n), count: 2n ** 64n },
  RandomPartitioner: TOKENS_OF_RANDOM,
  DefaultPartitioner: TOKENS_OF_RANDOM,
};

const UNREADABLE =
  'a scan reads the partitioner from the table system.local, but this client may not read that table: allow cassandra:Select on it';

/** The partitioner of a database. The partitioner computes the tokens of partitions. */
export interface Partitioner {
  /** The name of the partitioner's class, without the package. */
  name: string;
  tokens: TokenSpace;
}

/**
 * Reads which partitioner the database uses. An account of Amazon Keyspaces can change its partitioner at any time.
 *
 * @throws UnknownPartitionerError if the database rejects the request, or if the tokens of the partitioner are unknown
 */
export async function partitionerOf(client: CqlClient): Promise<Partitioner> {
  // The statement is not prepared: the developer guide shows it unprepared, and it has no parameters.
  const options = { prepare: false, consistency: CONSISTENCY_LEVELS.LOCAL_ONE, isIdempotent: true };
  const statement = { query: 'SELECT partitioner FROM system.local', parameters: [] };
  const { rows } = await selectRows(client, statement, options).catch((cause) => {
    throw isRejection(cause) ? new UnknownPartitionerError(UNREADABLE, { cause }) : cause;
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
 * The first and the last token of a segment. The last token is never the number before `first`, because Cassandra would
 * interpret that number as the end of the ring.
 */
export function tokensOfSegment(
  { tokens: { first, count } }: Partitioner,
  segment: number,
  totalSegments: number,
): [first: bigint, last: bigint] {
  const tokenAt = (of: number): bigint => first + (count * BigInt(of)) / BigInt(totalSegments);
  return [tokenAt(segment), tokenAt(segment + 1) - 1n];
}
