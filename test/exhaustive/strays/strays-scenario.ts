import {
  type Clock,
  type DynamoDbItem,
  findStrays,
  type ItemReshardClient,
  plainItem,
  reshardItems,
  type ShardedIndexConfig,
  StrayScanError,
  shardAttributes,
} from '../../../lib/core';
import { FakeTable } from '../../fakes/fake-table';
import type { Scenario } from '../explore';
import { Faults } from '../faults';
import { Heard, stateText } from '../heard';
import type { World } from '../world';

/** What a writer does with an item, at one moment. Its shard is right behind each put. */
export type ItemWrite = readonly [what: 'puts' | 'changes' | 'deletes', id: string];

export interface StraysBounds {
  /** The items at the beginning, each without a shard. */
  items: readonly string[];
  /** The most items of a page of the scan. */
  pageItems: number;
  /** What each writer does, one after the other. */
  writers: readonly (readonly ItemWrite[])[];
  /** How many requests fail, lose their answers, arrive late, or are the last of their process. */
  faults: number;
}

const CONFIG: ShardedIndexConfig = {
  tableName: 'Orders',
  indexName: 'byStatus',
  tableKey: ['id'],
  keyLayout: 'single-attribute',
  valueAttribute: 'status',
  shardAttribute: 'shard',
  sortKeyAttributes: [],
  shards: { default: { write: 4, read: 4 } },
  strategy: 'calculated',
};

/** A process gives items their shards, beside writers. One that ends is followed by another, from its resume point on. */
export function straysScenario(name: string, bounds: StraysBounds): Scenario {
  return { name, timerFootprint: { writes: ['process'] }, play: (world) => new Strays(world, bounds).play() };
}

class Strays {
  private readonly table: FakeTable;
  private readonly faults: Faults;
  /** What the writers have written, without shards. */
  private readonly written = new Map<string, DynamoDbItem>();
  private readonly heard = new Heard();
  /** The requests that can still arrive, by their names. */
  private readonly underWay = new Map<string, unknown>();
  private requests = 0;
  private lives = 0;
  private resumeFrom?: string;

  constructor(
    private readonly world: World,
    private readonly bounds: StraysBounds,
  ) {
    this.table = new FakeTable(CONFIG.tableKey, bounds.pageItems);
    this.faults = new Faults(world, bounds.faults);
    for (const id of bounds.items) {
      const item = { id: { S: id }, status: { S: 'new' } };
      this.written.set(id, item);
      this.table.put(item);
    }
  }

  async play(): Promise<void> {
    this.world.says(() => this.state());
    const writing = this.bounds.writers.map((writes, number) => this.write(`writer ${number + 1}`, writes));
    await this.world.until(Promise.all([this.reshard(), ...writing]));
    await this.world.untilNothingIsLeft();
    const bodies = [...this.table.items.values()].map(({ shard: _, ...body }) => JSON.stringify(body));
    const expected = [...this.written.values()].map((item) => JSON.stringify(item));
    promise(bodies.toSorted().join() === expected.toSorted().join(), 'items are what writers have made of them');
    const { strays } = await findStrays(this.table, CONFIG);
    promise(
      Object.values(strays).every((count) => count === 0),
      'no stray is left',
    );
  }

  private state(): string {
    const { table, faults, written, heard, underWay, lives, resumeFrom } = this;
    const ofTable = [[...table.items].sort(), [...written].sort()];
    return stateText([heard.all(), ofTable, [...underWay].sort(), lives, resumeFrom, faults.rest]);
  }

  private async write(name: string, writes: readonly ItemWrite[]): Promise<void> {
    for (const [index, [what, id]] of writes.entries()) {
      await this.world.answer(`${name} ${what} ${id} ${index}`, { writes: [name, `item ${id}`] });
      const key = { id: { S: id } };
      const before = this.written.get(id);
      if (what === 'deletes') {
        this.written.delete(id);
        this.table.delete(key);
      } else if (what === 'puts') {
        const item = { ...key, status: { S: `${name} ${index}` } };
        this.written.set(id, item);
        this.table.put({ ...item, ...shardOf(item) });
      } else if (before !== undefined) {
        const note = { S: `${name} ${index}` };
        this.written.set(id, { ...before, note });
        this.table.put({ ...this.table.read(key)!, note });
      }
    }
  }

  /** Until a process has come to the end of the table. */
  private async reshard(): Promise<void> {
    for (;;) {
      let end!: () => void;
      const crash = new Promise<'crash'>((resolve) => {
        end = () => resolve('crash');
      });
      const life = ++this.lives;
      this.requests = 0;
      this.heard.forget('process');
      const run = reshardItems(this.client(life, end), CONFIG, {
        clock: this.clock(life),
        random: () => 0,
        attempts: 2,
        concurrency: 2,
        ...(this.resumeFrom !== undefined && { resumeFrom: this.resumeFrom }),
        onProgress: ({ resumePoint }) => {
          if (life === this.lives) this.resumeFrom = resumePoint ?? this.resumeFrom;
        },
      }).catch((error) => {
        if (!(error instanceof StrayScanError)) throw error;
        this.resumeFrom = error.report.resumePoint;
        return 'crash' as const;
      });
      if ((await Promise.race([run, crash])) !== 'crash') return;
    }
  }

  /** What a process hears, as long as it is there. */
  private hear(life: number, what: unknown): void {
    if (life === this.lives) this.heard.hear('process', what);
  }

  private clock(life: number): Clock {
    const { clock } = this.world;
    const schedule = (callback: () => void, delayMs: number): (() => void) =>
      clock.schedule(() => {
        this.hear(life, 'time');
        callback();
      }, delayMs);
    return { now: clock.now, schedule, sleep: (delayMs) => new Promise((resolve) => schedule(resolve, delayMs)) };
  }

  private client(life: number, end: () => void): ItemReshardClient {
    const all = this.bounds.items.map((id) => `item ${id}`);
    const itemOf = ({ id }: Record<string, unknown>): string => `item ${(id as { S: string }).S}`;
    return {
      scan: (input) => this.request('scans', input, { reads: all }, () => this.table.scan(input), life, end),
      getItem: (input) =>
        this.request('looks', input, { reads: [itemOf(input.Key)] }, () => this.table.getItem(input), life, end),
      updateItem: (input) =>
        this.request('moves', input, { writes: [itemOf(input.Key)] }, () => this.table.updateItem(input), life, end),
    };
  }

  /** A request is applied at some moment, unless its process has ended before. Whoever ends hears no answer any more. */
  private request<T>(
    what: string,
    input: object,
    { reads = [], writes = [] }: { reads?: string[]; writes?: string[] },
    apply: () => Promise<T>,
    life: number,
    end: () => void,
  ): Promise<T> {
    const name = `process ${life} ${what} ${++this.requests}`;
    const footprint = { reads, writes: [...writes, 'process'] };
    if (life !== this.lives) return new Promise(() => {});
    this.underWay.set(name, input);
    return new Promise((resolve, reject) => {
      let offers: (() => void)[] = [];
      const once = (happen: () => void) => () => {
        for (const takeBack of offers) takeBack();
        this.underWay.delete(name);
        happen();
      };
      const answer = (said: T): void => {
        this.hear(life, said);
        resolve(said);
      };
      const refuse = (error: Error): void => {
        this.hear(life, error);
        reject(error);
      };
      const fail = (): void => refuse(Object.assign(new Error('no answer'), { name: 'TimeoutError' }));
      const applied = (): void => void apply().catch(() => undefined);
      const late = (): void => {
        fail();
        this.underWay.set(name, input);
        this.world.offer(`${name} late`, footprint, () => {
          this.underWay.delete(name);
          applied();
        });
      };
      offers = [
        this.world.offer(
          name,
          footprint,
          once(() => apply().then(answer, refuse)),
        ),
        this.faults.offer(`${name} in vain`, footprint, once(fail)),
        this.faults.offer(`${name} never, and ends`, footprint, once(end)),
      ];
      if (writes.length === 0) return;
      const lose = (): void => {
        applied();
        fail();
      };
      offers.push(this.faults.offer(`${name}, and the answer is lost`, footprint, once(lose)));
      offers.push(this.faults.offer(`${name}, and the request is late`, footprint, once(late)));
      const applyAndEnd = (): void => {
        applied();
        end();
      };
      offers.push(this.faults.offer(`${name}, and ends`, footprint, once(applyAndEnd)));
    });
  }
}

function shardOf(item: DynamoDbItem): DynamoDbItem {
  return { shard: { S: shardAttributes(CONFIG, plainItem(item)).shard as string } };
}

function promise(isKept: boolean, words: string): void {
  if (!isKept) throw new Error(words);
}
