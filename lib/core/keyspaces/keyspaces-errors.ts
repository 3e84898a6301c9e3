import { EvenShardsError, InvalidArgumentError } from '../kernel/errors';

/** The driver has no connection to Amazon Keyspaces at that moment. Another attempt can succeed. */
export class NoConnectionError extends EvenShardsError {
  constructor(options?: ErrorOptions) {
    super('NO_CONNECTION', 'the driver has no connection to Amazon Keyspaces at the moment; try again', options);
  }
}

/** A table name that the function or application does not know. */
export class UnknownTableError extends InvalidArgumentError {
  static override readonly code = 'UNKNOWN_TABLE';
}

/** A table configuration that contradicts itself, or that Amazon Keyspaces cannot have. */
export class InvalidTableConfigError extends InvalidArgumentError {
  static override readonly code = 'INVALID_TABLE_CONFIG';
}

/** The table does not have the column, or not in the part of the table where it is asked for. */
export class UnknownColumnError extends InvalidArgumentError {
  static override readonly code = 'UNKNOWN_COLUMN';
}

/** A value that its column's CQL type does not have. */
export class InvalidColumnValueError extends InvalidArgumentError {
  static override readonly code = 'INVALID_COLUMN_VALUE';
}

/** The rows that meet the condition do not lie together in a partition. */
export class InvalidClusteringConditionError extends InvalidArgumentError {
  static override readonly code = 'INVALID_CLUSTERING_CONDITION';
}

/** The key of a row holds a value that the column's type, as the configuration has it, does not have. */
export class UnreadableRowError extends EvenShardsError {
  /** @param shard the shard that holds the row, as the shard column has it */
  constructor(
    { keyspaceName, tableName }: { keyspaceName: string; tableName: string },
    shard: number,
    column: { name: string; type: string },
    options?: ErrorOptions,
  ) {
    const where = `shard ${shard} of ${keyspaceName}.${tableName}`;
    super(
      'UNREADABLE_ROW',
      `a row of ${where} has a value in column ${column.name} that is no ${column.type}`,
      options,
    );
  }
}

/** A scan cannot cover the table, because it does not know the tokens of its partitions. */
export class UnknownPartitionerError extends EvenShardsError {
  constructor(problem: string, options?: ErrorOptions) {
    super('UNKNOWN_PARTITIONER', problem, options);
  }
}
