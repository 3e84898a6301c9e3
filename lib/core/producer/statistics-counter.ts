import type { LaneEntry } from './lane-entry';
import type { ProducerRecord } from './producer-record';
import { noStatistics, type ProducerStatistics } from './producer-statistics';
import type { PutRecordsRequestEntry } from './put-records-client';

export class StatisticsCounter {
  private readonly counts = noStatistics();
  /** A map, because an error code could have the name of a property that every object has. */
  private readonly errorsByCode = new Map<string, number>();

  received(): void {
    this.counts.userRecordsReceived += 1;
  }

  requested(kinesisRecords: number, timeMs: number): void {
    this.counts.requests += 1;
    this.counts.requestRecords += kinesisRecords;
    this.counts.requestTimeMs += timeMs;
  }

  stored({ Data }: PutRecordsRequestEntry): void {
    this.counts.kinesisRecordsPut += 1;
    this.counts.kinesisRecordsDataPut += Data.byteLength;
  }

  /** Counts the additional attempts of an entry that was acknowledged. */
  retried({ records, attempts }: LaneEntry): void {
    this.counts.retries += records * (attempts - 1);
  }

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

  snapshot(): ProducerStatistics {
    return { ...this.counts, errorsByCode: Object.fromEntries(this.errorsByCode) };
  }
}
