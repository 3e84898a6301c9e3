import { type IndexReshardStep, type IndexShards, planIndexReshard, type ShardCount } from '../../../../lib/core';
import type { Scenario } from '../explore';
import { type Process, RollOut } from '../roll-out';
import type { World } from '../world';

interface CountsInStepsBounds {
  /** The shard counts of writers before and after the change. */
  from: number;
  to: number;
  /** The number of items that each of two writers writes. */
  items: number;
  /** The number of pages that the reader reads. */
  pages: number;
}

/** The shard count of an index changes in steps. Writers and readers reach each step at different times. */
export function countsInStepsScenario(name: string, bounds: CountsInStepsBounds): Scenario {
  return { name, play: (world) => new CountsInSteps(world, bounds).play() };
}

class CountsInSteps {
  private readonly steps: IndexReshardStep[];
  /** The counts of each stage: the initial counts and the counts of each deployment. */
  private readonly stages: ShardCount[];
  private readonly writers: Process[] = [1, 2].map((number) => ({ name: `writer ${number}`, stage: 0 }));
  private readonly reader: Process = { name: 'reader', stage: 0 };
  private readonly rollOut: RollOut;
  /** The number of shards up to the last shard with an item. */
  private occupied: number;

  constructor(
    private readonly world: World,
    private readonly bounds: CountsInStepsBounds,
  ) {
    const counts: IndexShards = { default: { write: bounds.from, read: bounds.from } };
    this.steps = planIndexReshard(counts, { default: bounds.to });
    const deployed = this.steps.flatMap((step) => (step.action === 'deploy' ? [step.shards] : []));
    this.stages = [counts, ...deployed].map((shards) => shards.default);
    this.occupied = bounds.from;
    this.rollOut = new RollOut(world, [...this.writers, this.reader]);
  }

  async play(): Promise<void> {
    await this.world.until(
      Promise.all([...this.writers.map((writer) => this.write(writer)), this.read(), this.deploy()]),
    );
  }

  /** Writes an item to the last shard that the writer knows. */
  private async write(writer: Process): Promise<void> {
    for (let item = 1; item <= this.bounds.items; item++) {
      await this.rollOut.write(writer, `item ${item}`, (stage) => {
        this.occupied = Math.max(this.occupied, this.stages[stage]!.write);
      });
    }
  }

  private async read(): Promise<void> {
    for (let page = 1; page <= this.bounds.pages; page++) {
      await this.world.answer(`reader begins page ${page}`, { reads: ['table'], writes: [this.reader.name] });
      const { read } = this.stages[this.reader.stage]!;
      if (read < this.occupied) throw new Error('a reader queries every shard that holds an item');
    }
  }

  private async deploy(): Promise<void> {
    let stage = 0;
    for (const { action } of this.steps) {
      if (action === 'deploy') await this.rollOut.deploy(++stage);
      else {
        await this.world.answer('the items are written again', { writes: ['table'] });
        this.occupied = Math.min(this.occupied, this.stages[stage]!.write);
      }
    }
  }
}
