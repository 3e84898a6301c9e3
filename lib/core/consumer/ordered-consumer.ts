import { checkSignal } from '../kernel/checks';
import { InvalidArgumentError } from '../kernel/errors';
import { settlesUnlessAborted } from '../kernel/pause';
import { Batch } from './batch';
import {
  type ConsumerSettings,
  consumerSettings,
  type OrderedConsumerOptions,
  type RecordHandler,
} from './consumer-options';
import { batchMetrics, parkedMetrics } from './metric-lines';
import { ProcessState } from './process-state';
import { Replay, type ReplaySummary } from './replay';
import { eventBatch, type ShardRecord, type SourceBatch, type StreamEvent, sourceBatch } from './shard-record';
import { openTime, type WorkTime, withinInvocation } from './work-time';

/** The event with which the replay schedule invokes the function. */
export interface ReplayEvent {
  retryParked: true;
}

/** The part of Lambda's context that a consumer reads. */
export interface InvocationContext {
  getRemainingTimeInMillis(): number;
}

/**
 * The partial batch response to Lambda. Lambda continues at the named record, or after the batch if the response names no record.
 */
export interface BatchResponse {
  batchItemFailures: { itemIdentifier: string }[];
}

/** Options to stop the work early. */
export interface WorkOptions {
  /** After the signal aborts, no new attempt begins. Records that are neither done nor parked must be delivered again. */
  signal?: AbortSignal;
}

/** Options of `process`. */
export interface ProcessOptions extends WorkOptions {
  /**
   * The name of the source of the records, in 1 to 2,048 characters. Use the ARN of the Kinesis stream, or the ARN of the table's
   * stream with its label. Sequence numbers are compared only within a source. So two sources must not share a name, and a source
   * must keep its name. A Lambda function that reads the same stream uses the ARN as the name.
   */
  source: string;
}

/** The progress of a batch. */
export interface BatchProgress {
  /** The first record that must be delivered again, with all later records. Absent if the whole batch is done or parked. */
  comesAgain?: ShardRecord;
  /** The errors of keys that could not be parked, or that waited for the end of a move. Their records must be delivered again. */
  problems: unknown[];
}

/**
 * A batch logs its metrics only if it took at least this long, in milliseconds. If a consumer is behind, most of its batches take
 * longer.
 */
const LONG_BATCH_MS = 100;

/**
 * Handles the records of a stream's shards: the records of each key in order, one at a time, and different keys in parallel. If a
 * record fails, the consumer parks only the key of the record, with all later records of the key, and replays these records in
 * order. Other keys do not wait, and no record is lost.
 *
 *     const consumer = new OrderedConsumer(async (record) => apply(record), { parking });
 *     export const handler = consumer.handler;
 *
 * `handler` is a Lambda handler for the event source mapping of a Kinesis stream or a table's stream, and for the replay
 * schedule. Outside Lambda, call `process` with the batches of a shard, and `retryParked` regularly. One consumer can handle all
 * shards of several sources. A parked key is parked for all sources.
 *
 * A record can be handled more than once: after a crash, and after a batch that ran out of time. Use `once` in DynamoDB or
 * Postgres so that each record takes effect once.
 */
export class OrderedConsumer {
  private readonly settings: ConsumerSettings;
  private readonly state: ProcessState;

  /** @throws InvalidArgumentError if an option is out of bounds */
  constructor(handle: RecordHandler, options: OrderedConsumerOptions) {
    this.settings = consumerSettings(handle, options);
    this.state = new ProcessState(this.settings.maxKeys);
  }

  /**
   * Handles an event of Lambda: a batch of a stream, or `{ "retryParked": true }` from the replay schedule. The event source
   * mapping needs `ReportBatchItemFailures`. The method is bound to the consumer, so that you can export it.
   *
   * A replay logs the metrics of parked keys, in CloudWatch's embedded metric format. A batch of 100 ms or more logs how busy its
   * handlers were, and which part of the time its slowest key took.
   *
   * @throws InvalidArgumentError if the event is not from a stream, or the context has no `getRemainingTimeInMillis`
   * @throws the error of the parking store, if a replay cannot read or write the store
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
    const summary = await this.withinTime(context, (time) => this.replay(time));
    console.log(parkedMetrics(this.settings.parking.consumer, summary));
    return summary;
  }

  private async handleStreamEvent(event: StreamEvent, context: InvocationContext): Promise<BatchResponse> {
    const batch = eventBatch(event);
    const { clock, concurrency, parking } = this.settings;
    const startedAt = clock.now();
    const { comesAgain, problems, busyMs } = await this.withinTime(context, (time) => this.processBatch(batch, time));
    const ms = clock.now() - startedAt;
    if (ms >= LONG_BATCH_MS) console.log(batchMetrics(parking.consumer, { ms, busyMs, concurrency }));
    for (const problem of problems) console.error(problem);
    return { batchItemFailures: comesAgain === undefined ? [] : [{ itemIdentifier: comesAgain.sequenceNumber }] };
  }

  /**
   * Handles a batch of a shard outside Lambda. If the result has `comesAgain`, pass this record and all later records again
   * before you take a checkpoint. Otherwise continue after the batch.
   *
   * @param records the next records of the shard, in order
   * @throws InvalidArgumentError if the source has no name, or a record is invalid
   */
  async process(records: Iterable<ShardRecord>, options: ProcessOptions): Promise<BatchProgress> {
    const { source, signal }: Partial<ProcessOptions> = Object(options);
    checkSignal(signal);
    const { busyMs: _, ...progress } = await this.processBatch(
      sourceBatch(source, records),
      openTime(this.settings.attemptTimeoutMs, signal),
    );
    return progress;
  }

  /**
   * Replays each parked key that is due: its records in order, until a record fails or all records are done. Several processes
   * may call the method in parallel, because a lease gives each key to one process.
   *
   * @throws the error of the parking store, after all other keys were replayed
   */
  retryParked({ signal }: WorkOptions = {}): Promise<ReplaySummary> {
    return this.replay(openTime(this.settings.attemptTimeoutMs, signal));
  }

  private async processBatch(
    { source, records }: SourceBatch,
    time: WorkTime,
  ): Promise<BatchProgress & { busyMs: readonly number[] }> {
    const batch = new Batch(this.settings, this.state, time, { source, records });
    const problems: unknown[] = [];
    const work = batch.process().then(
      (found) => void problems.push(...found),
      (error) => void problems.push(error),
    );
    await (time.over === undefined ? work : settlesUnlessAborted(work, time.over));
    const { firstUnfinished, busyMs } = batch;
    if (firstUnfinished === undefined) return { problems, busyMs };
    return { comesAgain: records[firstUnfinished]!, problems, busyMs };
  }

  private replay(time: WorkTime): Promise<ReplaySummary> {
    return new Replay(this.settings, this.state, time).replayKeys();
  }

  private withinTime<T>(context: InvocationContext, work: (time: WorkTime) => Promise<T>): Promise<T> {
    return withinInvocation(context.getRemainingTimeInMillis(), this.settings, work);
  }
}
