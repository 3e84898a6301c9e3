import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kinesis } from '@aws-sdk/client-kinesis';
import { MAX_EVENT_BYTES } from '../../../lib/core/contract/kinesis-event';
import { counted } from '../../plain-text';
import { abortable, type KinesisRecord, type StreamClient } from '../../stream-shards/shard-reader';
import type { DeploymentPlan } from '../assembly/deployment-plan';
import type { LocalEventSource, LocalSchedule } from '../assembly/event-sources';
import { matches } from '../assembly/filter-pattern';
import type { LocalFunction } from '../assembly/planned-function';
import type { FunctionPool } from '../functions/function-pool';
import { errorText } from '../functions/function-process';
import type { ReportProblem } from '../problem-lines';
import { deliveryOf } from './batch-answer';
import { type EventForm, eventFormOf } from './event-form';
import type { Delivery, ShardBatch, WorkerSettings } from './event-source-worker';
import { StreamPoller } from './stream-poller';

/** The progress of an event source mapping since the start. */
export interface EventSourceState {
  /** The construct paths of the function, and of the stream or the table. */
  readonly functionPath: string;
  readonly streamPath: string;
  readonly batches: number;
  /** How many records the function has handled. */
  readonly done: number;
  /** How many records were read but not handled yet. */
  readonly waiting: number;
  /**
   * How many records were skipped, as Lambda skips them: because of a limit of the mapping, or because they are too
   * large for an event.
   */
  readonly discarded: number;
  /** The number of times that a batch, or a part of a batch, was delivered again. */
  readonly failures: number;
  /** The reason for the latest retry of a batch. */
  readonly problem?: string;
}

/** The interval at which `settle` checks the progress. */
const POLL_MS = 50;

/** The event source mappings of streams, and the schedules of the functions that they invoke. */
export class EventSources {
  private readonly ended = new AbortController();
  private readonly mappings: readonly RunningMapping[];
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly plan: DeploymentPlan,
    { kinesis, tableStreams }: { kinesis: Kinesis; tableStreams: StreamClient },
    private readonly pools: ReadonlyMap<string, FunctionPool>,
    private readonly reportProblem: ReportProblem,
    timing: Pick<WorkerSettings, 'clock' | 'timeOfDay'> = {},
  ) {
    // Each worker of each shard adds a listener to this signal, so turn off the warning of Node.js about many
    // listeners.
    setMaxListeners(0, this.ended.signal);
    const clients = { stream: abortable(kinesis, this.ended.signal), table: tableStreams };
    this.mappings = plan.eventSources.map(
      (source) =>
        new RunningMapping(source, {
          client: clients[source.reads],
          pool: pools.get(source.functionName)!,
          streamPath: (source.reads === 'table' ? plan.tables : plan.streams).find(
            ({ name }) => name === source.streamName,
          )!.path,
          signal: this.ended.signal,
          reportProblem,
          timing,
        }),
    );
  }

  get states(): readonly EventSourceState[] {
    return this.mappings.map(({ state }) => state);
  }

  /**
   * Starts reading. Every record that is written after this call is delivered, for any starting position of a mapping.
   */
  async start(): Promise<void> {
    await Promise.all(this.mappings.map(({ poller }) => poller.begin()));
    this.running = Promise.all([
      ...this.mappings.map(({ poller }) => poller.run()),
      ...this.plan.schedules.map((schedule) => this.invokeOnSchedule(schedule)),
    ]);
  }

  /** The progress of each mapping, as lines to print. */
  report(): string[] {
    return this.states.map(({ functionPath, streamPath, done, batches, waiting, discarded, problem }) => {
      const others = [
        ...(waiting > 0 ? [`${waiting} wait${problem === undefined ? '' : `: ${problem}`}`] : []),
        ...(discarded > 0 ? [`${discarded} ${discarded === 1 ? 'was' : 'were'} discarded`] : []),
      ];
      const handled = `${counted(done, 'record')} of ${streamPath} in ${counted(batches, 'batch', 'batches')}`;
      return [`${functionPath} has handled ${handled}`, ...others].join('; ');
    });
  }

  /** Waits until all written records are handled, but at most `mostMs`. */
  async settle(mostMs: number): Promise<void> {
    const startedAt = performance.now();
    const isCaughtUp = () => this.mappings.every(({ poller }) => poller.isCaughtUpSince(startedAt));
    while (performance.now() - startedAt < mostMs && !isCaughtUp()) {
      await sleep(POLL_MS);
    }
  }

  /** Invokes a function now, with the events of its schedules. */
  async invokeScheduled(definition: LocalFunction): Promise<void> {
    const own = this.plan.schedules.filter(({ functionName }) => functionName === definition.name);
    for (const schedule of own) await this.invoke(schedule);
  }

  async stop(): Promise<void> {
    this.ended.abort();
    await this.running;
  }

  private async invokeOnSchedule(schedule: LocalSchedule): Promise<void> {
    const { signal } = this.ended;
    while (!signal.aborted) {
      await sleep(schedule.everyMs, undefined, { signal }).catch(() => {});
      if (!signal.aborted) await this.invoke(schedule);
    }
  }

  private async invoke({ path, functionName, qualifier, input }: LocalSchedule): Promise<void> {
    try {
      const result = await this.pools.get(functionName)!.invoke(input, qualifier);
      if (result.functionError !== undefined) this.reportProblem(path, `${path}: ${errorText(result)}`);
    } catch (error) {
      if (!this.ended.signal.aborted) throw error;
    }
  }
}

interface MappingParts {
  readonly client: StreamClient;
  readonly pool: FunctionPool;
  readonly streamPath: string;
  readonly signal: AbortSignal;
  readonly reportProblem: ReportProblem;
  readonly timing: Pick<WorkerSettings, 'clock' | 'timeOfDay'>;
}

class RunningMapping {
  readonly poller: StreamPoller;
  private readonly form: EventForm;
  private readonly counts = { batches: 0, done: 0, discarded: 0, failures: 0 };
  private problem?: string;

  constructor(
    private readonly source: LocalEventSource,
    private readonly parts: MappingParts,
  ) {
    const { filters, onFailure, parallelizationFactor: workers } = source;
    this.form = eventFormOf(source);
    const { bytes: eventBytes, filtered, atTipMs } = this.form;
    const settings = {
      ...source,
      ...parts.timing,
      workers,
      atTipMs,
      eventBytes,
      hasOnFailure: onFailure !== undefined,
      includes: (record: KinesisRecord) =>
        filters.length === 0 || filters.some((each) => matches(each, filtered(record))),
      deliver: (batch: ShardBatch) => this.deliver(batch),
      onDiscard: (batch: ShardBatch) => this.explainDiscarded(batch),
      onTooLarge: (batch: ShardBatch, bytes: number) => this.explainTooLarge(batch, bytes),
      onProblem: (problem: string) => {
        this.counts.failures += 1;
        this.problem = problem;
        parts.reportProblem(source.path, `${parts.pool.definition.path} retries a batch: ${problem}`);
      },
    };
    this.poller = new StreamPoller(parts.client, settings, parts.signal);
  }

  get state(): EventSourceState {
    const { pool, streamPath } = this.parts;
    const waiting = this.poller.waiting.length;
    return {
      functionPath: pool.definition.path,
      streamPath,
      ...this.counts,
      waiting,
      ...(this.problem !== undefined && { problem: this.problem }),
    };
  }

  private async deliver({ shardId, records }: ShardBatch): Promise<Delivery> {
    const { reportsFailures, qualifier } = this.source;
    const event = { Records: records.map((record) => this.form.record(record, shardId)) };
    const numbers = records.map(({ SequenceNumber }) => SequenceNumber!);
    const delivery = await this.parts.pool.invoke(JSON.stringify(event), qualifier).then(
      (result) => deliveryOf(result, numbers, reportsFailures),
      (error): Delivery => ({ done: 0, problem: String(error), wasInvoked: false }),
    );
    this.counts.batches += 1;
    this.counts.done += delivery.done;
    return delivery;
  }

  private explainDiscarded({ shardId, records }: ShardBatch): void {
    const { path, onFailure } = this.source;
    this.counts.discarded += records.length;
    const destination = onFailure === undefined ? '' : `. On AWS, the metadata goes to ${onFailure}`;
    const what = `${counted(records.length, 'record')} of ${shardId}${destination}`;
    this.parts.reportProblem(`${path} discards`, `${path} reached a limit and discarded ${what}`);
  }

  /**
   * Reports a record that is too large. The line has neither the partition key nor the data, because both can be
   * confidential.
   */
  private explainTooLarge({ shardId, records }: ShardBatch, eventBytes: number): void {
    const { path, onFailure } = this.source;
    const tooLarge =
      `record ${records[0]!.SequenceNumber} of ${shardId} is too large: its event has ${eventBytes} bytes, ` +
      `and Lambda allows ${MAX_EVENT_BYTES}`;
    if (onFailure === undefined) this.problem = `${tooLarge}. It blocks its shard until it expires`;
    else this.counts.discarded += records.length;
    this.parts.reportProblem(
      `${path} too large`,
      `${path}: ${onFailure === undefined ? this.problem : `${tooLarge}. On AWS, it goes to ${onFailure}`}`,
    );
  }
}
