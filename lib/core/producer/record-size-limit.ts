import { type CallLimit, callWithin } from '../kernel/call-within';
import { StreamDistributionError } from './producer-errors';
import { DEFAULT_MAX_RECORD_BYTES, MAX_RECORD_LIMIT_BYTES } from './producer-record';
import type {
  DescribeStreamSummaryOutput,
  PutRecordsClient,
  RequestOptions,
  StreamIdentity,
} from './put-records-client';

/** The stream's record size limit: given, or asked of the stream when a record makes it matter. */
export class RecordSizeLimit {
  private asked?: Promise<number>;

  constructor(
    private bytes: number | undefined,
    private readonly client: PutRecordsClient,
    private readonly stream: StreamIdentity,
    private readonly limit: CallLimit,
  ) {}

  /** The most a record can count, as far as is known. */
  get highest(): number {
    return this.bytes ?? (this.client.describeStreamSummary ? MAX_RECORD_LIMIT_BYTES : DEFAULT_MAX_RECORD_BYTES);
  }

  /** Whether it takes the stream's answer to tell if it takes a record of this size. */
  isOpenFor(bytes: number): boolean {
    return (
      this.bytes === undefined && bytes > DEFAULT_MAX_RECORD_BYTES && this.client.describeStreamSummary !== undefined
    );
  }

  /**
   * The stream's answer; what every stream takes, if it has none.
   *
   * @throws StreamDistributionError if the stream says that it ignores keys
   */
  ask(): Promise<number> {
    this.asked ??= this.describe().finally(() => {
      this.asked = undefined;
    });
    return this.asked;
  }

  private async describe(): Promise<number> {
    const summary = await this.summary();
    if (summary?.RecordDistributionStrategy === 'AUTO') throw new StreamDistributionError();
    const kiB = summary?.MaxRecordSizeInKiB;
    if (!Number.isInteger(kiB) || kiB! < 1) return DEFAULT_MAX_RECORD_BYTES;
    this.bytes = kiB! * 1024;
    return this.bytes;
  }

  private async summary(): Promise<DescribeStreamSummaryOutput['StreamDescriptionSummary']> {
    const ask = (options: RequestOptions) => this.client.describeStreamSummary!(this.stream, options);
    try {
      return (await callWithin(this.limit, ask))?.StreamDescriptionSummary;
    } catch {
      return undefined;
    }
  }
}
