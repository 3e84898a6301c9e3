import { InvalidArgumentError } from '../kernel/errors';
import type { OrderedProducer } from '../producer';
import { OutboxTopicError } from './outbox-errors';
import type { OutboxRow } from './outbox-row';

/** What the relay needs of a producer. An `OrderedProducer` without `skipRejected` is one. */
export type RecordSink = Pick<OrderedProducer, 'putAll'> & Partial<Pick<OrderedProducer, 'skipRejected'>>;

/** Where rows go: all to one stream, or each to that of its topic. */
export class Streams {
  private readonly byTopic: ReadonlyMap<string | undefined, RecordSink>;

  /** @throws InvalidArgumentError if a producer has `skipRejected`, two topics have the same, or there is none */
  constructor(private readonly producers: RecordSink | Readonly<Record<string, RecordSink>>) {
    const named: [string | undefined, RecordSink][] = isSink(producers)
      ? [[undefined, producers]]
      : Object.entries(producers);
    if (named.length === 0) throw new InvalidArgumentError('producer', producers, 'a producer, or one for each topic');
    for (const [topic, { skipRejected }] of named) {
      const field = topic === undefined ? 'producer.skipRejected' : `producer.${topic}.skipRejected`;
      if (skipRejected) throw new InvalidArgumentError(field, true, 'false: make it without skipRejected');
    }
    if (new Set(named.map(([, sink]) => sink)).size < named.length) {
      // Consumers would take rows of the one topic for copies of later rows of the other.
      const allowed = 'a producer of its own for each topic, and a stream of its own';
      throw new InvalidArgumentError('producer', 'one for two topics', allowed);
    }
    this.byTopic = new Map(named);
  }

  /** The rows of each stream, in order. */
  divide<R extends OutboxRow>(rows: readonly R[]): [stream: RecordSink, rows: readonly R[]][] {
    if (isSink(this.producers)) return [[this.producers, rows]];
    const byTopic = new Map<string | undefined, R[]>();
    for (const row of rows) {
      const own = byTopic.get(row.topic);
      if (own === undefined) byTopic.set(row.topic, [row]);
      else own.push(row);
    }
    return [...byTopic].map(([topic, own]) => [this.byTopic.get(topic) ?? refusing(topic), own]);
  }
}

function isSink(producers: RecordSink | Readonly<Record<string, RecordSink>>): producers is RecordSink {
  return typeof producers.putAll === 'function';
}

/** Stands for a stream that nobody has named: a row of it waits, as one does that a stream refuses. */
function refusing(topic: string | undefined): RecordSink {
  return {
    putAll: async (rows, observer) => {
      let rejected = 0;
      for await (const row of rows) observer?.rejected?.(rejected++, row, new OutboxTopicError(topic !== undefined));
      return { delivered: 0, rejected };
    },
  };
}
