import {
  type IndexShards,
  planTableReshard,
  type ShardedTableConfig,
  type TableReshardStep,
  transactDelete,
  transactGet,
  transactPut,
} from '../../../lib/core';
import { calculatedShards } from '../../../lib/core/foundation/calculated-shard';
import { TransactionalTable, textOf } from '../../fakes/transactional-table';
import type { Scenario } from '../explore';
import type { World } from '../world';

export type Write = 'put' | 'put if absent' | 'delete';

export interface GrowthBounds {
  /** The shard counts before and behind the change. */
  from: number;
  to: number;
  /** Whether the item is there at the beginning. */
  isThere: boolean;
  /** What each writer does with the item, one after the other. */
  writers: readonly (readonly Write[])[];
  /** How often a reader looks for the item. */
  looks: number;
}

const INVOICE = '7';

/** The shard count of a table changes step by step, while writers and readers are in different steps. */
export function growthScenario(name: string, bounds: GrowthBounds): Scenario {
  return { name, play: (world) => new Growth(world, bounds).play() };
}

/** A writer or a reader, with the shard counts that it was given last. */
interface Process {
  readonly name: string;
  stage: number;
  /** The stage whose counts the write in flight was made with. */
  inFlight?: number;
}

class Growth {
  private readonly table: TransactionalTable;
  private readonly steps: TableReshardStep[];
  /** The counts of each stage: those of the beginning, and those of each deployment. */
  private readonly stages: ShardedTableConfig[];
  private readonly writers: Process[];
  private readonly reader: Process = { name: 'reader', stage: 0 };
  private readonly item: { invoice: string; sk: string };
  /** What the item is, if it is there. */
  private version: string | undefined;
  private onProgress = (): void => {};

  constructor(
    private readonly world: World,
    private readonly bounds: GrowthBounds,
  ) {
    const { from, to, isThere, writers } = bounds;
    const counts = { default: { write: from, read: from } };
    this.steps = planTableReshard(counts, { default: to });
    const deployed = this.steps.flatMap((step) => (step.action === 'deploy' ? [step.shards] : []));
    this.stages = [counts, ...deployed].map(configOf);
    this.writers = writers.map((_, number) => ({ name: `writer ${number + 1}`, stage: 0 }));
    this.item = { invoice: INVOICE, sk: idWithTwoPlaces(from, to) };
    this.table = new TransactionalTable(this.stages[0]!);
    if (isThere) this.apply('put', 0, 'first');
  }

  async play(): Promise<void> {
    const { writers, looks } = this.bounds;
    const writing = writers.map((writes, number) => this.write(this.writers[number]!, writes));
    await this.world.until(Promise.all([...writing, this.read(looks), this.deploy()]));
  }

  private async write(process: Process, writes: readonly Write[]): Promise<void> {
    for (const [index, write] of writes.entries()) {
      const request = `${write} ${index + 1}`;
      await this.world.answer(`${process.name} sends ${request}`, { writes: [process.name] });
      const { stage } = process;
      process.inFlight = stage;
      await this.world.answer(`${request} of ${process.name} arrives`, { writes: [process.name, 'table'] });
      process.inFlight = undefined;
      this.apply(write, stage, `${process.name} ${index}`);
      this.onProgress();
    }
  }

  private apply(write: Write, stage: number, version: string): void {
    const config = this.stages[stage]!;
    const wasThere = this.version !== undefined;
    if (write === 'delete') {
      this.table.transact(transactDelete(config, INVOICE, this.item));
      this.version = undefined;
    } else {
      const ifAbsent = write === 'put if absent';
      const isTaken = this.table.transact(transactPut(config, { ...this.item, version }, { ifAbsent }));
      promise(isTaken || wasThere, 'a conditional put of an item that is absent is taken');
      promise(!(ifAbsent && wasThere && isTaken), 'a conditional put of an item that is there is refused');
      if (isTaken) this.version = version;
    }
    const stored = this.table.all();
    promise(stored.length <= 1, 'an item is at one place at most');
    promise(stored.map(({ version: each }) => textOf(each!)).join() === (this.version ?? ''), 'the last write holds');
  }

  private async read(looks: number): Promise<void> {
    for (let look = 1; look <= looks; look++) {
      await this.world.answer(`reader looks ${look}`, { reads: ['table'], writes: [this.reader.name] });
      const keys = transactGet(this.stages[this.reader.stage]!, INVOICE, this.item).map(({ Get }) => Get.Key.pk);
      const found = this.table.all().filter(({ pk }) => keys.includes(textOf(pk!)));
      promise(found.length === (this.version === undefined ? 0 : 1), 'a reader finds an item that is there');
    }
  }

  private async deploy(): Promise<void> {
    let stage = 0;
    for (const { action } of this.steps) {
      await this.isOver(stage);
      if (action === 'move') {
        await this.world.answer('the item is put again', { writes: ['table'] });
        if (this.version !== undefined) this.apply('put', stage, this.version);
      } else {
        stage += 1;
        for (const process of [...this.writers, this.reader]) this.offer(process, stage);
      }
    }
    await this.isOver(stage);
  }

  private offer(process: Process, stage: number): void {
    this.world.offer(`${process.name} takes stage ${stage}`, { writes: [process.name] }, () => {
      process.stage = stage;
      this.onProgress();
    });
  }

  /** Resolves when every process has come to a stage, and no earlier write is in flight. */
  private isOver(stage: number): Promise<void> {
    return new Promise((resolve) => {
      this.onProgress = () => {
        const all = [...this.writers, this.reader];
        if (all.every((process) => Math.min(process.stage, process.inFlight ?? stage) >= stage)) resolve();
      };
      this.onProgress();
    });
  }
}

function configOf(shards: IndexShards): ShardedTableConfig {
  return {
    tableName: 'Invoices',
    tableKey: ['pk', 'sk'],
    keyLayout: 'single-attribute',
    valueAttribute: 'invoice',
    shardAttribute: 'pk',
    sortKeyAttributes: ['sk'],
    shardedBy: ['sk'],
    separator: '-',
    firstShard: 1,
    shards,
    strategy: 'calculated',
  };
}

/** An item that another count puts elsewhere. */
function idWithTwoPlaces(from: number, to: number): string {
  for (let number = 0; ; number++) {
    const id = `t${number}`;
    if (calculatedShards(id, Math.min(from, to), Math.max(from, to)).length > 1) return id;
  }
}

function promise(isKept: boolean, words: string): void {
  if (!isKept) throw new Error(words);
}
