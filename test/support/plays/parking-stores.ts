import { createHash } from 'node:crypto';
import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import {
  DynamoDbParkingStore,
  MemoryParkingStore,
  type ParkedKey,
  type ParkedRecord,
  type ParkingStore,
} from '../../../lib/core/consumer';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { allOf } from '../all-of';
import { createKeyedTable } from '../keyed-table';

export const PARKING_TABLE = 'Parked';

export async function createParkingTable(dynamodb: DynamoDB): Promise<void> {
  await createKeyedTable(dynamodb, PARKING_TABLE, 'id', 'part');
}

export interface StoreFacts {
  appended: number;
  refused: number;
  removed: number;
  lostAnswers: number;
  largeRecords: number;
}

const LONG = `long ${'x'.repeat(600)}`;
/** A partition key that looks like the stored form of the key `LONG`. */
const HASH_OF_LONG = `sha256:${createHash('sha256').update(LONG).digest('base64url')}`;
const KEYS = ['a', 'b', LONG, HASH_OF_LONG, '', '\u{1f600}"\\', '\u0001'.repeat(400)];

/**
 * Sends the same random calls to a DynamoDB store and to a memory store. Some changes use an outdated version of the
 * parked key, some responses are lost, and some writers stop before they write the item of the key. Both stores must
 * return the same results.
 */
export async function playParkingStores(dynamodb: DynamoDB, seed: number, steps: number): Promise<StoreFacts> {
  const random = seededRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  const facts = { appended: 0, refused: 0, removed: 0, lostAnswers: 0, largeRecords: 0 };
  let fault: 'none' | 'answer lost' | 'ends before the key' = 'none';
  const client = faultyClient(dynamodb, () => fault);
  const store = new DynamoDbParkingStore(client, { tableName: PARKING_TABLE, consumer: `seed ${seed}` });
  const memory = new MemoryParkingStore();
  /** The current and earlier versions of parked keys, as each store has returned them. */
  const known: { stored: ParkedKey; kept: ParkedKey }[] = [];
  let number = 0;
  const record = (partitionKey: string): ParkedRecord => {
    number += 1;
    const isLarge = random() < 0.01;
    if (isLarge) facts.largeRecords += 1;
    const size = isLarge ? 350_000 + random() * 900_000 : random() * 200;
    const hasSequence = random() < 0.5;
    return {
      partitionKey,
      data: Buffer.alloc(size, `${number} `),
      subSequenceNumber: Math.floor(random() * 3),
      positions: [{ series: 's', number: String(number).padStart(6, '0') }],
      ...(hasSequence && {
        sequence: { producerId: 'p', sequenceNumber: BigInt(number) },
        explicitHashKey: 2n ** 127n,
      }),
    };
  };
  const newKey = (partitionKey: string): ParkedKey => ({
    ...{ partitionKey, first: 0, next: 0, parkedUpTo: {}, since: 1, tries: 0, retries: 0, dueAt: 1, dead: false },
  });
  for (let step = 0; step < steps; step++) {
    const partitionKey = pick(KEYS);
    const [stored] = await foundIn(store, [partitionKey]);
    const [kept] = await foundIn(memory, [partitionKey]);
    same(withoutPlace(stored), withoutPlace(kept));
    if (stored && kept) known.push({ stored, kept });
    const old = random() < 0.2 ? pick(known) : undefined;
    const from = old ?? { stored: stored ?? newKey(partitionKey), kept: kept ?? newKey(partitionKey) };
    const action = pick(['append', 'append', 'append', 'advance', 'advance', 'remove', 'read', 'end early'] as const);
    if (action === 'append') {
      const records = Array.from({ length: 1 + Math.floor(random() * 4) }, () => record(from.stored.partitionKey));
      const change = (key: ParkedKey): ParkedKey => ({ ...key, next: key.next + records.length, tries: step });
      fault = random() < 0.2 ? 'answer lost' : 'none';
      if (fault !== 'none') facts.lostAnswers += 1;
      const ends = [await store.save(change(from.stored), records), await memory.save(change(from.kept), records)];
      same(withoutPlace(ends[0]), withoutPlace(ends[1]));
      if (ends[0] === undefined) facts.refused += 1;
      else facts.appended += records.length;
    } else if (action === 'advance') {
      const by = Math.floor(random() * (from.stored.next - from.stored.first + 1));
      const change = (key: ParkedKey): ParkedKey => ({ ...key, first: key.first + by });
      // Only a parked key, which has a revision, can be advanced.
      if (from.stored.revision !== undefined) {
        same(withoutPlace(await store.save(change(from.stored))), withoutPlace(await memory.save(change(from.kept))));
      }
    } else if (action === 'remove' && from.stored.revision !== undefined && from.stored.first === from.stored.next) {
      fault = random() < 0.2 ? 'answer lost' : 'none';
      const isRemoved = await store.remove(from.stored);
      const expected = await memory.remove(from.kept);
      // If the response was lost, the store cannot say which process has removed the key.
      if (isRemoved !== expected) same((await foundIn(memory, [from.kept.partitionKey])).length, 0);
      if (expected) facts.removed += 1;
    } else if (action === 'end early') {
      fault = 'ends before the key';
      const change = { ...from.stored, next: from.stored.next + 1 };
      await store.save(change, [record(from.stored.partitionKey)]).catch(() => {});
    }
    fault = 'none';
    if (action === 'read' && stored && kept) {
      same(await textsOf(store.records(stored)), await textsOf(memory.records(kept)));
    }
  }
  same((await everythingIn(store)).sort(), (await everythingIn(memory)).sort());
  return facts;
}

async function foundIn(store: ParkingStore, partitionKeys: readonly string[]): Promise<ParkedKey[]> {
  return [...(await store.find(partitionKeys)).values()];
}

async function everythingIn(store: ParkingStore): Promise<string[]> {
  const all: string[] = [];
  for await (const key of store.keys()) all.push(key.partitionKey, ...(await textsOf(store.records(key))));
  return all;
}

async function textsOf(records: AsyncIterable<ParkedRecord>): Promise<string[]> {
  return (await allOf(records)).map(({ data, ...rest }) => {
    const plain = JSON.stringify(rest, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
    return `${data.length} ${Buffer.from(data).toString().slice(0, 20)} ${plain.length}`;
  });
}

function withoutPlace(key: ParkedKey | undefined): unknown {
  if (key === undefined) return undefined;
  const { storageKey: _, revision: __, ...rest } = key;
  return rest;
}

function same(actual: unknown, expected: unknown): void {
  expect(actual).toEqual(expected);
}

/**
 * A client with faults. If a response is lost, it repeats the write, as the SDK does. It also stops a writer before the
 * writer writes the item of its key.
 */
function faultyClient(dynamodb: DynamoDB, faultNow: () => string): DynamoDB {
  return new Proxy(dynamodb, {
    get(target, name: keyof DynamoDB) {
      const method = target[name];
      if (typeof method !== 'function') return method;
      // biome-ignore lint/suspicious/noExplicitAny: every method of the client
      return async (input: any) => {
        // biome-ignore lint/suspicious/noExplicitAny: every method of the client
        const send = () => (method as any).call(target, input);
        if (faultNow() === 'ends before the key' && name === 'transactWriteItems') throw new Error('ended');
        const isWrite = ['putItem', 'deleteItem', 'updateItem', 'transactWriteItems'].includes(name);
        if (faultNow() === 'answer lost' && isWrite) await send().catch(() => {});
        return send();
      };
    },
  });
}
