import { type Delivery, EventSourceWorker } from '../../../../bin/local/event-sources/event-source-worker';
import {
  type BatchProgress,
  DynamoDbParkingStore,
  OrderedConsumer,
  type ParkingItem,
  type ParkingTableClient,
  RecordDoneError,
  type SequencePosition,
  type ShardRecord,
} from '../../../../lib/core/consumer';
import type { Clock } from '../../../../lib/core/kernel/clock';
import { AggregateBuilder } from '../../../../lib/core/producer/aggregate-builder';
import { PARKING_METHODS, ParkingTable } from '../../../support/fakes/parking-table';
import { SOURCE } from '../../../support/fakes/stream-events';
import type { Scenario } from '../explore';
import { Faults } from '../faults';
import { ProcessInputs, stateText } from '../process-inputs';
import { promise } from '../promise';
import type { World } from '../world';

/** The possible faults. */
type ConsumerFault =
  | 'a handler fails'
  | 'a handler fails after its effect'
  | 'a handler does not end'
  | 'a request fails'
  | 'a response is lost'
  | 'a process ends'
  | 'an invocation is given up'
  | 'the time of an invocation is over';

export interface ConsumerBounds {
  /** The records of a shard. "a1" has the key "a". A repeated text is a duplicate of the producer. */
  records: readonly string[];
  /** Poison records that were parked before the scenario. They succeed now. */
  before?: readonly string[];
  /** The records of the child shard. */
  behindSplit?: readonly string[];
  batch: number;
  /** The poison records: they fail until `heals` or the end of the reads lets them succeed. */
  poison?: readonly string[];
  /**
   * The poison records that can begin to succeed at any moment. The other poison records succeed only after the shard has been
   * read. @default none
   */
  heals?: readonly string[];
  /** The number of replays of parked keys, each at any moment. @default 0 */
  retries?: number;
  /** Whether keys that are parked during the replays are due only after the replays. @default false */
  dueInTheEnd?: boolean;
  /** Whether each replay starts after the leases of the previous replays have expired. @default false */
  leasesEnd?: boolean;
  /** The number of faults in a run. */
  faults: number;
  kinds?: readonly ConsumerFault[];
}

export function consumerScenario(name: string, bounds: ConsumerBounds): Scenario {
  return { name, play: (world) => new Play(world, bounds).play() };
}

const HOUR_MS = 3_600_000;
const SECOND_MS = 1_000;
const LONG_MS = 10_000;
const MAX_TURNS_IN_VAIN = 6;

class Play {
  private readonly table = new ParkingTable();
  private readonly effects = new Map<string, string[]>();
  private readonly done = new Map<string, string>();
  private readonly faults: Faults;
  /**
   * The name of a broken promise that a handler has found. It is a field, because the consumer would catch an error of
   * the handler.
   */
  broken?: string;
  private readonly poison: Set<string>;
  private isCalm = false;
  private processes = 0;
  private readonly inputs = new ProcessInputs((part) => this.textOf(part));
  private readonly names = new NamesOfRandoms();
  /** The position of the reader in its shard, and the process that reads. */
  private reader: readonly unknown[] = [];

  constructor(
    private readonly world: World,
    private readonly bounds: ConsumerBounds,
  ) {
    this.faults = new Faults(world, bounds.faults);
    this.poison = new Set(bounds.poison);
    world.setState(() => this.state());
  }

  /** The state of a run: the table, the effects, and the inputs of each process. */
  private state(): string {
    const { inputs, table, effects, done, poison, faults, isCalm, processes, reader, broken } = this;
    const items = table.all.map((item) => this.textOf(item)).sort();
    const [keys, numbers] = [[...effects].sort(), [...done].sort()];
    return this.textOf([
      inputs.all(),
      items,
      keys,
      numbers,
      [...poison].sort(),
      faults.rest,
      isCalm,
      processes,
      reader,
      broken,
    ]);
  }

  private textOf(part: unknown): string {
    return this.names.in(stateText(part));
  }

  /** Removes the inputs of a process that has ended. */
  removeInputs(process: string): void {
    this.inputs.remove(process);
  }

  /** Records an input of a process, which determines its next actions. */
  addInput(process: string, ...what: readonly unknown[]): void {
    this.inputs.add(process, ...what);
  }

  async play(): Promise<void> {
    const { before = [], records, behindSplit = [], heals, retries = 0 } = this.bounds;
    await this.world.until(this.readShard('shard-0', before));
    this.heal(before);
    const heal = (): void => this.heal(heals);
    if (heals) this.world.offer('the cause is gone', { writes: ['cause'] }, heal, { isOptional: true });
    const read = async (): Promise<void> => {
      await this.readShard('shard-1', records);
      await this.readShard('shard-2', behindSplit);
    };
    const work = [read(), ...Array.from({ length: retries }, (_, index) => this.retry(index + 1))];
    await this.world.until(Promise.all(work));
    this.heal(this.bounds.poison ?? []);
    this.isCalm = true;
    await this.world.untilAllStepsAreTaken();
    for (let turn = 1; (await this.lastRetry(turn)) > 0; turn++) promise(turn < 4, 'no key stays parked');
    this.check([...before, ...records, ...behindSplit]);
  }

  private heal(texts: readonly string[] = []): void {
    for (const text of texts) this.poison.delete(text);
  }

  private async readShard(shardId: string, texts: readonly string[]): Promise<void> {
    const records = recordsOf(shardId, texts);
    const begin = () => new Process(this, this.nameOfNext(), this.bounds.dueInTheEnd ? this.timeOf(shardId) : 0);
    let process = begin();
    let [position, turns] = [0, 0];
    const deliver = async (count: number): Promise<Delivery> => {
      promise(turns < records.length + MAX_TURNS_IN_VAIN, 'the processing of a shard continues');
      turns += 1;
      const batch = records.slice(position, position + count);
      const end = await this.invoke(process, batch, [shardId, position, count, turns]);
      if (end === undefined) process = begin();
      else process.rest();
      const done = end === undefined ? 0 : end.comesAgain === undefined ? count : batch.indexOf(end.comesAgain);
      this.checkOthers(texts.slice(position, position + done));
      position += done;
      return { done };
    };
    await deliverAsLambda(shardId, records, this.bounds.batch, deliver);
  }

  /** Processes a batch. Returns undefined if the process has crashed, or if Lambda has given up the invocation. */
  private async invoke(
    process: Process,
    batch: readonly ShardRecord[],
    position: readonly unknown[],
  ): Promise<BatchProgress | undefined> {
    this.reader = [...position, process.name];
    const isGivenUp = this.goesWrong('an invocation is given up', process.name);
    const time = new AbortController();
    const takeBack = this.offerFault('the time of an invocation is over', `${process.name} at ${position[1]}`, () => {
      this.addInput(process.name, 'the time of an invocation is over');
      time.abort();
    });
    const progress = process.consumer.process(batch, { source: SOURCE, signal: time.signal });
    const givenUp = isGivenUp ? this.world.answer(`${process.name} is given up`, { writes: ['reader'] }) : undefined;
    const end = await Promise.race([progress, process.hasEnded, ...(givenUp ? [givenUp] : [])]);
    this.reader = [...position, process.name, end?.comesAgain?.sequenceNumber, end === undefined];
    takeBack();
    return end ?? undefined;
  }

  /**
   * The time of day in the invocations for a shard: 0 for shard-0, whose records were parked before the scenario, and a
   * time after all replays for every other shard.
   */
  private timeOf(shardId: string): number {
    return shardId === 'shard-0' ? 0 : 9 * HOUR_MS;
  }

  /** Runs a replay. With `leasesEnd`, the earlier leases have expired. */
  private async retry(number: number): Promise<void> {
    const name = `retry ${number}`;
    await this.world.answer(`${name} begins`, { writes: [name] });
    const process = new Process(this, name, this.bounds.leasesEnd ? number * HOUR_MS : SECOND_MS);
    await Promise.race([process.consumer.retryParked().catch(() => undefined), process.hasEnded]);
    this.removeInputs(name);
  }

  private async lastRetry(turn: number): Promise<number> {
    const { consumer } = new Process(this, `last retry ${turn}`, (10 + turn) * HOUR_MS);
    const { stillParked } = await this.world.until(consumer.retryParked());
    return stillParked;
  }

  /** Checks an acknowledged batch: all records except the poison records have taken effect. */
  private checkOthers(texts: readonly string[]): void {
    if (this.bounds.faults > 0) return;
    const { poison = [] } = this.bounds;
    const free = texts.filter((text) => !poison.some((each) => each[0] === text[0]));
    promise(
      free.every((text) => this.effectsOf(text[0]!).includes(text)),
      'a key does not wait for another key',
    );
  }

  private check(written: readonly string[]): void {
    promise(this.broken === undefined, this.broken ?? '');
    for (const key of new Set(written.map((text) => text[0]!))) {
      const texts = this.effectsOf(key);
      const expected = [...new Set(written.filter((text) => text[0] === key))];
      promise(new Set(texts).size === texts.length, 'no record takes effect twice');
      promise(
        expected.every((text) => texts.includes(text)),
        'no record is lost',
      );
      promise(texts.join() === expected.join(), 'each key is in order');
    }
  }

  private effectsOf(key: string): string[] {
    return this.effects.get(key) ?? [];
  }

  /** Like a transaction with the `once` of a handler: stores the effect and the number of the record together, or neither. */
  apply(key: string, { series, number }: SequencePosition, text: string): void {
    const name = `${key} ${series}`;
    if (number <= (this.done.get(name) ?? '')) throw new RecordDoneError();
    this.done.set(name, number);
    this.effects.set(key, [...this.effectsOf(key), text]);
  }

  isPoison(text: string): boolean {
    return this.poison.has(text);
  }

  goesWrong(kind: ConsumerFault, where: string): boolean {
    if (this.isCalm || !(this.bounds.kinds ?? []).includes(kind)) return false;
    return this.faults.choose(`${where}: ${kind}`);
  }

  /** Offers a fault that can happen at any moment until it is withdrawn. */
  private offerFault(kind: ConsumerFault, where: string, happen: () => void): () => void {
    if (!(this.bounds.kinds ?? []).includes(kind)) return () => {};
    return this.faults.offer(`${where}: ${kind}`, { writes: ['*'] }, happen);
  }

  nameOfNext(): string {
    this.processes += 1;
    return `process ${this.processes}`;
  }

  async call(process: Process, method: keyof ParkingTableClient, input: never): Promise<unknown> {
    this.names.see(process.name, input);
    const reads = ['getItem', 'batchGetItem', 'query'].includes(method);
    const places = this.placesOf(input);
    const where = await process.step(method, reads ? { reads: places } : { writes: places });
    try {
      if (this.goesWrong('a request fails', where)) throw new Error('refused');
      const answer: unknown = this.table[method](input);
      if (this.goesWrong('a response is lost', where)) throw new Error('no response');
      await process.mayEnd(where);
      this.addInput(process.name, where, this.inOrder(answer));
      return answer;
    } catch (error) {
      this.addInput(process.name, where, error);
      throw error;
    }
  }

  /** Returns the data that a request reads or writes: the marks, a key, or the rows of a key. A query for keys can find any key. */
  private placesOf(input: Record<string, ParkingItem>): string[] {
    const { Key, Item, RequestItems, ExpressionAttributeValues, KeyConditionExpression } = input;
    const writes = (input.TransactItems as unknown as { Put?: ParkingItem; Update?: ParkingItem }[]) ?? [];
    const queried = KeyConditionExpression && { id: Object.values(ExpressionAttributeValues!)[0] };
    const written = writes.map(({ Put, Update }) => Put?.Item ?? Update!.Key);
    const items = [Key, Item, ...(RequestItems?.Parked.Keys ?? []), ...written, queried];
    const places = items.flatMap((item) => {
      if (item?.id?.S === undefined) return [];
      const [, kind, id] = JSON.parse(item.id.S);
      if (kind !== 'keys') return [this.names.in([kind, id].join(' '))];
      return (item.part === undefined ? this.keys : [item.part.S]).map((key) => `key ${key}`);
    });
    return [...new Set(places)];
  }

  private get keys(): string[] {
    const { before = [], records, behindSplit = [] } = this.bounds;
    return [...new Set([...before, ...records, ...behindSplit].map((text) => text[0]!))];
  }

  /** Sorts items whose order depends on random names. */
  private inOrder(answer: unknown): unknown {
    const { Items } = Object(answer);
    return Array.isArray(Items) ? Items.map((item) => this.textOf(item)).sort() : answer;
  }

  offer(name: string, happen: () => void): () => void {
    return this.world.offer(name, { writes: ['*'] }, happen);
  }

  answer(name: string, footprint: { reads?: string[]; writes: string[] }): Promise<void> {
    return this.world.answer(name, footprint);
  }
}

/** A process of the consumer. Every await is a step. */
class Process {
  readonly name: string;
  readonly consumer: OrderedConsumer;
  readonly hasEnded: Promise<undefined>;
  private end!: () => void;
  private isEnded = false;
  private steps = 0;
  private elapsedMs = 0;
  private readonly running = new Set<string>();
  /** The timeouts of the current attempts. */
  private readonly timers = new Set<() => void>();

  constructor(
    private readonly play: Play,
    name: string,
    /** Each process has its own time, so that a process affects another process only through the table. */
    timeOfDay = 0,
  ) {
    this.name = name;
    this.hasEnded = new Promise((resolve) => {
      this.end = () => {
        this.isEnded = true;
        resolve(undefined);
      };
    });
    const client = Object.fromEntries(
      PARKING_METHODS.map((method) => [method, (input: never) => play.call(this, method, input)]),
    ) as unknown as ParkingTableClient;
    const parking = new DynamoDbParkingStore(client, { tableName: 'Parked', consumer: 'c' });
    parking.onceItem = (_: string, position: SequencePosition) => ({ position }) as never;
    this.consumer = new OrderedConsumer(
      async (record, { once }) => {
        const text = textOf(record);
        if (this.running.has(text)) play.broken = 'no two attempts of a record run at the same time';
        this.running.add(text);
        await this.handle(record.partitionKey, text, once<{ position?: SequencePosition }>([])[0]!.position!);
      },
      {
        parking,
        ...{ clock: this.clock, random: () => 0.5, timeOfDay: () => timeOfDay },
        ...{ attempts: 2, concurrency: 2, retryMs: 1, maxTries: 1_000, maxAgeMs: Number.MAX_SAFE_INTEGER },
        attemptTimeoutMs: LONG_MS,
      },
    );
  }

  /** Takes a step. Returns the name of the step. */
  async step(what: string, { reads, writes = [] }: { reads?: string[]; writes?: string[] }): Promise<string> {
    this.steps += 1;
    const where = `${this.name} ${what} ${this.steps}`;
    await this.play.answer(where, { ...(reads && { reads }), writes: [this.name, ...writes] });
    if (this.isEnded) await new Promise(() => {});
    return where;
  }

  /** Between two batches, the state of the process is only its handled positions, unless a handler is still running. */
  rest(): void {
    if (this.running.size > 0) return;
    this.steps = 0;
    this.play.removeInputs(this.name);
    this.play.addInput(this.name, this.handledPositions());
  }

  private handledPositions(): unknown {
    const { state } = Object(this.consumer) as { state: { handled: { keys: Iterable<unknown> } } };
    return JSON.parse(JSON.stringify([...state.handled.keys]));
  }

  async mayEnd(where: string): Promise<void> {
    if (this.play.goesWrong('a process ends', where)) this.end();
    if (this.isEnded) this.play.removeInputs(this.name);
    if (this.isEnded) await new Promise(() => {});
  }

  private async handle(key: string, text: string, position: SequencePosition): Promise<void> {
    const where = await this.step(`handles ${text}`, { reads: ['cause'], writes: [`effects ${key}`] });
    try {
      if (this.play.goesWrong('a handler does not end', where)) await this.hang(where);
      if (this.play.isPoison(text) || this.play.goesWrong('a handler fails', where)) throw new Error('poison');
      this.play.apply(key, position, text);
      await this.mayEnd(where);
      if (this.play.goesWrong('a handler fails after its effect', where)) throw new Error('after its effect');
      this.play.addInput(this.name, where);
    } catch (error) {
      this.play.addInput(this.name, where, error);
      throw error;
    } finally {
      this.running.delete(text);
    }
  }

  /** A handler that runs until its attempt has timed out. It ignores its abort signal, and its effect can be late. */
  private async hang(where: string): Promise<void> {
    this.play.addInput(this.name, where, 'hangs');
    const goesOn = this.play.answer(`${where} goes on`, { writes: ['*'] });
    this.play.offer(`${where} takes too long`, () => {
      this.elapsedMs += LONG_MS;
      this.play.addInput(this.name, where, 'takes too long');
      for (const fire of [...this.timers]) fire();
    });
    await goesOn;
    this.play.addInput(this.name, where, 'goes on');
  }

  /** Short timers fire immediately. Long timers fire when a handler takes too long. */
  private get clock(): Clock {
    const schedule = (callback: () => void, delayMs: number): (() => void) => {
      let isCancelled = false;
      const fire = (): void => {
        this.timers.delete(fire);
        if (!isCancelled) callback();
      };
      if (delayMs >= LONG_MS) this.timers.add(fire);
      else queueMicrotask(fire);
      return () => {
        isCancelled = true;
        this.timers.delete(fire);
      };
    };
    return {
      now: () => this.elapsedMs,
      schedule,
      sleep: (delayMs) => new Promise((resolve) => void schedule(resolve, delayMs)),
    };
  }
}

/** A UUID, the revision of a write in the name of an item, or a mark. */
const RANDOM =
  /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|(?<=\d{12}\/)[\w-]{12}|(?<="S":")[\w-]{8}(?=")|t[\w-]{8}\.\d+/g;

/**
 * Replaces random names, which differ between runs, by the process that created them: revisions of keys, ids of rows and writes,
 * and marks.
 */
class NamesOfRandoms {
  private readonly names = new Map<string, string>();
  private readonly made = new Map<string, number>();

  /** Registers the random names of a process, which first appear in its writes. */
  see(process: string, input: unknown): void {
    for (const [random] of stateText(input).matchAll(RANDOM)) {
      if (this.names.has(random)) continue;
      const made = (this.made.get(process) ?? 0) + 1;
      this.made.set(process, made);
      this.names.set(random, `${process} made ${made}`);
    }
  }

  in(text: string): string {
    return text.replace(/[\w-]{8,}(?:\.\d+)?/g, (word) => this.names.get(word) ?? word);
  }
}

/** Delivers the batches of a shard like the event source of Lambda, without waits. */
function deliverAsLambda(
  shardId: string,
  records: readonly ShardRecord[],
  batchSize: number,
  deliver: (count: number) => Promise<Delivery>,
): Promise<void> {
  const worker = new EventSourceWorker(
    shardId,
    {
      ...{ batchSize, windowMs: 0, bisects: false, clock: AT_ONCE, onProblem: () => {} },
      deliver: (batch) => deliver(batch.records.length),
      onDiscard: () => promise(false, 'nothing is discarded'),
    },
    new AbortController().signal,
  );
  for (const { sequenceNumber, data } of records)
    worker.add({ SequenceNumber: sequenceNumber, PartitionKey: '', Data: data });
  worker.close();
  return worker.deliver();
}

const AT_ONCE: Clock = {
  now: () => 0,
  schedule(callback) {
    queueMicrotask(callback);
    return () => {};
  },
  sleep: () => Promise.resolve(),
};

function recordsOf(shardId: string, texts: readonly string[]): ShardRecord[] {
  return texts.map((text, index) => ({
    shardId,
    partitionKey: text[0]!,
    sequenceNumber: String(index + 1),
    data: sequenced(text),
  }));
}

/** A record with a sequence number. Its duplicates have the same number in any shard. */
function sequenced(text: string): Uint8Array {
  const builder = new AggregateBuilder({ maxBytes: 1_000 });
  const sequence = { producerId: 'p', sequenceNumber: BigInt(text.slice(1)) };
  builder.tryAdd({ partitionKey: text[0]!, data: Buffer.from(text), sequence });
  return builder.build().data;
}

function textOf({ data }: { data: Uint8Array }): string {
  return Buffer.from(data).toString();
}
