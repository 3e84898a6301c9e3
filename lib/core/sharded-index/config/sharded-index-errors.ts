import { EvenShardsError, InvalidArgumentError } from '../../kernel/errors';

/** The function or the application does not know an index of this name. */
export class UnknownIndexError extends InvalidArgumentError {
  static override readonly code = 'UNKNOWN_INDEX';
}

/** The configuration of an index is incomplete or contradicts itself. */
export class InvalidIndexConfigError extends InvalidArgumentError {
  static override readonly code = 'INVALID_INDEX_CONFIG';
}

/** The value of a request or an item does not fit the index: it is missing, of a wrong type, or not allowed. */
export class InvalidIndexValueError extends InvalidArgumentError {
  static override readonly code = 'INVALID_INDEX_VALUE';
}

/** While a shard count changes, the place of an item is not known: it can be at one of several. */
export class UncertainShardError extends InvalidArgumentError {
  static override readonly code = 'UNCERTAIN_SHARD';
}

/** A sort-key condition is not exactly one of the conditions of DynamoDB, or its operands do not fit it. */
export class InvalidSortKeyConditionError extends InvalidArgumentError {
  static override readonly code = 'INVALID_SORT_KEY_CONDITION';
}

/**
 * DynamoDB is still building the index: its status is `CREATING`. Every query of the index fails until the status is `ACTIVE`.
 * This can take minutes or hours, so the query does not retry.
 */
export class IndexNotReadyError extends EvenShardsError {
  constructor(tableName: string, index: string, options?: ErrorOptions) {
    super(
      'INDEX_NOT_READY',
      `${index} of table ${tableName} is still being built (backfilling), query it once DescribeTable shows the status ACTIVE`,
      options,
    );
  }
}

/** The table does not have the index, because nobody has created it or because it is being deleted, or there is no such table. */
export class IndexNotFoundError extends EvenShardsError {
  constructor(tableName: string, problem: string, options?: ErrorOptions) {
    super(
      'INDEX_NOT_FOUND',
      `table ${tableName} of this account and Region ${problem}, or it is being created or deleted: check the names in the configuration`,
      options,
    );
  }
}
