import type { ProducerRecord } from './producer-record';
import { noStatistics, type ProducerStatistics } from './producer-statistics';
import type { PutRecordsRequestEntry } from './put-records-client';
import type { Unit } from './unit';

/** Counts what a producer does. */
export class StatisticsCounter {
  private readonly counts = noStatistics();
  /** A service chooses its codes, and an object has some names by itself. */
  private readonly errorsByCode = new Map<string, number>();

  /** A valid record was put. */
  received(): void {
    this.counts.userRecordsReceived += 1;
  }

  /** A request was answered, or failed. */
  requested(kinesisRecords: number, timeMs: number): void {
    this.counts.requests += 1;
    this.counts.requestRecords += kinesisRecords;
    this.counts.requestTimeMs += timeMs;
  }

  /** A Kinesis record was acknowledged. */
  stored({ Data }: PutRecordsRequestEntry): void {
    this.counts.kinesisRecordsPut += 1;
    this.counts.kinesisRecordsDataPut += Data.byteLength;
  }

  /** A unit was acknowledged, after perhaps more than one attempt. */
  retried({ records, attempts }: Unit): void {
    this.counts.retries += records * (attempts - 1);
  }

  /** An attempt to send a Kinesis record failed. */
  failed(code: string): void {
    this.counts.allErrors += 1;
    this.errorsByCode.set(code, (this.errorsByCode.get(code) ?? 0) + 1);
  }

  delivered({ data }: ProducerRecord): void {
    this.counts.userRecordsPut += 1;
    this.counts.userRecordsDataPut += data.byteLength;
  }

  rejected(): void {
    this.counts.userRecordsFailed += 1;
  }

  /** The counts as they are now; later counting does not change the returned object. */
  snapshot(): ProducerStatistics {
    return { ...this.counts, errorsByCode: Object.fromEntries(this.errorsByCode) };
  }
}
