import type { CqlType } from './cql-type';

/** A column of a Cassandra table. */
export interface KeyspacesColumn {
  /** 1 to 48 letters, digits and underscores, not starting with an underscore. */
  readonly name: string;

  /** What the column holds. */
  readonly cqlType: CqlType;
}

/** The order in which a partition keeps its rows by a clustering column. */
export enum ClusteringOrder {
  /** The least first. */
  ASCENDING = 'ASC',
  /** The greatest first: for what is read from the newest on. */
  DESCENDING = 'DESC',
}

/** A column by which the rows of a partition are sorted, and told apart. */
export interface KeyspacesClusteringColumn extends KeyspacesColumn {
  /**
   * The order of the rows. Queries can have its reverse too.
   *
   * @default ClusteringOrder.ASCENDING
   */
  readonly order?: ClusteringOrder;
}
