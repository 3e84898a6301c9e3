import { EvenShardsError, InvalidArgumentError } from '../kernel/errors';

/** Kinesis would reject the partition key. */
export class InvalidPartitionKeyError extends InvalidArgumentError {
  static override readonly code = 'INVALID_PARTITION_KEY';
}

/** A record is larger than the stream accepts. */
export class RecordTooLargeError extends InvalidArgumentError {
  static override readonly code = 'RECORD_TOO_LARGE';
}

/** Kinesis rejected a record, or every attempt to send it failed. */
export class RecordRejectedError extends EvenShardsError {
  /**
   * Whether Kinesis may have stored the record anyway, or may store it late, because the response of an attempt was lost. If
   * false, the record is not in the stream and never will be.
   */
  readonly mayHaveBeenWritten: boolean;

  constructor(
    /** The service's own error code, such as `ProvisionedThroughputExceededException`. */
    readonly serviceCode: string,
    serviceMessage: string,
    /** How many times the record was sent. */
    readonly attempts: number,
    { mayHaveBeenWritten = false, ...options }: ErrorOptions & { mayHaveBeenWritten?: boolean } = {},
  ) {
    const summary = `rejected after ${attempts} attempt(s): ${serviceCode}`;
    super('RECORD_REJECTED', `${summary}: ${serviceMessage}`, { ...options, summary });
    this.mayHaveBeenWritten = mayHaveBeenWritten;
  }
}

/** A record was never sent, because an earlier record of its partition key failed and the order would break. */
export class EarlierRecordFailedError extends EvenShardsError {
  readonly #partitionKey: string;

  constructor(partitionKey: string, options?: ErrorOptions) {
    super('EARLIER_RECORD_FAILED', 'not sent: an earlier record of the same partition key failed', options);
    this.#partitionKey = partitionKey;
  }

  get partitionKey(): string {
    return this.#partitionKey;
  }
}

/** A record was never sent, because it waited for longer than `maxRecordAgeMs`. */
export class RecordExpiredError extends EvenShardsError {
  constructor(
    /** The option `maxRecordAgeMs`. */
    readonly maxAgeMs: number,
  ) {
    super('RECORD_EXPIRED', `not sent: the record waited for longer than ${maxAgeMs} ms`);
  }
}

/** The stream ignores partition keys, so it does not keep the order of a key. */
export class StreamDistributionError extends EvenShardsError {
  constructor() {
    super(
      'STREAM_DISTRIBUTION',
      'not sent: the stream ignores partition keys and explicit hash keys; ' +
        'set its RecordDistributionStrategy to USER_PARTITION_KEY',
    );
  }
}

/** A record was put after `close`. */
export class ProducerClosedError extends EvenShardsError {
  constructor() {
    super('PRODUCER_CLOSED', 'not sent: the producer is closed');
  }
}

/** A record was still waiting when the producer's signal aborted. */
export class ProducerAbortedError extends EvenShardsError {
  constructor(options?: ErrorOptions) {
    super('PRODUCER_ABORTED', 'not sent: the producer was aborted before it could send the record', options);
  }
}
