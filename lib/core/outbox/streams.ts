import { InvalidArgumentError } from '../kernel/errors';
import type { OrderedProducer } from '../producer';
import { OutboxTopicError } from './outbox-errors';
import type { OutboxRow } from './outbox-row';

/** The part of a producer that the relay uses, such as an `OrderedProducer` without `skipRejected`. */
export type RecordSink = Pick<OrderedProducer, 'putAll'> & Partial<Pick<OrderedProducer, 'skipRejected'>>;

/** The streams of a relay: one stream for all rows, or one stream for each topic. */
export class Streams {
  private readonly byTopic: ReadonlyMap<string | undefined, RecordSink>;

  /** @throws InvalidArgumentError if there is no producer, a producer has `skipRejected`, or two topics have the same producer */
  constructor(private readonly producers: RecordSink | Readonly<Record<string, RecordSink>>) {
    const named: [string | undefined, RecordSink][] = isSink(producers)
      ? [[undefined, producers]]
      : Object.entries(producers);
    if (named.length === 0)
      throw new InvalidArgumentError('producer', producers, 'a producer, or a producer for each topic');
    for (const [topic, { skipRejected }] of named) {
      const field = topic === undefined ? 'producer.skipRejected' : `producer.${topic}.skipRejected`;
      if (skipRejected) throw new InvalidArgumentError(field, true, 'false (create the producer without skipRejected)');
    }
    if (new Set(named.map(([, sink]) => sink)).size < named.length) {
      // With one stream for two topics, consumers would treat rows of one topic as duplicates of later rows of the other topic.
      const allowed = 'a different producer and a different stream for each topic';
      throw new InvalidArgumentError('producer', 'one producer for two topics', allowed);
    }
    this.byTopic = new Map(named);
  }

  /** Divides rows by stream, and keeps their order. */
  divide<R extends OutboxRow>(rows: readonly R[]): [stream: RecordSink, rows: readonly R[]][] {
    if (isSink(this.producers)) return [[this.producers, rows]];
    const byTopic = new Map<string | undefined, R[]>();
    for (const row of rows) {
      const own = byTopic.get(row.topic);
      if (own === undefined) byTopic.set(row.topic, [row]);
      else own.push(row);
    }
    return [...byTopic].map(([topic, own]) => [this.byTopic.get(topic) ?? rejectingSink(topic), own]);
  }
}

function isSink(producers: RecordSink | Readonly<Record<string, RecordSink>>): producers is RecordSink {
  return typeof producers.putAll === 'function';
}

/** Rejects all rows of a topic without a producer. The rows then wait like other rejected rows. */
function rejectingSink(topic: string | undefined): RecordSink {
  return {
    putAll: async (rows, observer) => {
      let rejected = 0;
      for await (const row of rows) observer?.rejected?.(rejected++, row, new OutboxTopicError(topic !== undefined));
      return { delivered: 0, rejected };
    },
  };
}
