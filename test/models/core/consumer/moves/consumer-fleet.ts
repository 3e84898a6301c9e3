import {
  deaggregate,
  deduplicate,
  FenceGate,
  type FenceStore,
  type KeyHistory,
  MemoryFenceStore,
  MoveInProgressError,
  parseFence,
  SequenceHistory,
  type UserRecord,
} from '../../../../../lib/core';
import type { FakeShard, StoredRecord } from '../../../../../lib/testing/fake-shard';
import type { VirtualClock } from '../../../../../lib/testing/virtual-clock';

export interface FleetOptions {
  clock: VirtualClock;
  random: () => number;
  /** Processes that share the shards. */
  processes: number;
  /** How often a call ends with the process that made it. */
  crashes: number;
  /** How often a shard is read again from an earlier record. */
  replays: number;
  /** Whether the consumer knows of moves. */
  gate: 'none' | 'memory' | 'shared';
  /** Whether a gate is given a whole batch, or the records of each key in it. */
  gated: 'batch' | 'key';
  /** The most records that a call of a consumer is given. */
  largestBatch: number;
  /** A record that cannot be applied before `fix` is called. */
  isPoison(text: string): boolean;
}

/** What a key has come to: one item, saved under the condition that nobody else has saved it meanwhile. */
interface KeyState {
  version: number;
  history: KeyHistory[];
  applied: AppliedRecord[];
}

/** A record that took effect. */
interface AppliedRecord {
  text: string;
  /** Who wrote it, with which hash key. */
  series: string;
}

class CrashError extends Error {}
class ConflictError extends Error {}
class PoisonError extends Error {}

interface Process {
  /** Another object after each crash: what the process had begun before ends. */
  life: object;
  gate?: FenceGate;
}

/** Long enough for everything else to have happened. */
const MAX_WAIT_MS = 900_000;
const MOST_ATTEMPTS = 3;

/** A process that crashes for ever before it has waited for long enough would wait for ever. */
const MOST_CRASHES = 12;

/** A long shard that is read record by record, and again from the middle after every fifth, would never be read to its end. */
const MOST_REPLAYS = 10;

/** Processes that read the shards of a stream side by side, crash, start again, and keep their state in one table. */
export class ConsumerFleet {
  /** How many moves were let go because their end fence did not come. */
  letGo = 0;
  crashed = 0;
  private readonly table = new Map<string, KeyState>();
  private readonly sharedFences = new MemoryFenceStore();
  private readonly processes: Process[];
  private readonly setAside: StoredRecord[][] = [];
  private readonly ended = new Map<FakeShard, Promise<void>>();
  private isFixed = false;

  constructor(private readonly options: FleetOptions) {
    this.processes = Array.from({ length: options.processes }, () => ({ life: {} }));
    for (const process of this.processes) this.start(process);
  }

  /** Reads shards to their ends, parents before their children. */
  async read(shards: readonly FakeShard[], recordsOf: (shard: FakeShard) => readonly StoredRecord[]): Promise<void> {
    this.ended.clear();
    for (const shard of shards) {
      const parents = shard.parents.map((parent) => this.ended.get(parent));
      this.ended.set(
        shard,
        Promise.all(parents).then(() => this.readShard(recordsOf(shard))),
      );
    }
    await Promise.all(this.ended.values());
  }

  /** Gives the records that were set aside to the consumer again, once they can be applied. */
  async redrive(): Promise<void> {
    this.isFixed = true;
    for (const batch of this.setAside.splice(0)) await this.readShard(batch);
  }

  applied(partitionKey: string): readonly AppliedRecord[] {
    return this.table.get(partitionKey)?.applied ?? [];
  }

  private start(process: Process): void {
    const { gate, clock, random } = this.options;
    process.life = {};
    if (gate === 'none') return;
    const store = this.remote(process, gate === 'shared' ? this.sharedFences : new MemoryFenceStore());
    const onLetGo = (): void => {
      this.letGo += 1;
    };
    process.gate = new FenceGate({ store, maxWaitMs: MAX_WAIT_MS, clock, random, onLetGo });
  }

  private remote(process: Process, store: FenceStore): FenceStore {
    return {
      end: (move) => this.call(process, () => store.end(move)),
      wait: (move, waitedMs) => this.call(process, () => store.wait(move, waitedMs)),
    };
  }

  /** A call of a process takes its time, may be applied twice, and may be the last that the process does. */
  private async call<T>(process: Process, apply: () => T): Promise<Awaited<T>> {
    const { clock, random, crashes } = this.options;
    const { life } = process;
    const goOn = (): void => {
      const goesOn = random() >= crashes / 2 || this.crashed >= MOST_CRASHES;
      if (process.life === life && goesOn) return;
      if (process.life === life) {
        this.crashed += 1;
        this.start(process);
      }
      throw new CrashError();
    };
    await clock.sleep(random() < 0.1 ? random() * 5_000 : random() * 20);
    goOn();
    // The answer of the first attempt may be lost, and the SDK tries again.
    if (random() < crashes) await apply();
    const answer = await apply();
    await clock.sleep(random() * 20);
    goOn();
    return answer;
  }

  private async readShard(records: readonly StoredRecord[]): Promise<void> {
    const { clock, random, replays, largestBatch } = this.options;
    let position = 0;
    let attempts = 0;
    let replayed = 0;
    while (position < records.length) {
      const batch = records.slice(position, position + 1 + Math.floor(random() * largestBatch));
      const process = this.processes[Math.floor(random() * this.processes.length)]!;
      try {
        await this.processBatch(process, batch);
        position += batch.length;
        attempts = 0;
        if (replayed < MOST_REPLAYS && random() < replays) {
          replayed += 1;
          position = Math.floor(random() * position);
        }
      } catch (error) {
        if (error instanceof PoisonError && ++attempts === MOST_ATTEMPTS) {
          this.setAside.push(batch);
          position += batch.length;
          attempts = 0;
        } else if (
          ![CrashError, ConflictError, PoisonError, MoveInProgressError].some((kind) => error instanceof kind)
        ) {
          throw error;
        }
        await clock.sleep(random() * 200);
      }
    }
  }

  private async processBatch(process: Process, batch: readonly StoredRecord[]): Promise<void> {
    const records = batch.flatMap((record) => deaggregate(record));
    const groups = this.options.gated === 'key' ? byKey(records) : [records];
    const stop = new AbortController();
    const cancel = this.options.clock.schedule(() => stop.abort(), 500 + this.options.random() * 5_000);
    const results = await Promise.allSettled(
      groups.map(async (group) => {
        for await (const run of this.runs(process, group, stop.signal)) {
          await Promise.all(byKey(run).map((ofKey) => this.apply(process, ofKey)));
        }
      }),
    );
    cancel();
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    if (failures.some((failure) => failure instanceof PoisonError)) await this.setAsideRest(process, records);
    for (const failure of failures) throw failure;
  }

  private async *runs(process: Process, records: UserRecord[], signal: AbortSignal): AsyncGenerator<UserRecord[]> {
    if (process.gate === undefined) yield records.filter((record) => !isFence(record));
    else yield* process.gate.runs(records, signal);
  }

  /**
   * Any attempt at a batch may be the last one, so each one that fails sets aside whatever of the batch has not been taken: the
   * records behind a fence, and those of other keys, too.
   */
  private async setAsideRest(process: Process, records: readonly UserRecord[]): Promise<void> {
    for (const ofKey of byKey(records.filter((record) => !isFence(record)))) {
      const { partitionKey } = ofKey[0]!;
      const saved = await this.call(process, () => this.table.get(partitionKey));
      const history = new SequenceHistory({ saved: saved?.history });
      history.setAside(ofKey);
      await this.save(process, partitionKey, saved?.version ?? 0, {
        history: history.toJSON(),
        applied: saved?.applied ?? [],
      });
    }
  }

  private save(
    process: Process,
    partitionKey: string,
    version: number,
    state: Omit<KeyState, 'version'>,
  ): Promise<void> {
    return this.call(process, () => {
      if ((this.table.get(partitionKey)?.version ?? 0) !== version) throw new ConflictError();
      this.table.set(partitionKey, { version: version + 1, ...state });
    });
  }

  /** Applies records of one key, and saves what came of them with how far they were read. */
  private async apply(process: Process, records: readonly UserRecord[]): Promise<void> {
    const { partitionKey } = records[0]!;
    const saved = await this.call(process, () => this.table.get(partitionKey));
    const history = new SequenceHistory({ saved: saved?.history });
    const applied = [...(saved?.applied ?? [])];
    const version = saved?.version ?? 0;
    let failure: PoisonError | undefined;
    for (const record of deduplicate(records, history)) {
      const text = Buffer.from(record.data).toString();
      if (!this.isFixed && this.options.isPoison(text)) {
        failure = new PoisonError(text);
        break;
      }
      applied.push({ text, series: `${record.sequence?.producerId} ${record.explicitHashKey}` });
    }
    await this.save(process, partitionKey, version, { history: history.toJSON(), applied });
    if (failure !== undefined) throw failure;
  }
}

function isFence({ data }: UserRecord): boolean {
  return parseFence(data) !== undefined;
}

function byKey(records: readonly UserRecord[]): UserRecord[][] {
  const groups = new Map<string, UserRecord[]>();
  for (const record of records) {
    const group = groups.get(record.partitionKey);
    if (group === undefined) groups.set(record.partitionKey, [record]);
    else group.push(record);
  }
  return [...groups.values()];
}
