import { EvenShardsError, InvalidArgumentError } from '../../kernel/errors';

/** No index with this name is configured in the function or the application. */
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

/**
 * The place of an item is uncertain, because the shard count is changing: the item can be at one of several places.
 */
export class UncertainShardError extends InvalidArgumentError {
  static override readonly code = 'UNCERTAIN_SHARD';
}

/** A sort-key condition has several operators or an unknown operator, or its operands do not fit the operator. */
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
      `${index} of table ${tableName} is still being built (backfilling): query it after DescribeTable shows the status ACTIVE`,
      options,
    );
  }
}

/**
 * DynamoDB rejected a query, because an expression is invalid, or an operand does not have the type of the key. The problem has
 * the message of DynamoDB.
 */
export class QueryRejectedError extends EvenShardsError {
  constructor(tableName: string, index: string, cause: unknown) {
    const summary = `DynamoDB rejected the query of ${index} of table ${tableName}`;
    super('QUERY_REJECTED', `${summary}: ${Object(cause).message}`, { summary, cause });
  }
}

/** The index or the table does not exist, or DynamoDB is creating or deleting it. */
export class IndexNotFoundError extends EvenShardsError {
  constructor(tableName: string, problem: string, options?: ErrorOptions) {
    super(
      'INDEX_NOT_FOUND',
      `table ${tableName} of this account and Region ${problem}, or it is being created or deleted: check the names in the configuration`,
      options,
    );
  }
}
