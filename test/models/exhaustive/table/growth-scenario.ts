import {
  planTableReshard,
  type ShardedTableConfig,
  type TableReshardStep,
  transactDelete,
  transactGet,
  transactPut,
} from '../../../../lib/core';
import { TransactionalTable, textOf } from '../../../support/fakes/transactional-table';
import type { Scenario } from '../explore';
import { type Process, RollOut } from '../roll-out';
import type { World } from '../world';
import { idsWithTwoPlaces, invoiceTable } from './invoice-table';

type Write = 'put' | 'put if absent' | 'delete';

export interface GrowthBounds {
  /** The shard counts before and after the change. */
  from: number;
  to: number;
  /** Whether the item exists at the beginning. */
  isThere: boolean;
  /** The successive writes of each writer. */
  writers: readonly (readonly Write[])[];
  /** How often a reader reads the item. */
  looks: number;
}

const INVOICE = '7';

/** The shard count of a table changes in steps. Writers and readers reach each step at different times. */
export function growthScenario(name: string, bounds: GrowthBounds): Scenario {
  return { name, play: (world) => new Growth(world, bounds).play() };
}

class Growth {
  private readonly table: TransactionalTable;
  private readonly steps: TableReshardStep[];
  /** The counts of each stage: the initial counts and the counts of each deployment. */
  private readonly stages: ShardedTableConfig[];
  private readonly writers: Process[];
  private readonly reader: Process = { name: 'reader', stage: 0 };
  private readonly item: { invoice: string; sk: string };
  /** The current version of the item. Undefined if the item does not exist. */
  private version: string | undefined;
  private readonly rollOut: RollOut;

  constructor(
    private readonly world: World,
    private readonly bounds: GrowthBounds,
  ) {
    const { from, to, isThere, writers } = bounds;
    const counts = { default: { write: from, read: from } };
    this.steps = planTableReshard(counts, { default: to });
    const deployed = this.steps.flatMap((step) => (step.action === 'deploy' ? [step.shards] : []));
    this.stages = [counts, ...deployed].map(invoiceTable);
    this.writers = writers.map((_, number) => ({ name: `writer ${number + 1}`, stage: 0 }));
    this.item = { invoice: INVOICE, sk: idsWithTwoPlaces(from, to, 1)[0]! };
    this.rollOut = new RollOut(world, [...this.writers, this.reader]);
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
      await this.rollOut.write(process, `${write} ${index + 1}`, (stage) =>
        this.apply(write, stage, `${process.name} ${index}`),
      );
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
      promise(isTaken || wasThere, 'a conditional put of an absent item succeeds');
      promise(!(ifAbsent && wasThere && isTaken), 'a conditional put of an existing item is rejected');
      if (isTaken) this.version = version;
    }
    const stored = this.table.all();
    promise(stored.length <= 1, 'an item is stored at one place at most');
    promise(
      stored.map(({ version: each }) => textOf(each!)).join() === (this.version ?? ''),
      'the stored item is that of the last write',
    );
  }

  private async read(looks: number): Promise<void> {
    for (let look = 1; look <= looks; look++) {
      await this.world.answer(`reader looks ${look}`, { reads: ['table'], writes: [this.reader.name] });
      const keys = transactGet(this.stages[this.reader.stage]!, INVOICE, this.item).map(({ Get }) => Get.Key.pk);
      const found = this.table.all().filter(({ pk }) => keys.includes(textOf(pk!)));
      promise(found.length === (this.version === undefined ? 0 : 1), 'a reader finds the stored item');
    }
  }

  private async deploy(): Promise<void> {
    let stage = 0;
    for (const { action } of this.steps) {
      if (action === 'deploy') await this.rollOut.deploy(++stage);
      else {
        await this.world.answer('the item is put again', { writes: ['table'] });
        if (this.version !== undefined) this.apply('put', stage, this.version);
      }
    }
  }
}

function promise(isKept: boolean, words: string): void {
  if (!isKept) throw new Error(words);
}
