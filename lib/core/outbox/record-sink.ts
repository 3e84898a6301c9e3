import type { OrderedProducer } from '../producer';

/** What the relay needs of a producer. An `OrderedProducer` without `skipRejected` is one. */
export type RecordSink = Pick<OrderedProducer, 'putAll'> & Partial<Pick<OrderedProducer, 'skipsRejected'>>;
