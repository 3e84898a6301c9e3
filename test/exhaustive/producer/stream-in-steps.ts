import { uniformRanges } from '../../../lib/core/foundation/hash-key-ranges';
import type {
  PutRecordInput,
  PutRecordsClient,
  PutRecordsOutput,
  PutRecordsRequestEntry,
  PutRecordsResultEntry,
  ShardDescription,
} from '../../../lib/core/producer';
import { recordsAlongLineage, type StoredRecord } from '../../../lib/testing/fake-shard';
import { ShardMap } from '../../../lib/testing/shard-map';
import type { Faults } from '../faults';
import type { Footprint, World } from '../world';

const ENTRY_ERRORS = { throttled: 'ProvisionedThroughputExceededException', refused: 'InvalidArgumentException' };

/** Answers to a request that was applied, which do not say what became of its records. */
const MALFORMED_ANSWERS: Record<string, (results: PutRecordsResultEntry[]) => unknown[] | undefined> = {
  'without results': () => undefined,
  'with too few results': (results) => results.slice(1),
  'with a result that is null': ([, ...others]) => [null, ...others],
  'without a sequence number': ([{ ShardId } = {}, ...others]) => [{ ShardId }, ...others],
};

export interface StreamOptions {
  shardCount: number;
  /** Whether a request that was applied can have a malformed answer. @default false */
  answersMalformed?: boolean;
}

type Possible = [of: World | Faults, name: string, footprint: Footprint, happen: () => void];

/**
 * A stream whose requests are steps of a world: a request arrives at some moment, and its answer does at a later one, or
 * never. A request whose answer is lost may have arrived, may arrive later, or never does. Faults happen as long as the
 * run may have more.
 */
export class StreamInSteps {
  answersWereLost = false;
  /** Set when the producer must send nothing more. */
  mustBeQuiet = false;
  wasQuiet = true;
  /** Whether each PutRecord names the last record of its key whose answer has come. */
  namedTheRecordBefore = true;
  readonly shards: ShardMap;
  private readonly lastAnswered = new Map<string, string>();
  private requests = 0;

  constructor(
    private readonly world: World,
    private readonly faults: Faults,
    private readonly options: StreamOptions,
  ) {
    const { shardCount } = options;
    this.shards = new ShardMap(uniformRanges(shardCount), undefined, () => 0);
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
    const request = `request ${++this.requests}`;
    this.wasQuiet &&= !this.mustBeQuiet;
    const ends = { writes: [request, 'producer'] };
    const arrives = { reads: ['shards'], writes: [request, ...entries.map((entry) => `stored ${entry.PartitionKey}`)] };
    return new Promise((resolve, reject) => {
      let offers: (() => void)[] = [];
      /** What can happen to the request next: one of these. */
      const next = (steps: Possible[]): void => {
        offers = steps.map(([of, name, footprint, happen]) =>
          of.offer(`${request} ${name}`, footprint, () => {
            for (const takeBack of offers) takeBack();
            happen();
          }),
        );
      };
      const lose = (): void => {
        this.answersWereLost = true;
        reject(Object.assign(new Error('the connection was lost'), { name: 'TimeoutError' }));
      };
      const answerMalformed = (answer: unknown): void => {
        this.answersWereLost = true;
        resolve({ Records: answer } as PutRecordsOutput);
      };
      const arrive = (fault?: { entry: number; code: string }) => (): void => {
        const Records = entries.map((entry, index) =>
          index === fault?.entry ? refused(fault.code) : this.store(entry),
        );
        next([
          [this.world, 'is answered', ends, () => resolve({ Records })],
          [this.faults, 'has its answer lost', ends, lose],
          ...this.malformedAnswers(Records).map(
            ([fate, answer]) => [this.faults, `is answered ${fate}`, ends, () => answerMalformed(answer)] as Possible,
          ),
        ]);
      };
      const arriveLate = (): void => {
        lose();
        this.world.offer(`${request} arrives late`, arrives, () => {
          for (const entry of entries) this.store(entry);
        });
      };
      next([
        [this.world, 'arrives', arrives, arrive()],
        [this.faults, 'is lost', ends, lose],
        [this.faults, 'is late', ends, arriveLate],
        ...entries.flatMap((_, entry) =>
          Object.entries(ENTRY_ERRORS).map(
            ([fate, code]) =>
              [this.faults, `arrives, entry ${entry + 1} ${fate}`, arrives, arrive({ entry, code })] as Possible,
          ),
        ),
      ]);
    });
  }

  private malformedAnswers(results: PutRecordsResultEntry[]): [fate: string, answer: unknown][] {
    if (!this.options.answersMalformed) return [];
    return Object.entries(MALFORMED_ANSWERS).map(([fate, answerOf]) => [fate, answerOf(results)]);
  }

  private store(entry: PutRecordsRequestEntry): PutRecordsResultEntry {
    const shard = this.shards.shardOf(entry.PartitionKey, entry.ExplicitHashKey);
    const sequenceNumber = this.shards.takeSequenceNumber();
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
