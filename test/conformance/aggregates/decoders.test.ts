import { spawnSync } from 'node:child_process';
import { deaggregate, OrderedProducer } from '../../../lib/core';
import { FakeKinesis, type StoredRecord, seededRandom, VirtualClock } from '../../../lib/testing';
import { describeWhere } from '../../support/describe-where';
import { type Decoder, goDecoder, kclDecoder, pythonDecoder } from './decoders';

/** A user record in the output of a decoder. */
const asText = (partitionKey: string, explicitHashKey: bigint | string, data: Uint8Array): string =>
  [base64(Buffer.from(partitionKey)), explicitHashKey, base64(data)].join(':');

const base64 = (data: Uint8Array): string => Buffer.from(data).toString('base64');

/** The records of a producer, with keys in many writing systems and with explicit hash keys. */
async function storedBy(aggregation: 'per-key' | 'packed', hashBuckets: number | undefined): Promise<FakeKinesis> {
  const clock = new VirtualClock();
  const kinesis = new FakeKinesis({ clock, shardCount: 4 });
  const random = seededRandom(1);
  const options = { streamName: 'Events', clock, random, aggregation, hashBuckets, sequence: true };
  const producer = new OrderedProducer(kinesis, options);
  const keys = ['a', '200', '100', '__proto__', '顧客', '🧾', 'é'];
  const records = Array.from({ length: 5_000 }, (_, index) => ({
    partitionKey: `${keys[index % keys.length]}${Math.floor(random() * 300)}`,
    data: Buffer.alloc(Math.floor(random() * 200), index),
    ...(index % 11 === 0 && { explicitHashKey: BigInt(index % 3) }),
  }));
  await clock.runUntil(producer.putAll(records));
  return kinesis;
}

function decode({ command }: Decoder, kinesis: FakeKinesis, records: readonly StoredRecord[]): string[] {
  const ranges = new Map(kinesis.shards.map(({ shardId, range }) => [shardId, range]));
  const input = records.map(({ shardId, partitionKey, data }) => {
    const { startingHashKey, endingHashKey } = ranges.get(shardId)!;
    return `${base64(Buffer.from(partitionKey))} ${base64(data)} ${startingHashKey} ${endingHashKey}\n`;
  });
  const [program, ...programArguments] = command;
  const { stdout, stderr, status } = spawnSync(program!, programArguments, {
    input: input.join(''),
    encoding: 'utf8',
    maxBuffer: 100 * 2 ** 20,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout.trimEnd().split('\n');
}

for (const prepare of [kclDecoder, goDecoder, pythonDecoder]) {
  const decoder = prepare();
  const missing = 'missing' in decoder ? decoder.missing : undefined;
  describeWhere(missing === undefined, `${decoder.name}: ${missing}`)(decoder.name, () => {
    test.each([
      ['per-key', undefined],
      ['packed', 2],
      ['packed', 256],
    ] as const)(
      'reads all records of a producer: aggregation %s, hash buckets %s',
      async (aggregation, hashBuckets) => {
        if ('missing' in decoder) return;
        const kinesis = await storedBy(aggregation, hashBuckets);
        const records = kinesis.records();
        const ours = records.map((record) =>
          deaggregate(record)
            .map(({ partitionKey, explicitHashKey = '', data }) =>
              asText(partitionKey, decoder.readsHashKeys ? explicitHashKey : '', data),
            )
            .join(' '),
        );
        expect(records.length).toBeLessThan(5_000);
        expect(decode(decoder, kinesis, records)).toEqual(ours);
      },
    );
  });
}
