import {
  type DynamoDbItem,
  findStrays,
  type ItemTransferClient,
  reshardItems,
  type ShardedTableConfig,
  shardKeys,
  type TransactWrite,
  transactDelete,
  transactPut,
} from '../../../../lib/core';
import { FakeTable, type FakeWrite } from '../../../support/fakes/fake-table';
import { typed, typedWrite } from '../../../support/fakes/text-items';
import type { Scenario } from '../explore';
import { Faults } from '../faults';
import { stateText } from '../process-inputs';
import { CrashingWalk, type Send } from '../strays/crashing-walk';
import type { World } from '../world';
import { idsWithTwoPlaces, invoiceTable } from './invoice-table';

/** A write to the first or the second item. An update adds an attribute to an item that the writer has read. */
type TableWrite = readonly [what: 'puts' | 'puts if absent' | 'updates' | 'deletes', item: 1 | 2];

export interface MoveBounds {
  /** The shard counts before and after the change. Writers use the new count. */
  from: number;
  to: number;
  /** The number of items at the beginning, each at its place for the old count. */
  items: 1 | 2;
  /** The maximum number of items in a page of the scan. */
  pageItems: number;
  /** The successive writes of each writer. */
  writers: readonly (readonly TableWrite[])[];
  /** The maximum number of requests of the process that fail, lose their responses, arrive late, or are followed by a crash. */
  faults: number;
}

const INVOICE = '7';

type Body = Record<string, string>;

/** Processes move the items of a table to their places while writers write. The processes crash at any moment. */
export function moveScenario(name: string, bounds: MoveBounds): Scenario {
  return { name, timerFootprint: { writes: ['process'] }, play: (world) => new Move(world, bounds).play() };
}

class Move {
  private readonly config: ShardedTableConfig;
  private readonly table: FakeTable;
  private readonly ids: readonly string[];
  /** The items of the writers, without their places. */
  private readonly written = new Map<string, Body>();
  private readonly walk: CrashingWalk;
  /** The item that each writer has read before its update. */
  private readonly found = new Map<string, DynamoDbItem | undefined>();

  constructor(
    private readonly world: World,
    private readonly bounds: MoveBounds,
  ) {
    const { from, to, items, pageItems, faults } = bounds;
    this.config = invoiceTable({
      default: { write: to, read: Math.max(from, to), ...(from < to && { since: from }) },
    });
    this.table = new FakeTable(this.config.tableKey, pageItems);
    this.ids = idsWithTwoPlaces(from, to, 2);
    const before = invoiceTable({ default: { write: from, read: from } });
    for (const sk of this.ids.slice(0, items)) this.write(sk, transactPut(before, this.body(sk, 'first')), 'first');
    this.walk = new CrashingWalk(world, new Faults(world, faults), (send, options) =>
      reshardItems(this.client(send), this.config, { ...options, versionAttribute: 'version' }),
    );
  }

  async play(): Promise<void> {
    const { walk, table, written, found } = this;
    this.world.setState(() => stateText([walk.state, [...table.items].sort(), [...written].sort(), [...found].sort()]));
    const writing = this.bounds.writers.map((writes, number) => this.writer(`writer ${number + 1}`, writes));
    await this.world.until(Promise.all([walk.toTheEnd(), ...writing]));
    await this.world.untilAllStepsAreTaken();
    this.check();
    const { strays } = await findStrays(table, this.config);
    promise(
      Object.values(strays).every((count) => count === 0),
      'each item is where writers put it',
    );
  }

  private async writer(name: string, writes: readonly TableWrite[]): Promise<void> {
    for (const [index, [what, number]] of writes.entries()) {
      const sk = this.ids[number - 1]!;
      const version = `${name} ${index}`;
      const step = (does: string): Promise<void> =>
        this.world.answer(`${name} ${does} item ${number} ${index}`, { writes: [name, `item ${sk}`] });
      if (what === 'updates') await this.update(name, sk, version, step);
      else {
        await step(what);
        const wasThere = this.written.has(sk);
        if (what === 'deletes') this.write(sk, transactDelete(this.config, INVOICE, { sk }), undefined);
        else {
          const ifAbsent = what === 'puts if absent';
          const isTaken = this.write(sk, transactPut(this.config, this.body(sk, version), { ifAbsent }), version);
          promise(isTaken || wasThere, 'a conditional put of an absent item succeeds');
          promise(!(ifAbsent && wasThere && isTaken), 'a conditional put of an existing item is rejected');
        }
      }
      this.check();
    }
  }

  /** Updates the item at its place. If the item has moved, the writer reads it again. */
  private async update(
    name: string,
    sk: string,
    version: string,
    step: (does: string) => Promise<void>,
  ): Promise<void> {
    for (;;) {
      await step('looks for');
      const there = this.placesOf(sk).find((key) => this.table.read(key) !== undefined);
      if (there === undefined) return;
      this.found.set(name, there);
      await step('updates');
      this.found.delete(name);
      const item = this.table.read(there);
      if (item === undefined) continue;
      const change = { version, note: version };
      this.table.put({ ...item, ...typed(change) });
      this.written.set(sk, { ...this.written.get(sk), ...change });
      return;
    }
  }

  /** Returns whether the conditions of the transaction held. */
  private write(sk: string, writes: readonly TransactWrite[], version: string | undefined): boolean {
    try {
      this.table.transact(writes.map(typedWrite));
    } catch (error) {
      if ((error as Error).name !== 'TransactionCanceledException') throw error;
      return false;
    }
    if (version === undefined) this.written.delete(sk);
    else this.written.set(sk, this.body(sk, version));
    return true;
  }

  private body(sk: string, version: string): Body {
    return { invoice: INVOICE, sk, version };
  }

  private placesOf(sk: string): DynamoDbItem[] {
    return shardKeys(this.config, INVOICE, { sk }).map(typed);
  }

  private client(send: Send): ItemTransferClient {
    const itemOf = (sk: string): string => `item ${sk}`;
    const textOf = ({ sk }: Record<string, unknown>): string => (sk as { S: string }).S;
    return {
      scan: (input) => send('scans', input, { reads: this.ids.map(itemOf) }, () => this.table.scan(input)),
      getItem: (input) => send('looks', input, { reads: [itemOf(textOf(input.Key))] }, () => this.table.getItem(input)),
      transactWriteItems: (input) => {
        const { Item } = (input.TransactItems as FakeWrite[]).find(({ Put }) => Put !== undefined)!.Put!;
        const place = itemOf(textOf(Item!));
        return send('moves', input, { writes: [place] }, () => this.table.transactWriteItems(input));
      },
    };
  }

  /** Checks the promises that hold at every moment. */
  private check(): void {
    const stored = [...this.table.items.values()];
    promise(
      new Set(stored.map(({ sk }) => (sk as { S: string }).S)).size === stored.length,
      'an item is stored at one place at most',
    );
    const bodies = stored.map(({ pk: _, ...body }) => stateText(Object.entries(body).sort()));
    const expected = [...this.written.values()].map((body) => stateText(Object.entries(typed(body)).sort()));
    promise(bodies.sort().join() === expected.sort().join(), 'each item has the state that its writers gave it');
  }
}

function promise(isKept: boolean, words: string): void {
  if (!isKept) throw new Error(words);
}
