import { PendingRecord } from '../../../../lib/core/producer/pending-record';
import type { ProducerRecord } from '../../../../lib/core/producer/producer-record';

/** A record whose end nobody waits for. */
export class SilentRecord extends PendingRecord {
  constructor(record: ProducerRecord) {
    super(record);
    this.bytes = record.data.byteLength;
  }

  delivered(): void {}
  rejected(): void {}
}
