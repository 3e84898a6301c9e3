import type { EvenShardsError } from '../../kernel/errors';
import { type ShardedConfig, storeName } from '../config/sharded-index-config';
import { IndexNotFoundError, IndexNotReadyError, QueryRejectedError } from '../config/sharded-index-errors';

/**
 * DynamoDB reports a `ValidationException` both for an index that it is still building and for a missing index. Only the
 * message distinguishes the two cases.
 */
const BACKFILLING = 'Cannot read from backfilling global secondary index';
const NO_INDEX = 'The table does not have the specified index';

/** Returns the typed error if DynamoDB rejected a query as invalid or because of the state of the index, otherwise undefined. */
export function rejectionOf(config: ShardedConfig, error: unknown): EvenShardsError | undefined {
  const { name, code, message }: { name?: unknown; code?: unknown; message?: unknown } = Object(error);
  const is = (kind: string): boolean => name === kind || code === kind;
  const says = (text: string): boolean => is('ValidationException') && String(message).includes(text);
  const { tableName } = config;
  if (says(BACKFILLING)) return new IndexNotReadyError(tableName, storeName(config), { cause: error });
  if (says(NO_INDEX)) return new IndexNotFoundError(tableName, `does not have ${storeName(config)}`, { cause: error });
  if (is('ResourceNotFoundException')) return new IndexNotFoundError(tableName, 'does not exist', { cause: error });
  if (is('ValidationException')) return new QueryRejectedError(tableName, storeName(config), error);
  return undefined;
}
