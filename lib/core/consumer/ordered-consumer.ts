import { setMaxListeners } from 'node:events';
import { InvalidArgumentError } from '../kernel/errors';
import { UnendedAttempts, type WorkTime } from './attempts';
import { Batch } from './batch';
import {
  type ConsumerSettings,
  consumerSettings,
  type OrderedConsumerOptions,
  type RecordHandler,
} from './consumer-options';
import { PassedPlaces } from './handled-positions';
import { batchMetrics, parkedMetrics } from './metric-lines';
import { Retry, type RetrySummary } from './retry';
import { eventBatch, type ShardRecord, type SourceBatch, type StreamEvent, sourceBatch } from './shard-record';

/** The event that the schedule of the retrier gives the function. */
export interface RetryEvent {
  retryParked: true;
}

/** The part of Lambda's context that a consumer reads. */
export interface InvocationContext {
  getRemainingTimeInMillis(): number;
}

/** The answer to Lambda for a batch. Lambda goes on at the record that it names, or after the batch if it names none. */
export interface BatchResponse {
  batchItemFailures: { itemIdentifier: string }[];
}

/** What ends the work early. */
export interface WorkOptions {
  /** When it aborts, nothing new begins. What is neither done nor parked then comes again. */
  signal?: AbortSignal;
}

/** Where a batch comes from, and what ends the work early. */
export interface ProcessOptions extends WorkOptions {
  /**
   * Names the source of the records, in 1 to 2,048 characters: the ARN of the Kinesis stream, or of the table's stream with its label.
   * The numbers of one source say nothing about those of another, so two sources must not share a name, and a source must keep its
   * name. A function that reads the same stream has the same source, because Lambda gives it the ARN.
   */
  source: string;
}

/** How far a batch is done or parked. */
export interface BatchProgress {
  /** The first record that must come again, together with all later ones. Absent if the whole batch is done or parked. */
  comesAgain?: ShardRecord;
  /** Why keys could not be parked, or why they waited for the end of a move. Their records come again. */
  problems: unknown[];
}

/**
 * An invocation stops handling records this long before its end, or a fifth of its time if that is less, so that it can
 * park and answer.
 */
const RESERVE_MS = 5_000;
const RESERVE_SHARE = 0.2;
/** It answers in any case this long before its end, or a fiftieth of its time if that is less. */
const LAST_ANSWER_MS = 500;
const LAST_ANSWER_SHARE = 0.02;
/** A batch that takes this long writes why. When a consumer is behind, most of its batches do. */
const LONG_BATCH_MS = 100;
const ATTEMPTS_IN_TIME = 3;
const DEFAULT_ATTEMPT_TIMEOUT_MS = 30_000;
const DEFAULT_LEASE_MS = 60_000;

/**
 * Handles the records of a stream's shards: the records of each key in order, one at a time, and different keys at the same
 * time. A key whose record fails is set aside alone, with all that follows, and retried in order; no other key waits for
 * it, and no record is lost.
 *
 *     const consumer = new OrderedConsumer(async (record) => apply(record), { parking });
 *     export const handler = consumer.handler;
 *
 * `handler` is a Lambda function for the event source mapping of a Kinesis stream, or of a table's stream, and for the
 * schedule of the retrier. Elsewhere, call `process` with the batches of a shard and `retryParked` now and then. One
 * consumer serves all shards, of several sources if need be. A key that is parked is parked for all of them.
 *
 * A record can be handled more than once: after a crash, and after a batch that ran out of time. Use `once` for effects in
 * DynamoDB and in Postgres, and each takes effect once.
 */
export class OrderedConsumer {
  private readonly settings: ConsumerSettings;
  private readonly passed: PassedPlaces;
  private readonly unended = new UnendedAttempts();

  /** @throws InvalidArgumentError that names the option that is out of its bounds */
  constructor(handle: RecordHandler, options: OrderedConsumerOptions) {
    this.settings = consumerSettings(handle, options);
    this.passed = new PassedPlaces(this.settings.maxKeys);
  }

  /**
   * Handles an event of Lambda: a batch of a stream, or `{ "retryParked": true }` of the retrier's schedule. It needs
   * `ReportBatchItemFailures` in the event source mapping. It is bound, so that you can export it. A retry writes the metrics
   * of parked keys to the log, as a line in CloudWatch's embedded metric format, and a batch of 100 ms or more writes how busy
   * its handlers and its longest key were.
   *
   * @throws InvalidArgumentError for an event that no stream sends, and for a context without the time that is left
   * @throws what the parking store throws, if the retrier cannot read or write it
   */
  readonly handler = async (
    event: StreamEvent | RetryEvent,
    context: InvocationContext,
  ): Promise<BatchResponse | RetrySummary> => {
    if (Object(event).retryParked === true) {
      const summary = await this.inTime(context, (time) => this.retry(time));
      console.log(parkedMetrics(this.settings.parking.consumer, summary));
      return summary;
    }
    if (!Array.isArray(Object(event).Records)) {
      throw new InvalidArgumentError('event', event, 'the event of a stream, or { "retryParked": true }');
    }
    const batch = eventBatch(event as StreamEvent);
    const { clock, concurrency, parking } = this.settings;
    const startedAt = clock.now();
    const { comesAgain, problems, busyMs } = await this.inTime(context, (time) => this.run(batch, time));
    const ms = clock.now() - startedAt;
    if (ms >= LONG_BATCH_MS) console.log(batchMetrics(parking.consumer, { ms, busyMs, concurrency }));
    for (const problem of problems) console.error(problem);
    return { batchItemFailures: comesAgain === undefined ? [] : [{ itemIdentifier: comesAgain.sequenceNumber }] };
  };

  /**
   * Handles a batch of a shard, for a consumer that is no Lambda function. Then read on after the batch, or from
   * `comesAgain` on if the result has it, before you take a checkpoint.
   *
   * @param records the next records of the shard, in order
   * @throws InvalidArgumentError if the source has no name, or a record is not one
   */
  async process(records: Iterable<ShardRecord>, options: ProcessOptions): Promise<BatchProgress> {
    const { source, signal }: Partial<ProcessOptions> = Object(options);
    const { busyMs: _, ...progress } = await this.run(sourceBatch(source, records), this.openTime(signal));
    return progress;
  }

  /**
   * Tries each parked key whose time has come: its records in order, until none is left or one fails. Several processes may
   * do it at once; each key is then tried by one of them.
   *
   * @throws what the parking store throws, after the keys that could be tried
   */
  retryParked({ signal }: WorkOptions = {}): Promise<RetrySummary> {
    return this.retry(this.openTime(signal));
  }

  private async run(
    { source, records }: SourceBatch,
    time: WorkTime & { over?: Promise<void> },
  ): Promise<BatchProgress & { busyMs: readonly number[] }> {
    const batch = new Batch(this.settings, this.passed, this.unended, time, { source, records });
    const problems: unknown[] = [];
    const work = batch.run().then(
      (found) => void problems.push(...found),
      (error) => void problems.push(error),
    );
    await (time.over === undefined ? work : Promise.race([work, time.over]));
    const { firstToComeAgain: first, busyMs } = batch;
    return first === undefined ? { problems, busyMs } : { comesAgain: records[first]!, problems, busyMs };
  }

  private retry(time: WorkTime & { leaseMs: number }): Promise<RetrySummary> {
    return new Retry(this.settings, this.passed, this.unended, time).run();
  }

  private openTime(signal = new AbortController().signal): WorkTime & { leaseMs: number } {
    const { attemptTimeoutMs = DEFAULT_ATTEMPT_TIMEOUT_MS } = this.settings;
    setMaxListeners(0, signal);
    return { signal, attemptTimeoutMs, leaseMs: Math.max(DEFAULT_LEASE_MS, 2 * attemptTimeoutMs) };
  }

  /** Limits work to the time of an invocation, less what the invocation keeps to park and to answer. */
  private async inTime<T>(
    context: InvocationContext,
    work: (time: WorkTime & { leaseMs: number; over: Promise<void> }) => Promise<T>,
  ): Promise<T> {
    if (typeof Object(context).getRemainingTimeInMillis !== 'function') {
      throw new InvalidArgumentError('context', context, "Lambda's context, with getRemainingTimeInMillis()");
    }
    const { clock, attemptTimeoutMs } = this.settings;
    const allMs = context.getRemainingTimeInMillis();
    const usableMs = allMs - Math.min(RESERVE_MS, allMs * RESERVE_SHARE);
    const controller = new AbortController();
    // Each key that waits listens to the signal, and Node.js would warn of a leak.
    setMaxListeners(0, controller.signal);
    const cancelStop = clock.schedule(() => controller.abort(), usableMs);
    let cancelOver = (): void => {};
    const over = new Promise<void>((resolve) => {
      cancelOver = clock.schedule(resolve, allMs - Math.min(LAST_ANSWER_MS, allMs * LAST_ANSWER_SHARE));
    });
    try {
      return await work({
        signal: controller.signal,
        attemptTimeoutMs: attemptTimeoutMs ?? usableMs / ATTEMPTS_IN_TIME,
        leaseMs: allMs,
        over,
      });
    } finally {
      cancelStop();
      cancelOver();
    }
  }
}
