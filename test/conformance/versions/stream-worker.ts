import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type {
  OrderedConsumer,
  OrderedProducer,
  OrderedProducerOptions,
  PutRecordsClient,
  StreamEvent,
} from '../../../lib/core';
import type { Clock } from '../../../lib/core/kernel/clock';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { serve, type WorkerContext } from './serve';

/** The aggregation and the sequence of a producer. */
export type ProducerMode = Pick<OrderedProducerOptions, 'aggregation' | 'sequence'>;

export interface RecordToPut {
  partitionKey: string;
  text: string;
  explicitHashKey?: bigint;
}

export interface PutInput {
  stream: string;
  mode: ProducerMode;
  seed: number;
  records: RecordToPut[];
}

export interface HandOverInput {
  stream: string;
  mode: ProducerMode;
  partitionKey: string;
  fromHashKey: bigint;
  toHashKey: bigint;
  /** Whether the process fails after the fences, before the move is recorded. */
  fails: boolean;
}

export interface ConsumeInput {
  consumer: string;
  parkingTable: string;
  effectsTable: string;
  event: StreamEvent | { retryParked: true };
  /** The time of day for leases and replays. */
  now: number;
  remainingMs: number;
  /** The records whose handler fails. */
  poison: ReadonlySet<string>;
  /** The records whose handler fails after the first transaction. */
  failsAfter: ReadonlySet<string>;
}

/** A clock that runs 50 times as fast as real time. */
const FAST_CLOCK: Clock = {
  now: () => 50 * performance.now(),
  schedule(callback, delayMs) {
    const timer = setTimeout(callback, delayMs / 50);
    return () => clearTimeout(timer);
  },
  sleep: (delayMs) => new Promise((resolve) => void FAST_CLOCK.schedule(resolve, delayMs)),
};

/** The producers and the consumer of a process. */
export function streamCalls({ core, kinesis, dynamoDb }: WorkerContext) {
  // The metrics of the consumer would fill the output of the tests.
  console.log = () => {};
  const producers = new Map<string, OrderedProducer>();
  let consumer: OrderedConsumer | undefined;
  let input: ConsumeInput;
  let random: () => number = Math.random;
  let lost = 0;
  const parked: string[] = [];
  const applied: string[] = [];
  let letGo = 0;

  /** A client that throttles records. With `losesResponses`, it also loses responses. */
  const faulty = (losesResponses: boolean): PutRecordsClient => ({
    listShards: (request) => kinesis.listShards(request),
    async putRecords(request) {
      if (random() < 0.1)
        throw Object.assign(new Error('no connection'), { name: 'ServiceUnavailable', $fault: 'server' });
      const response = await kinesis.putRecords(request);
      if (losesResponses && random() < 0.4) {
        lost += 1;
        throw Object.assign(new Error('the response was lost'), { name: 'TimeoutError' });
      }
      return response as Awaited<ReturnType<PutRecordsClient['putRecords']>>;
    },
  });

  const producerOf = (stream: string, mode: ProducerMode): OrderedProducer => {
    const key = JSON.stringify([stream, mode]);
    const producer =
      producers.get(key) ??
      new core.OrderedProducer(faulty(mode.sequence === true), {
        streamName: stream,
        ...mode,
        // All modes use the same hash buckets, so that a key stays in its shard.
        hashBuckets: 256,
        backoffBaseMs: 5,
      });
    producers.set(key, producer);
    return producer;
  };

  const consumerOf = ({ consumer: name, parkingTable: tableName }: ConsumeInput): OrderedConsumer => {
    const parking = new core.DynamoDbParkingStore(dynamoDb, { tableName, consumer: name });
    return new core.OrderedConsumer(
      async ({ partitionKey, data }, { once, attempt }) => {
        const text = Buffer.from(data).toString();
        if (input.poison.has(text)) throw new Error('poison');
        const append = {
          TableName: input.effectsTable,
          Key: { id: { S: partitionKey } },
          UpdateExpression: 'SET texts = list_append(if_not_exists(texts, :none), :text)',
          ExpressionAttributeValues: { ':none': { L: [] }, ':text': { L: [{ S: text }] } } as Record<
            string,
            AttributeValue
          >,
        };
        await dynamoDb.transactWriteItems({ TransactItems: once([{ Update: append }]) });
        applied.push(text);
        if (attempt === 1 && input.failsAfter.has(text)) throw new Error('after the effect');
      },
      {
        parking,
        attempts: 2,
        clock: FAST_CLOCK,
        attemptTimeoutMs: 1_000_000,
        maxMoveWaitMs: 1_000_000,
        maxTries: 1_000_000,
        maxAgeMs: Number.MAX_SAFE_INTEGER,
        timeOfDay: () => input.now,
        onFailure: ({ partitionKey, isParked }) => {
          if (isParked) parked.push(partitionKey);
        },
        onLetGo: () => {
          letGo += 1;
        },
      },
    );
  };

  return {
    /** Puts records, and returns how many responses were lost. */
    async put({ stream, mode, seed, records }: PutInput): Promise<{ lost: number }> {
      random = seededRandom(seed);
      lost = 0;
      const producer = producerOf(stream, mode);
      await Promise.all(
        records.map(({ partitionKey, text, explicitHashKey }) =>
          producer.put({
            partitionKey,
            data: Buffer.from(text),
            ...(explicitHashKey !== undefined && { explicitHashKey }),
          }),
        ),
      );
      return { lost };
    },
    async handOver({ stream, mode, partitionKey, fromHashKey, toHashKey, fails }: HandOverInput): Promise<void> {
      const move = { partitionKeys: [partitionKey], fromHashKey, toHashKey };
      await core.handOver(producerOf(stream, mode), move, async () => {
        if (fails) throw new Error('the process ended before the move was recorded');
      });
    },
    /**
     * Handles an event. Returns the response, and the keys that were parked and the records that took effect since the
     * previous response. `letGo` counts the moves for which the consumer has stopped waiting.
     */
    async consume(given: ConsumeInput) {
      input = given;
      consumer ??= consumerOf(given);
      const response = await consumer.handler(given.event, { getRemainingTimeInMillis: () => given.remainingMs });
      return { response, parked: parked.splice(0), applied: applied.splice(0), letGo };
    },
  };
}

serve(streamCalls);
