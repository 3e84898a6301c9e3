import { OrderedProducer, type OrderedProducerOptions, type ProducerRecord } from '../../../../lib/core';
import { FakeKinesis, type FakeKinesisOptions } from '../../../../lib/testing/fake-kinesis';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';

export const record = (partitionKey: string, data = 'x'): ProducerRecord => ({ partitionKey, data: Buffer.from(data) });

/** A producer that writes to a simulated stream in virtual time. */
export function producerOnFakeStream(
  kinesisOptions: Partial<FakeKinesisOptions> = {},
  options: Partial<OrderedProducerOptions> = {},
) {
  const clock = new VirtualClock();
  const kinesis = new FakeKinesis({ clock, ...kinesisOptions });
  const producer = new OrderedProducer(kinesis, { streamName: 'Events', clock, random: () => 0.5, ...options });
  return { clock, kinesis, producer };
}

/** The error code of each rejected put, and "delivered" for every other put. */
export const codesOf = (results: readonly PromiseSettledResult<unknown>[]): string[] =>
  results.map((result) => (result.status === 'rejected' ? result.reason.code : 'delivered'));
