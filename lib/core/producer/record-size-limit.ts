import { type CallLimit, callWithin } from '../kernel/call-within';
import { isWhole } from '../kernel/checks';
import type { EvenShardsError } from '../kernel/errors';
import type { EntryFormer } from './entry-former';
import type { PendingRecord } from './pending-record';
import { StreamDistributionError } from './producer-errors';
import {
  checkProducerRecord,
  DEFAULT_MAX_RECORD_BYTES,
  MAX_RECORD_LIMIT_BYTES,
  type ProducerRecord,
} from './producer-record';
import type {
  DescribeStreamSummaryOutput,
  PutRecordsClient,
  RequestOptions,
  StreamIdentity,
} from './put-records-client';

/** Checks records against the stream's record size limit. The limit is an option, or comes from DescribeStreamSummary. */
export class RecordSizeLimit {
  private request?: Promise<number>;

  constructor(
    private bytes: number | undefined,
    private readonly client: PutRecordsClient,
    private readonly stream: StreamIdentity,
    private readonly limit: CallLimit,
    private readonly former: EntryFormer,
  ) {}

  /**
   * Checks a record against the known limit, or against the highest possible limit if the limit is not known yet.
   *
   * @returns the bytes of the record that count against Kinesis' limits
   * @throws a typed error if Kinesis would reject the record
   */
  check(record: ProducerRecord): number {
    const highest = this.client.describeStreamSummary ? MAX_RECORD_LIMIT_BYTES : DEFAULT_MAX_RECORD_BYTES;
    return this.checkWith(this.bytes ?? highest, record);
  }

  /** Whether the limit must be requested from the stream before this record is sent. */
  isUnknownFor(record: PendingRecord): boolean {
    return this.bytes === undefined && this.client.describeStreamSummary !== undefined && this.isAboveDefault(record);
  }

  /**
   * The error of a record that the stream does not accept, although the producer accepted it before it knew the limit.
   * Undefined if the stream accepts the record, or if the limit is not known yet.
   */
  errorOf(pending: PendingRecord): EvenShardsError | undefined {
    if (this.bytes === undefined || !this.isAboveDefault(pending)) return undefined;
    try {
      this.check(pending.record);
      return undefined;
    } catch (error) {
      return error as EvenShardsError;
    }
  }

  /**
   * Checks a record against the stream's own limit, or against the default limit if the request for the limit fails.
   *
   * @throws a typed error if the stream does not accept the record
   * @throws StreamDistributionError if the stream ignores partition keys
   */
  async checkWithStream(record: ProducerRecord): Promise<void> {
    this.request ??= this.requestLimit().finally(() => {
      this.request = undefined;
    });
    this.checkWith(await this.request, record);
  }

  /** Every stream accepts a record up to the default limit. */
  private isAboveDefault(record: PendingRecord): boolean {
    return this.former.maxBytesAlone(record) > DEFAULT_MAX_RECORD_BYTES;
  }

  private checkWith(maxRecordBytes: number, record: ProducerRecord): number {
    const bytes = checkProducerRecord(record, { maxRecordBytes });
    this.former.checkSize(record, bytes, maxRecordBytes);
    return bytes;
  }

  private async requestLimit(): Promise<number> {
    const summary = await this.summary();
    if (summary?.RecordDistributionStrategy === 'AUTO') throw new StreamDistributionError();
    const kiB = summary?.MaxRecordSizeInKiB;
    if (!isWhole(kiB, 1)) return DEFAULT_MAX_RECORD_BYTES;
    this.bytes = kiB * 1024;
    return this.bytes;
  }

  private async summary(): Promise<DescribeStreamSummaryOutput['StreamDescriptionSummary']> {
    const describe = (options: RequestOptions) => this.client.describeStreamSummary!(this.stream, options);
    try {
      return (await callWithin(this.limit, describe))?.StreamDescriptionSummary;
    } catch {
      return undefined;
    }
  }
}
