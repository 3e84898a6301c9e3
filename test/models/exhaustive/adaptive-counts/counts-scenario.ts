import {
  AdaptiveIndex,
  decreaseShardCount,
  endDrain,
  type GrownCount,
  InvalidShardCountError,
  increaseShardCount,
  ShardCountChangedError,
  type ShardCountReader,
  type ShardCountStore,
  ShardCountsUnavailableError,
} from '../../../../lib/core';
import { adaptiveConfig } from '../../../support/fakes/adaptive-config';
import { FakeCountTable } from '../../../support/fakes/fake-count-table';
import type { Scenario } from '../explore';
import { Faults } from '../faults';
import { ProcessInputs, stateText } from '../process-inputs';
import type { Footprint, World } from '../world';

interface CountsBounds {
  /** The number of readers. The number of writers is the same. */
  applications: 1 | 2;
  /** The number of pages that each reader reads. */
  pages: number;
  /** The number of items that each writer writes. */
  items: number;
  /** The number of processes that increase the count to 2, one after another. */
  raisers: number;
  /**
   * For each of these counts, another process decreases the count to it, writes the items again and ends the drain. The initial
   * count is one higher than the largest of these counts. @default none
   */
  lowerTo?: readonly number[];
  /**
   * The maximum number of faults in a run: a write of a count fails, its response is lost, or a process that increases the count
   * crashes.
   */
  faults: number;
}

const VALUE = 'open';

/** A write arrives within this time or never. */
const LONGEST_WRITE_MS = 1_000;

/** Readers and writers have copies of the counts while processes change the counts. */
export function countsScenario(name: string, bounds: CountsBounds): Scenario {
  return { name, play: (world) => new Counts(world, bounds).play() };
}

class Counts {
  private readonly table = new FakeCountTable();
  private readonly faults: Faults;
  /** The number of shards up to the last shard with an item. */
  private occupied = 0;
  private readonly inputs = new ProcessInputs();

  constructor(
    private readonly world: World,
    private readonly bounds: CountsBounds,
  ) {
    this.faults = new Faults(world, bounds.faults);
  }

  async play(): Promise<void> {
    const { lowerTo = [] } = this.bounds;
    if (lowerTo.length > 0) {
      const first = Math.max(...lowerTo) + 1;
      const count = { value: VALUE, write: first, read: first, version: 1, commit: 'first', reason: 'to see' };
      await this.table.store().writeCount({ ...count, changedBy: 'nobody', changedAt: new Date(0).toISOString() }, 0);
      this.occupied = first;
    }
    this.world.setState(() => this.state());
    const numbers = [1, 2].slice(0, this.bounds.applications);
    await this.world.until(
      Promise.all([
        ...numbers.map((number) => this.read(`reader ${number}`)),
        ...numbers.map((number) => this.write(`writer ${number}`)),
        this.raise(),
        ...lowerTo.map((to) => this.lower(to)),
      ]),
    );
  }

  private state(): string {
    const { count, occupied, inputs, faults } = this;
    return stateText([count, occupied, inputs.all(), faults.rest]);
  }

  /** The counts of the value in the table. The id and the time of the commit are left out, because they follow from the version. */
  private get count(): unknown {
    const { version, write, read } = this.table.of(VALUE) ?? {};
    return [version, write, read];
  }

  /** Records an input of a process and its time. */
  private addInput(name: string, what: unknown): void {
    this.inputs.add(name, this.world.clock.now(), what);
  }

  private async read(name: string): Promise<void> {
    const index = this.application(name);
    for (let page = 1; page <= this.bounds.pages; page++) {
      // A page must query every shard that has an item at the start of the page.
      await this.world.answer(`${name} wants page ${page}`, { reads: ['items'], writes: [name] });
      this.addInput(name, page);
      const config = await index.forReading().catch((error) => {
        if (error instanceof ShardCountsUnavailableError) return undefined;
        throw error;
      });
      const { read } = config?.shards.byValue?.[VALUE] ?? { read: 1 };
      if (config !== undefined && read < this.occupied)
        throw new Error('a reader queries every shard that holds an item');
    }
    this.inputs.remove(name);
  }

  private async write(name: string): Promise<void> {
    const index = this.application(name);
    for (let item = 1; item <= this.bounds.items; item++) {
      await this.world.answer(`${name} wants to write item ${item}`, { writes: [name] });
      this.addInput(name, item);
      const tooLateAtMs = this.world.clock.now() + LONGEST_WRITE_MS;
      const { shards } = await index.forWriting();
      const { write } = shards.byValue?.[VALUE] ?? shards.default;
      await this.arrival(`item ${item} of ${name}`, { writes: [name, 'items'] }, tooLateAtMs, () => {
        this.occupied = Math.max(this.occupied, write);
      });
    }
    this.inputs.remove(name);
  }

  /**
   * A write arrives within `LONGEST_WRITE_MS` or never. Without drains, a write can take any time, because only drains depend on
   * this limit.
   */
  private arrival(name: string, footprint: Footprint, tooLateAtMs: number, arrive: () => void): Promise<void> {
    const { world, bounds } = this;
    return new Promise((resolve) => {
      const takeBack = world.offer(`${name} arrives`, footprint, () => {
        cancel();
        arrive();
        resolve();
      });
      const neverArrives = (): void => {
        takeBack();
        resolve();
      };
      const inMs = Math.max(0, tooLateAtMs - world.clock.now());
      const cancel = bounds.lowerTo ? world.clock.schedule(neverArrives, inMs) : () => {};
    });
  }

  private async raise(): Promise<void> {
    for (let raiser = 1; raiser <= this.bounds.raisers; raiser++) {
      let end = (): void => {};
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      const store = this.store(`raiser ${raiser}`, end);
      const change = { value: VALUE, to: 2, reason: 'to see', changedBy: `raiser ${raiser}` };
      const changed = increaseShardCount(adaptiveConfig, store, change, { clock: this.world.clock });
      await Promise.race([changed.then(undefined, ignoreExpected), ended]);
      this.inputs.remove(`raiser ${raiser}`);
    }
  }

  /** Decreases the count. Gives up if another process has changed the count. */
  private async lower(to: number): Promise<void> {
    const name = `lowerer to ${to}`;
    const store = this.store(name, () => {});
    const change = { value: VALUE, reason: 'to see', changedBy: name };
    const wait = { clock: this.world.clock, longestWriteMs: LONGEST_WRITE_MS };
    try {
      const { version, write } = await decreaseShardCount(adaptiveConfig, store, { ...change, to }, wait);
      await this.world.answer(`${name} has written the items again`, { writes: [name, 'items'] });
      this.addInput(name, 'written again');
      // If another process has increased the count in the meantime, the items are written with the higher count.
      if (this.table.of(VALUE)!.write <= write) this.occupied = Math.min(this.occupied, write);
      await endDrain(adaptiveConfig, store, { ...change, version });
    } catch (error) {
      ignoreExpected(error as Error);
    }
    this.inputs.remove(name);
  }

  private application(name: string): AdaptiveIndex {
    const reader: ShardCountReader = {
      readCounts: () => this.request(`${name} reads the counts`, name, () => this.table.store().readCounts()),
    };
    // A response comes at any moment, without a timeout.
    const clock = { ...this.world.clock, schedule: () => () => {} };
    return new AdaptiveIndex(adaptiveConfig, reader, { clock, timeOfDay: () => 0, random: () => 0 });
  }

  private store(name: string, end: () => void): ShardCountStore {
    const store = this.table.store();
    return {
      readCounts: () => this.request(`${name} reads the counts`, name, () => store.readCounts()),
      readCount: (value) => this.request(`${name} reads the count`, name, () => store.readCount(value)),
      writeCount: (count, expected) => this.change(name, count, () => store.writeCount(count, expected), end),
    };
  }

  private async request<T>(what: string, name: string, apply: () => Promise<T>): Promise<T> {
    await this.world.answer(what, { reads: ['counts', 'items'], writes: [name] });
    this.addInput(name, this.count);
    return apply();
  }

  private change(
    name: string,
    { read, write }: GrownCount,
    apply: () => Promise<boolean>,
    end: () => void,
  ): Promise<boolean> {
    const what = `${name} writes ${write}/${read}`;
    const footprint = { writes: ['counts', name] };
    return new Promise((resolve, reject) => {
      let offers: (() => void)[] = [];
      const once = (happen: () => void) => () => {
        for (const takeBack of offers) takeBack();
        happen();
      };
      const fail = (): void => reject(new Error('scripted'));
      const answer = (response: boolean): void => {
        this.addInput(name, response);
        resolve(response);
      };
      offers = [
        this.world.offer(
          what,
          footprint,
          once(() => void apply().then(answer, reject)),
        ),
        this.faults.offer(`${what}, and fails`, footprint, once(fail)),
        this.faults.offer(
          `${what}, and its response is lost`,
          footprint,
          once(() => void apply().then(fail)),
        ),
        this.faults.offer(
          `${what}, and ends`,
          footprint,
          once(() => void apply().then(end)),
        ),
      ];
    });
  }
}

function ignoreExpected(error: Error): void {
  // Another process has already decreased the count further, or has changed the count.
  const isLate = error instanceof InvalidShardCountError || error instanceof ShardCountChangedError;
  if (error.message !== 'scripted' && !isLate) throw error;
}
