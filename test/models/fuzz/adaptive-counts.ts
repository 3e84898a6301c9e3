import {
  AdaptiveIndex,
  type CountPutItemInput,
  DynamoDbShardCountReader,
  DynamoDbShardCountStore,
  decreaseShardCount,
  endDrain,
  type GrownCount,
  type IndexQueryInput,
  type IndexQueryOutput,
  increaseShardCount,
  type ShardedIndexConfig,
} from '../../../lib/core';
import { INDEX } from '../../../lib/core/contract/function-environment';
import { MAX_INDEX_SHARDS } from '../../../lib/core/sharding/shard-count';
import { VirtualClock } from '../../../lib/testing/virtual-clock';
import { adaptiveConfig } from '../../support/fakes/adaptive-config';
import { CANARY, type Dice, hostileValue, mutated, mutatedJson } from '../../support/random-json';
import { CountTable } from './count-table';
import { startFunction } from './functions';
import type { FuzzCase } from './fuzz-case';
import type { FuzzTarget } from './fuzz-target';
import { checkInvocation, typed } from './oracle';

/**
 * The fuzz targets for adaptive counts: the table of counts (which can be damaged), and processes that change counts.
 */
export const ADAPTIVE_TARGETS: readonly FuzzTarget[] = [
  { name: 'shard counts', play: counts },
  { name: 'controller of shard counts', play: controller },
];

const VALUES = ['open', 'shipped', '__proto__', `${CANARY} value`];
const MINUTE_MS = 60_000;

/** A case waits at most this time for a controller, and not the 45 seconds that an increase takes. */
const WATCHES_MS = 2_000;

/** An item in the format of the store. */
function countItem(value: string, write: number, read: number) {
  return {
    index: { S: 'orders/byStatus' },
    value: { S: `=${value}` },
    write: { N: String(write) },
    read: { N: String(read) },
    version: { N: '3' },
    commit: { S: 'c' },
    changedBy: { S: 'somebody' },
    changedAt: { S: '2026-11-21T12:00:00.000Z' },
    reason: { S: CANARY },
  };
}

function fillCounts(table: CountTable, dice: Dice): { isDamaged: boolean } {
  const isDamaged = dice.chance(0.5);
  for (const value of VALUES.filter(() => dice.chance(0.5))) {
    const write = 1 + dice.below(8);
    const item = countItem(value, write, write + dice.below(4));
    table.items.push(isDamaged && dice.chance(0.5) ? withDamage(item, dice) : item);
  }
  return { isDamaged };
}

/** Returns the item with a damaged value of one attribute. The key stays the same, so that readers find the item. */
function withDamage(item: ReturnType<typeof countItem>, dice: Dice): ReturnType<typeof countItem> {
  const { index, value, ...rest } = item;
  const damaged = Object(flatMutated(rest, dice)) as typeof rest;
  return { ...damaged, index, value: dice.chance(0.8) ? value : { S: dice.pick(['', '*', 'open', '=']) } };
}

/** Returns a mutation that DynamoDB can store, because it has no deep nesting. */
function flatMutated<T>(json: T, dice: Dice): unknown {
  const changed = mutated(json, dice);
  try {
    JSON.stringify(changed);
    return changed;
  } catch {
    return json;
  }
}

/** How a request to the table ends. */
type TableFate = 'honest' | 'failed' | 'applied, answer lost' | 'silence' | 'lie';

interface TableFates {
  next(): TableFate;
  readonly met: TableFate[];
}

function tableFates(dice: Dice): TableFates {
  const met: TableFate[] = [];
  const rate = dice.pick([0, 0, 0.1, 0.5, 1]);
  const hostile: TableFate[] = [
    'failed',
    'applied, answer lost',
    'silence',
    ...(dice.chance(0.5) ? ['lie' as const] : []),
  ];
  const next = () => {
    const fate = dice.chance(rate) ? dice.pick(hostile) : 'honest';
    met.push(fate);
    return fate;
  };
  return { next, met };
}

/** An SDK client with a timeout. */
function clientOf(table: CountTable, fates: TableFates, dice: Dice, clock: VirtualClock) {
  const send = async <T extends object>(apply: () => T): Promise<T> => {
    const fate = fates.next();
    if (fate === 'failed') throw serviceError('InternalServerError');
    if (fate === 'lie') return Object(mutated(apply(), dice)) as T;
    const answer = apply();
    if (fate === 'silence') await clock.sleep(12_000);
    if (fate !== 'honest') throw serviceError('TimeoutError');
    return answer;
  };
  return {
    query: async (input: IndexQueryInput): Promise<IndexQueryOutput> =>
      (await send(() => ({
        ...table.query(input as never),
        ...(dice.chance(0.02) && fates.met.includes('lie') && { LastEvaluatedKey: { index: { S: CANARY } } }),
      }))) as IndexQueryOutput,
    putItem: (input: CountPutItemInput) => send(() => table.putItem(input as never)),
  };
}

function serviceError(name: string): Error {
  return Object.assign(new Error(CANARY), { name, code: 'OF_THE_SERVICE' });
}

async function counts({ dice }: FuzzCase): Promise<void> {
  const table = new CountTable();
  const { isDamaged } = fillCounts(table, dice);
  const before = structuredClone(table.items);
  const fates = tableFates(dice);
  const clock = new VirtualClock();
  const client = clientOf(table, fates, dice, clock);
  const wrongConfig = dice.chance(0.2);
  const config = wrongConfig ? (mutated(adaptiveConfig, dice) as ShardedIndexConfig) : adaptiveConfig;
  const options = { clock, timeOfDay: () => clock.nowMs, random: dice.random, onUnavailable: () => {} };
  const index = await typed(() => new AdaptiveIndex(config, new DynamoDbShardCountReader(client, config), options));
  if (index === undefined) {
    if (wrongConfig) return;
    throw new Error('the library rejected a valid configuration');
  }
  const isTrue = !isDamaged && !wrongConfig && !fates.met.includes('lie');
  for (let look = 0; look < 2; look++) {
    const reading = await clock.runUntil(typed(() => index.forReading()));
    const writing = await clock.runUntil(index.forWriting());
    for (const each of [reading, writing]) if (each !== undefined) checkCounts(each);
    if (isTrue && reading !== undefined && !fates.met.includes('lie')) checkGrown(reading, before);
    clock.nowMs += dice.pick([0, 5_000, 15_000, 40_000]);
  }
  if (wrongConfig) return;
  const stored = await change(new DynamoDbShardCountStore(client, config), config, dice, clock);
  if (stored !== undefined && !isDamaged && !fates.met.includes('lie')) checkChanged(table, stored);
  if (!isDamaged && !fates.met.includes('lie')) for (const item of table.items) checkStored(item);
}

/** Changes a count. Returns the count that the change reports as stored. */
async function change(
  store: DynamoDbShardCountStore,
  config: ShardedIndexConfig,
  dice: Dice,
  clock: VirtualClock,
): Promise<GrownCount | undefined> {
  const value = dice.pick(VALUES);
  const good = { value, to: 1 + dice.below(12), reason: 'a case', changedBy: 'a case' };
  const input = (dice.chance(0.3) ? mutated(good, dice) : good) as typeof good;
  const what = dice.pick(['raise', 'lower', 'end'] as const);
  return clock.runUntil(
    typed(() => {
      if (what === 'raise') return increaseShardCount(config, store, input, { clock });
      if (what === 'lower') return decreaseShardCount(config, store, input, { clock, longestWriteMs: 1_000 });
      return endDrain(config, store, { ...input, version: dice.pick([3, hostileValue(dice) as number]) });
    }),
  );
}

function checkChanged(table: CountTable, { value, write, read }: GrownCount): void {
  const item = table.items.find((each) => each.value?.S === `=${value}`);
  const [stored, reported] = [`${item?.write?.N}/${item?.read?.N}`, `${write}/${read}`];
  if (stored !== reported) throw new Error(`the stored counts must be ${reported}, got ${stored}`);
}

/** Checks that the counts are valid. */
function checkCounts({ shards }: ShardedIndexConfig): void {
  for (const { write, read } of [shards.default, ...Object.values(shards.byValue ?? {})]) {
    const isCount = (count: number) => Number.isInteger(count) && count >= 1 && count <= MAX_INDEX_SHARDS;
    if (!isCount(write) || !isCount(read) || read < write)
      throw new Error(`the counts are invalid: write ${write}, read ${read}`);
  }
}

/** For each value, checks that readers query at least as many shards as the table of counts states. */
function checkGrown({ shards }: ShardedIndexConfig, items: CountTable['items']): void {
  for (const { value, read } of items) {
    const found = new Map(Object.entries(shards.byValue ?? {})).get(value!.S!.slice(1));
    if ((found?.read ?? 0) < Number(read!.N))
      throw new Error(`readers must query ${read!.N} shards, got ${found?.read}`);
  }
}

function checkStored({ write, read, version }: CountTable['items'][number]): void {
  const isFine = Number(read?.N) >= Number(write?.N) && Number(version?.N) >= 1;
  if (!isFine)
    throw new Error(`the stored counts are invalid: write ${write?.N}, read ${read?.N}, version ${version?.N}`);
}

/** Checks that readers query at least as many shards as before, and that writers use a count only after readers. */
async function controller(fuzzCase: FuzzCase): Promise<void> {
  const { dice } = fuzzCase;
  const config: ShardedIndexConfig = { ...adaptiveConfig, adaptive: { tableName: 'counts', maximum: 16 } };
  const { aws, invoke } = await startFunction(fuzzCase, 'adaptive-shard-count-controller', {
    [INDEX]: JSON.stringify(config),
  });
  const { isDamaged } = fillCounts(aws.counts, dice);
  for (const item of reportItems(dice)) aws.counts.items.push(item as never);
  const before = new Map(aws.counts.items.map((item) => [item.value?.S, structuredClone(item)]));
  aws.drawFates(dice);
  const event = controllerEvent(dice);
  const payload = dice.chance(0.4) ? mutatedJson(event, dice) : JSON.stringify(event);
  const invocation = await Promise.race([
    invoke(payload, 60_000),
    new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), WATCHES_MS)),
  ]);
  if (invocation !== undefined) checkInvocation(invocation);
  if (aws.hasLied || isDamaged) return;
  for (const item of aws.counts.items) {
    const earlier = before.get(item.value?.S);
    if (item.write === undefined || JSON.stringify(item) === JSON.stringify(earlier)) continue;
    checkStored(item);
    if (Number(item.read?.N) < Number(earlier?.read?.N ?? 1)) throw new Error('readers query fewer shards than before');
    if (Number(item.write.N) > Number(earlier?.write?.N ?? 1)) throw new Error('writers use a count before readers');
  }
}

function controllerEvent(dice: Dice): object {
  return dice.pick<object>([
    {},
    { dryRun: true },
    { index: 'byStatus', value: dice.pick(VALUES), count: 1 + dice.below(20) },
  ]);
}

/** The reports of writers in the last minutes. */
function reportItems(dice: Dice): unknown[] {
  const index = { S: 'orders/byStatus/reports' };
  const minuteOf = (minutesAgo: number) => new Date(Date.now() - minutesAgo * MINUTE_MS).toISOString().slice(0, 16);
  const items: object[] = [];
  for (const value of VALUES) {
    for (const minutesAgo of [4, 3, 2]) {
      items.push({
        index,
        value: { S: `${minuteOf(minutesAgo)}=${value}` },
        admitted: { N: String(dice.below(200_000)) },
        throttled: { N: String(dice.below(100_000)) },
      });
    }
  }
  return items
    .filter(() => dice.chance(0.6))
    .map((item) => (dice.chance(0.2) ? { ...Object(flatMutated(item, dice)), index } : item));
}
