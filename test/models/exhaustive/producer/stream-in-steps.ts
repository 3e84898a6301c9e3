import type {
  PutRecordInput,
  PutRecordsClient,
  PutRecordsOutput,
  PutRecordsRequestEntry,
  PutRecordsResultEntry,
  ShardDescription,
} from '../../../../lib/core/producer';
import { uniformRanges } from '../../../../lib/core/stream-format/hash-key-ranges';
import { recordsAlongLineage, type StoredRecord } from '../../../../lib/testing/fake-shard';
import { FakeShards } from '../../../../lib/testing/fake-shards';
import type { Faults } from '../faults';
import type { Footprint, World } from '../world';

const ENTRY_ERRORS = { throttled: 'ProvisionedThroughputExceededException', refused: 'InvalidArgumentException' };

/** Responses to an applied request that do not contain the outcome of its records. */
const MALFORMED_ANSWERS: Record<string, (results: PutRecordsResultEntry[]) => unknown[] | undefined> = {
  'without results': () => undefined,
  'with too few results': (results) => results.slice(1),
  'with a result that is null': ([, ...others]) => [null, ...others],
  'without a sequence number': ([{ ShardId } = {}, ...others]) => [{ ShardId }, ...others],
};

interface StreamOptions {
  shardCount: number;
  /** Whether an applied request can have a malformed response. @default false */
  malformedResponses?: boolean;
  /** The name of the producer, if several producers write to one stream. */
  producer?: string;
  /** The shards of the stream, if several producers write to it. @default new shards */
  shards?: FakeShards;
  /** Called with each response of the producer. */
  onResponse?(response: unknown): void;
}

type Possible = [of: Pick<World | Faults, 'offer'>, name: string, footprint: Footprint, happen: () => void];

/**
 * A stream for exhaustive tests: the explorer decides when each request and each response arrives. A response can also
 * be lost. If its response is lost, a request has arrived, arrives later, or never arrives. Faults happen until the run
 * has no faults left.
 */
export class StreamInSteps {
  answersWereLost = false;
  /** Set when the producer must send nothing more. */
  mustBeQuiet = false;
  wasQuiet = true;
  /** Whether each PutRecord names the last acknowledged record of its key. */
  namedTheRecordBefore = true;
  readonly shards: FakeShards;
  /** The records of each request in flight, and its response if the request has arrived. */
  readonly inFlight = new Map<string, { entries: readonly PutRecordsRequestEntry[]; answer?: unknown }>();
  private readonly lastAnswered = new Map<string, string>();
  private requests = 0;
  /** The offered steps of each request of the running producer. */
  private readonly offered = new Map<string, (() => void)[]>();

  constructor(
    private readonly world: World,
    private readonly faults: Pick<Faults, 'offer'>,
    private readonly options: StreamOptions,
  ) {
    const { shardCount, shards } = options;
    this.shards = shards ?? new FakeShards(uniformRanges(shardCount), undefined, () => 0);
  }

  get client(): PutRecordsClient {
    return {
      putRecords: ({ Records }) => this.putRecords(Records),
      putRecord: (input) => this.putRecord(input),
      listShards: () => this.listShards(),
    };
  }

  records(): StoredRecord[] {
    return recordsAlongLineage(this.shards.all);
  }

  private async putRecord(input: PutRecordInput): Promise<PutRecordsResultEntry> {
    const { PartitionKey: key, SequenceNumberForOrdering: before } = input;
    this.namedTheRecordBefore &&= before === this.lastAnswered.get(key);
    const { Records } = await this.putRecords([input]);
    const result = Records?.[0] ?? {};
    const { ErrorCode, SequenceNumber } = result;
    if (ErrorCode !== undefined) {
      throw Object.assign(new Error(ErrorCode), { name: ErrorCode, $metadata: { httpStatusCode: 400 } });
    }
    if (SequenceNumber !== undefined) this.lastAnswered.set(key, SequenceNumber);
    return result;
  }

  private putRecords(entries: readonly PutRecordsRequestEntry[]): Promise<PutRecordsOutput> {
    const { producer, onResponse } = this.options;
    const request = this.nameOfRequest();
    this.wasQuiet &&= !this.mustBeQuiet;
    const ends = { writes: [request, producer ?? 'producer'] };
    const arrives = this.arrives(request, entries);
    return new Promise((resolve, reject) => {
      /** Offers the possible next steps of the request, of which one happens. */
      const next = (steps: Possible[]): void => {
        const offers = steps.map(([of, name, footprint, happen]) =>
          of.offer(`${request} ${name}`, footprint, () => {
            for (const takeBack of offers) takeBack();
            this.offered.delete(request);
            happen();
          }),
        );
        this.offered.set(request, offers);
      };
      const end = (what: unknown): void => {
        this.inFlight.delete(request);
        onResponse?.(what);
      };
      const lose = (): void => {
        this.answersWereLost = true;
        end('lost');
        reject(Object.assign(new Error('the connection was lost'), { name: 'TimeoutError' }));
      };
      const answer = (response: unknown): void => {
        end(response);
        resolve({ Records: response } as PutRecordsOutput);
      };
      const answerMalformed = (response: unknown): void => {
        this.answersWereLost = true;
        answer(response);
      };
      const arrive = (fault?: { entry: number; code: string }) => (): void => {
        const Records = entries.map((entry, index) =>
          index === fault?.entry ? refused(fault.code) : this.store(entry),
        );
        this.inFlight.set(request, { entries, answer: Records });
        next([
          [this.world, 'is answered', ends, () => answer(Records)],
          [this.faults, 'has its answer lost', ends, lose],
          ...this.malformedAnswers(Records).map(
            ([fate, response]) =>
              [this.faults, `is answered ${fate}`, ends, () => answerMalformed(response)] as Possible,
          ),
        ]);
      };
      const beLate = (): void => {
        lose();
        this.arriveLate(request, entries);
      };
      this.inFlight.set(request, { entries });
      next([
        [this.world, 'arrives', arrives, arrive()],
        [this.faults, 'is lost', ends, lose],
        [this.faults, 'is late', ends, beLate],
        ...entries.flatMap((_, entry) =>
          Object.entries(ENTRY_ERRORS).map(
            ([fate, code]) =>
              [this.faults, `arrives, entry ${entry + 1} ${fate}`, arrives, arrive({ entry, code })] as Possible,
          ),
        ),
      ]);
    });
  }

  /** If several producers share the stream, a request must have the same name in equal states. */
  private nameOfRequest(): string {
    const { producer } = this.options;
    if (producer === undefined) return `request ${++this.requests}`;
    for (let number = 1; ; number++) {
      const name = `${producer} request ${number}`;
      if (!this.inFlight.has(name)) return name;
    }
  }

  /** Ends the producer. The producer receives no more responses, and each of its requests in flight arrives or never arrives. */
  end(arrives = true): void {
    for (const [request, offers] of this.offered) {
      for (const takeBack of offers) takeBack();
      const { entries, answer } = this.inFlight.get(request)!;
      this.inFlight.delete(request);
      if (answer === undefined && arrives) this.arriveLate(request, entries);
    }
    this.offered.clear();
  }

  private arriveLate(request: string, entries: readonly PutRecordsRequestEntry[]): void {
    this.inFlight.set(request, { entries });
    this.world.offer(`${request} arrives late`, this.arrives(request, entries), () => {
      this.inFlight.delete(request);
      for (const entry of entries) this.store(entry);
    });
  }

  private arrives(request: string, entries: readonly PutRecordsRequestEntry[]): Footprint {
    return { reads: ['shards'], writes: [request, ...entries.map((entry) => `stored ${entry.PartitionKey}`)] };
  }

  private malformedAnswers(results: PutRecordsResultEntry[]): [fate: string, answer: unknown][] {
    if (!this.options.malformedResponses) return [];
    return Object.entries(MALFORMED_ANSWERS).map(([fate, answerOf]) => [fate, answerOf(results)]);
  }

  private store(entry: PutRecordsRequestEntry): PutRecordsResultEntry {
    const shard = this.shards.shardOf(entry.PartitionKey, entry.ExplicitHashKey);
    const sequenceNumber = shard.takeSequenceNumber();
    const record = { shardId: shard.shardId, sequenceNumber, partitionKey: entry.PartitionKey, arrivedAtMs: 0 };
    shard.records.push({ ...record, data: Uint8Array.from(entry.Data) });
    return { ShardId: shard.shardId, SequenceNumber: sequenceNumber };
  }

  private async listShards(): Promise<{ Shards: ShardDescription[] }> {
    return { Shards: this.shards.open.map((shard) => shard.describe() as ShardDescription) };
  }
}

function refused(ErrorCode: string): PutRecordsResultEntry {
  return { ErrorCode, ErrorMessage: ErrorCode };
}
