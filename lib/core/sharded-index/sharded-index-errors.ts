import { InvalidArgumentError } from '../foundation/errors';

/** An index name that the function or application does not know. */
export class UnknownIndexError extends InvalidArgumentError {
  override readonly code = 'UNKNOWN_INDEX';
}

/** An index configuration that contradicts itself. */
export class InvalidIndexConfigError extends InvalidArgumentError {
  override readonly code = 'INVALID_INDEX_CONFIG';
}

/** A value asked of an index that does not have it. */
export class InvalidIndexValueError extends InvalidArgumentError {
  override readonly code = 'INVALID_INDEX_VALUE';
}

/** A sort-key condition that is not exactly one of the conditions DynamoDB has. */
export class InvalidSortKeyConditionError extends InvalidArgumentError {
  override readonly code = 'INVALID_SORT_KEY_CONDITION';
}
