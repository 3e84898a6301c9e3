import type { OrderedProducer } from '../producer';

/** What the relay needs of a producer. An `OrderedProducer` is one. */
export type RecordSink = Pick<OrderedProducer, 'putAll'>;
