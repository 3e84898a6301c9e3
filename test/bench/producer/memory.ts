import { setTimeout } from 'node:timers/promises';
import { OrderedProducer, type ProducerRecord, type PutRecordsInput } from '../../../lib/core';
import { printTable, rounded } from '../../support/tables/producer/table';

const RECORDS = 1_000_000;
const RECORD_BYTES = 1_024;
const KEYS = 10_000;
const MIB = 1024 * 1024;
const BUDGET_BYTES = 64 * MIB;
const SAMPLE_EVERY = 50_000;

const client = {
  async putRecords({ Records }: PutRecordsInput) {
    await setTimeout(20);
    return { Records: Records.map(() => ({ ShardId: 'shardId-0', SequenceNumber: '1' })) };
  },
};

interface Peak {
  records: number;
  heapBytes: number;
}

/** A million records through a budget of 64 MiB: what is alive after a collection, at its peak. */
export async function benchMemory(): Promise<void> {
  const rows = [
    row('the same records in an array', inAnArray()),
    row('OrderedProducer', await peakOf({ aggregation: false })),
    row('OrderedProducer, aggregation', await peakOf({ aggregation: true })),
  ];
  console.log(
    `${RECORDS} records of ${RECORD_BYTES} bytes, ${KEYS} keys, through a budget of 64 MiB of data and keys\n`,
  );
  printTable(['', 'most in the buffer', 'heap alive', 'heap bytes a record'], rows);
}

function row(name: string, { records, heapBytes }: Peak): string[] {
  const dataMib = (records * RECORD_BYTES) / MIB;
  return [name, `${rounded(dataMib, 1)} MiB`, `${rounded(heapBytes / MIB, 1)} MiB`, rounded(heapBytes / records)];
}

function inAnArray(): Peak {
  const before = aliveBytes();
  const records = Array.from({ length: BUDGET_BYTES / RECORD_BYTES }, (_, index) => recordAt(index));
  const after = aliveBytes();
  return { records: records.length, heapBytes: after - before };
}

async function peakOf(options: { aggregation: boolean }): Promise<Peak> {
  const before = aliveBytes();
  const peak: Peak = { records: 0, heapBytes: 0 };
  let ended = 0;
  function* source() {
    for (let index = 0; index < RECORDS; index++) {
      peak.records = Math.max(peak.records, index - ended);
      if (index % SAMPLE_EVERY === 0) peak.heapBytes = Math.max(peak.heapBytes, aliveBytes() - before);
      yield recordAt(index);
    }
  }
  const producer = new OrderedProducer(client, {
    streamName: 'Events',
    maxBufferedBytes: BUDGET_BYTES,
    maxBufferedRecords: RECORDS,
    ...options,
  });
  await producer.putAll(source(), { delivered: () => void ended++ });
  return peak;
}

function recordAt(index: number): ProducerRecord {
  const partitionKey = `key-${index % KEYS}`;
  return { partitionKey, data: Buffer.allocUnsafeSlow(RECORD_BYTES - partitionKey.length) };
}

/** The heap that a full collection leaves. Data lie outside; what is buffered of them is what the budget is for. */
function aliveBytes(): number {
  global.gc!();
  return process.memoryUsage().heapUsed;
}
