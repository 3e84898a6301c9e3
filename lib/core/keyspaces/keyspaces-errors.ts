import { EvenShardsError, InvalidArgumentError } from '../kernel/errors';

/** The driver has no connection to Amazon Keyspaces at the moment. Another attempt can succeed. */
export class NoConnectionError extends EvenShardsError {
  constructor(options?: ErrorOptions) {
    super('NO_CONNECTION', 'the driver has no connection to Amazon Keyspaces at the moment; try again', options);
  }
}

/** No table with this name is configured in the function or the application. */
export class UnknownTableError extends InvalidArgumentError {
  static override readonly code = 'UNKNOWN_TABLE';
}

/** The configuration of a table contradicts itself, or describes a table that Amazon Keyspaces does not support. */
export class InvalidTableConfigError extends InvalidArgumentError {
  static override readonly code = 'INVALID_TABLE_CONFIG';
}

/** The table does not have the column, or the column is not allowed in this field. */
export class UnknownColumnError extends InvalidArgumentError {
  static override readonly code = 'UNKNOWN_COLUMN';
}

/** A value does not fit the CQL type of its column. */
export class InvalidColumnValueError extends InvalidArgumentError {
  static override readonly code = 'INVALID_COLUMN_VALUE';
}

/** The condition is invalid, or it does not select one consecutive range of rows in a partition. */
export class InvalidClusteringConditionError extends InvalidArgumentError {
  static override readonly code = 'INVALID_CLUSTERING_CONDITION';
}

/** The key of a row contains a value that does not fit the column's type in the configuration. */
export class UnreadableRowError extends EvenShardsError {
  /** @param shard the value of the shard column in the row */
  constructor(
    { keyspaceName, tableName }: { keyspaceName: string; tableName: string },
    shard: number,
    column: { name: string; type: string },
    options?: ErrorOptions,
  ) {
    const where = `shard ${shard} of ${keyspaceName}.${tableName}`;
    super(
      'UNREADABLE_ROW',
      `a row of ${where} has a value in column ${column.name} that is not a valid ${column.type}`,
      options,
    );
  }
}

/** A scan cannot read the whole table, because the token range of the partitioner is unknown. */
export class UnknownPartitionerError extends EvenShardsError {
  constructor(problem: string, options?: ErrorOptions) {
    super('UNKNOWN_PARTITIONER', problem, options);
  }
}
