import {
  type DynamoDbItem,
  findStrays,
  type ItemReshardClient,
  plainItem,
  reshardItems,
  type ShardedIndexConfig,
  shardAttributes,
} from '../../../../lib/core';
import { FakeTable } from '../../../support/fakes/fake-table';
import { indexConfig } from '../../../support/index-config';
import type { Scenario } from '../explore';
import { Faults } from '../faults';
import { stateText } from '../process-inputs';
import { promise } from '../promise';
import type { World } from '../world';
import { CrashingWalk, type Send } from './crashing-walk';

/** A write to an item. A put sets the correct shard. */
type ItemWrite = readonly [what: 'puts' | 'changes' | 'deletes', id: string];

export interface StraysBounds {
  /** The items at the beginning, each without a shard. */
  items: readonly string[];
  /** The maximum number of items in a page of the scan. */
  pageItems: number;
  /** The successive writes of each writer. */
  writers: readonly (readonly ItemWrite[])[];
  /** The maximum number of requests that fail, lose their responses, arrive late, or are followed by a crash. */
  faults: number;
  /** Whether the shard count decreases once, at any moment. @default false */
  falls?: boolean;
}

const CONFIG = indexConfig({
  tableName: 'Orders',
  tableKey: ['id'],
  keyLayout: 'single-attribute',
  sortKeyAttributes: [],
  shards: { default: { write: 4, read: 4 } },
});
const LOWERED: ShardedIndexConfig = { ...CONFIG, shards: { default: { write: 2, read: 4 } } };

/** A process gives items their shards while writers write. After a crash, another process continues from the resume point. */
export function straysScenario(name: string, bounds: StraysBounds): Scenario {
  return { name, timerFootprint: { writes: ['process'] }, play: (world) => new Strays(world, bounds).play() };
}

class Strays {
  private readonly table: FakeTable;
  /** The items of the writers, without shards. */
  private readonly written = new Map<string, DynamoDbItem>();
  private readonly walk: CrashingWalk;
  /** The current counts. */
  private config = CONFIG;
  /** The moves that were in flight when the count decreased. */
  private sentBefore: readonly string[] = [];

  constructor(
    private readonly world: World,
    private readonly bounds: StraysBounds,
  ) {
    this.table = new FakeTable(CONFIG.tableKey, bounds.pageItems);
    const faults = new Faults(world, bounds.faults);
    this.walk = new CrashingWalk(world, faults, (send, options) => {
      const source = { initial: CONFIG, forReading: async () => this.config };
      return reshardItems(this.client(send), bounds.falls ? source : CONFIG, options);
    });
    for (const id of bounds.items) {
      const item = { id: { S: id }, status: { S: 'new' } };
      this.written.set(id, item);
      this.table.put(item);
    }
  }

  async play(): Promise<void> {
    const { walk, table, written } = this;
    this.world.setState(() => {
      const counts = [this.config.shards, this.sentBefore];
      return stateText([walk.state, [...table.items].sort(), [...written].sort(), counts]);
    });
    // Every page and every move reads the counts.
    const fall = (): void => {
      this.config = LOWERED;
      this.sentBefore = walk.movesInFlight;
    };
    const takeBack = this.bounds.falls
      ? this.world.offer('the count decreases', { writes: ['*'] }, fall, { isOptional: true })
      : () => {};
    const writing = this.bounds.writers.map((writes, number) => this.write(`writer ${number + 1}`, writes));
    await this.world.until(Promise.all([walk.toTheEnd().then(takeBack), ...writing]));
    // A process that decreases a count waits for earlier writes, so such a late move cannot happen. The run is not
    // checked.
    if (this.sentBefore.some((move) => walk.movesInFlight.includes(move))) return;
    await this.world.untilAllStepsAreTaken();
    const bodies = [...this.table.items.values()].map(({ shard: _, ...body }) => JSON.stringify(body));
    const expected = [...this.written.values()].map((item) => JSON.stringify(item));
    promise(
      bodies.toSorted().join() === expected.toSorted().join(),
      'each item has the state that its writers gave it',
    );
    const { strays } = await findStrays(this.table, this.config);
    promise(
      Object.values(strays).every((count) => count === 0),
      'no stray is left',
    );
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
        this.table.put({ ...item, ...shardOf(this.config, item) });
      } else if (before !== undefined) {
        const note = { S: `${name} ${index}` };
        this.written.set(id, { ...before, note });
        this.table.put({ ...this.table.read(key)!, note });
      }
    }
  }

  private client(send: Send): ItemReshardClient {
    const all = this.bounds.items.map((id) => `item ${id}`);
    const itemOf = ({ id }: Record<string, unknown>): string => `item ${(id as { S: string }).S}`;
    return {
      scan: (input) => send('scans', input, { reads: all }, () => this.table.scan(input)),
      getItem: (input) => send('looks', input, { reads: [itemOf(input.Key)] }, () => this.table.getItem(input)),
      updateItem: (input) => send('moves', input, { writes: [itemOf(input.Key)] }, () => this.table.updateItem(input)),
    };
  }
}

function shardOf(config: ShardedIndexConfig, item: DynamoDbItem): DynamoDbItem {
  return { shard: { S: shardAttributes(config, plainItem(item)).shard as string } };
}
