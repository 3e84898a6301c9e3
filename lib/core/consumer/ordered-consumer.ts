import { InvalidArgumentError } from '../kernel/errors';
import { UnendedAttempts } from './attempts';
import { Batch } from './batch';
import {
  type ConsumerSettings,
  consumerSettings,
  type OrderedConsumerOptions,
  type RecordHandler,
} from './consumer-options';
import { HandledPositions } from './handled-positions';
import { batchMetrics, parkedMetrics } from './metric-lines';
import { Replay, type ReplaySummary } from './replay';
import { eventBatch, type ShardRecord, type SourceBatch, type StreamEvent, sourceBatch } from './shard-record';
import { openTime, type WorkTime, withinInvocation } from './work-time';

/** The event that the schedule of the retrier gives the function. */
export interface ReplayEvent {
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

/** A batch that takes this long writes why. When a consumer is behind, most of its batches do. */
const LONG_BATCH_MS = 100;

/**
 * Handles the records of a stream's shards: the records of each key in order, one at a time, and different keys at the same
 * time. A key whose record fails is set aside alone, with all that follows, and replayed in order; no other key waits for
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
  private readonly handled: HandledPositions;
  private readonly unended = new UnendedAttempts();

  /** @throws InvalidArgumentError that names the option that is out of its bounds */
  constructor(handle: RecordHandler, options: OrderedConsumerOptions) {
    this.settings = consumerSettings(handle, options);
    this.handled = new HandledPositions(this.settings.maxKeys);
  }

  /**
   * Handles an event of Lambda: a batch of a stream, or `{ "retryParked": true }` of the retrier's schedule. It needs
   * `ReportBatchItemFailures` in the event source mapping. It is bound, so that you can export it. A replay writes the metrics
   * of parked keys to the log, as a line in CloudWatch's embedded metric format, and a batch of 100 ms or more writes how busy
   * its handlers and its longest key were.
   *
   * @throws InvalidArgumentError for an event that no stream sends, and for a context without the time that is left
   * @throws what the parking store throws, if a replay cannot read or write it
   */
  readonly handler = async (
    event: StreamEvent | ReplayEvent,
    context: InvocationContext,
  ): Promise<BatchResponse | ReplaySummary> => {
    const isReplay = Object(event).retryParked === true;
    if (!isReplay && !Array.isArray(Object(event).Records)) {
      throw new InvalidArgumentError('event', event, 'the event of a stream, or { "retryParked": true }');
    }
    if (typeof Object(context).getRemainingTimeInMillis !== 'function') {
      throw new InvalidArgumentError('context', context, "Lambda's context, with getRemainingTimeInMillis()");
    }
    return isReplay ? this.handleReplayEvent(context) : this.handleStreamEvent(event as StreamEvent, context);
  };

  private async handleReplayEvent(context: InvocationContext): Promise<ReplaySummary> {
    const summary = await this.inTime(context, (time) => this.replay(time));
    console.log(parkedMetrics(this.settings.parking.consumer, summary));
    return summary;
  }

  private async handleStreamEvent(event: StreamEvent, context: InvocationContext): Promise<BatchResponse> {
    const batch = eventBatch(event);
    const { clock, concurrency, parking } = this.settings;
    const startedAt = clock.now();
    const { comesAgain, problems, busyMs } = await this.inTime(context, (time) => this.processBatch(batch, time));
    const ms = clock.now() - startedAt;
    if (ms >= LONG_BATCH_MS) console.log(batchMetrics(parking.consumer, { ms, busyMs, concurrency }));
    for (const problem of problems) console.error(problem);
    return { batchItemFailures: comesAgain === undefined ? [] : [{ itemIdentifier: comesAgain.sequenceNumber }] };
  }

  /**
   * Handles a batch of a shard, for a consumer that is no Lambda function. Then read on after the batch, or from
   * `comesAgain` on if the result has it, before you take a checkpoint.
   *
   * @param records the next records of the shard, in order
   * @throws InvalidArgumentError if the source has no name, or a record is not one
   */
  async process(records: Iterable<ShardRecord>, options: ProcessOptions): Promise<BatchProgress> {
    const { source, signal }: Partial<ProcessOptions> = Object(options);
    const { busyMs: _, ...progress } = await this.processBatch(
      sourceBatch(source, records),
      openTime(this.settings.attemptTimeoutMs, signal),
    );
    return progress;
  }

  /**
   * Tries each parked key whose time has come: its records in order, until none is left or one fails. Several processes may
   * do it at once; each key is then tried by one of them.
   *
   * @throws what the parking store throws, after the keys that could be tried
   */
  retryParked({ signal }: WorkOptions = {}): Promise<ReplaySummary> {
    return this.replay(openTime(this.settings.attemptTimeoutMs, signal));
  }

  private async processBatch(
    { source, records }: SourceBatch,
    time: WorkTime,
  ): Promise<BatchProgress & { busyMs: readonly number[] }> {
    const batch = new Batch(this.settings, this.handled, this.unended, time, { source, records });
    const problems: unknown[] = [];
    const work = batch.process().then(
      (found) => void problems.push(...found),
      (error) => void problems.push(error),
    );
    await (time.over === undefined ? work : Promise.race([work, time.over]));
    const { firstUnfinished, busyMs } = batch;
    if (firstUnfinished === undefined) return { problems, busyMs };
    return { comesAgain: records[firstUnfinished]!, problems, busyMs };
  }

  private replay(time: WorkTime): Promise<ReplaySummary> {
    return new Replay(this.settings, this.handled, this.unended, time).replayKeys();
  }

  private inTime<T>(context: InvocationContext, work: (time: WorkTime) => Promise<T>): Promise<T> {
    return withinInvocation(context.getRemainingTimeInMillis(), this.settings, work);
  }
}
