/** The CQL type of a column. */
export class CqlType {
  /** Text of ASCII characters. */
  public static readonly ASCII = new CqlType('ascii');
  /** An integer of 64 bits. */
  public static readonly BIGINT = new CqlType('bigint');
  /** Bytes. */
  public static readonly BLOB = new CqlType('blob');
  /** True or false. */
  public static readonly BOOLEAN = new CqlType('boolean');
  /** A counter, which writers increase and decrease. A key column cannot have this type. */
  public static readonly COUNTER = new CqlType('counter');
  /** A date without a time. */
  public static readonly DATE = new CqlType('date');
  /** A decimal number of any precision. */
  public static readonly DECIMAL = new CqlType('decimal');
  /** A floating-point number of 64 bits. */
  public static readonly DOUBLE = new CqlType('double');
  /** A floating-point number of 32 bits. */
  public static readonly FLOAT = new CqlType('float');
  /** An IP address. A key column of a sharded table cannot have this type. */
  public static readonly INET = new CqlType('inet');
  /** An integer of 32 bits. */
  public static readonly INT = new CqlType('int');
  /** An integer of 16 bits. */
  public static readonly SMALLINT = new CqlType('smallint');
  /** Text. */
  public static readonly TEXT = new CqlType('text');
  /** A time of day, in nanoseconds. */
  public static readonly TIME = new CqlType('time');
  /** A date and time, in milliseconds. */
  public static readonly TIMESTAMP = new CqlType('timestamp');
  /** A version 1 UUID, ordered by its time. */
  public static readonly TIMEUUID = new CqlType('timeuuid');
  /** An integer of 8 bits. */
  public static readonly TINYINT = new CqlType('tinyint');
  /** A UUID. */
  public static readonly UUID = new CqlType('uuid');
  /** Text, the same type as `TEXT`. */
  public static readonly VARCHAR = new CqlType('varchar');
  /** An integer of any size. */
  public static readonly VARINT = new CqlType('varint');

  /**
   * Any other type, in CQL: a collection such as `list<text>`, a tuple, or `frozen<...>` of a user-defined type. A key
   * column of a sharded table cannot have this type.
   *
   * @param cql the type in CQL
   */
  public static of(cql: string): CqlType {
    return new CqlType(cql);
  }

  /** The type in CQL. */
  public readonly cql: string;

  private constructor(cql: string) {
    this.cql = cql;
  }
}
