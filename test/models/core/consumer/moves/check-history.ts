import { deaggregate } from '../../../../../lib/core';
import type { FakeShard, StoredRecord } from '../../../../../lib/testing/fake-shard';
import { seededRandom } from '../../../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../../../lib/testing/virtual-clock';
import { ConsumerFleet, type FleetOptions } from './consumer-fleet';
import { type MovedStream, movedStream } from './moved-stream';

/** How often each event happened in a history. */
export interface HistoryFacts {
  records: number;
  crashes: number;
  letGo: number;
  parked: number;
  /** The number of rejected records that the stream has stored. */
  rejectedAndStored: number;
}

/** Runs one random history of moves, crashes, restarts and replays. Throws if the consumer breaks a promise. */
export async function checkHistory(seed: number): Promise<HistoryFacts> {
  const stream = await movedStream(seed);
  const random = seededRandom(~seed);
  const among = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const clock = new VirtualClock();
  const processes = among([1, 1, 2, 3]);
  const poison = new Set(random() < 0.2 ? [...stream.put.values()].flatMap((texts) => texts.slice(2, 3)) : []);
  const expired = random() < 0.15 ? expiredRecords(stream, random) : new Set<StoredRecord>();
  const options: FleetOptions = {
    clock,
    random,
    processes,
    crashes: among([0, 0.02, 0.1]),
    replays: among([0, 0.2]),
    largestBatch: among([1, 5, 100, 100]),
    isPoison: (text) => poison.has(text),
  };
  const fleet = new ConsumerFleet(options);
  const recordsOf = ({ records }: FakeShard) => records.filter((record) => !expired.has(record));

  await clock.runUntil(fleet.read(stream.shards, recordsOf));
  await clock.runUntil(fleet.heal());
  checkEffects(stream, fleet, expired);
  // A second read of all shards must not change any effect.
  if (random() < 0.3) {
    await clock.runUntil(fleet.read(stream.shards, recordsOf));
    checkEffects(stream, fleet, expired);
  }
  const records = [...stream.put.values()].reduce((sum, texts) => sum + texts.length, 0);
  const stored = new Set(stream.shards.flatMap((shard) => [...textsOf(shard.records)]));
  const rejectedAndStored = [...stream.rejected].filter((text) => stored.has(text)).length;
  return { records, crashes: fleet.crashed, letGo: fleet.letGo, parked: fleet.parked, rejectedAndStored };
}

/** Returns the first records of a shard. The test treats these records as expired. */
function expiredRecords({ shards }: MovedStream, random: () => number): Set<StoredRecord> {
  const { records } = shards[Math.floor(random() * shards.length)]!;
  return new Set(records.slice(0, Math.floor(random() * (records.length + 1))));
}

function checkEffects(stream: MovedStream, fleet: ConsumerFleet, expired: ReadonlySet<StoredRecord>): void {
  // If the first duplicate of a record has expired, the stream may still have a late duplicate, behind later records of the key.
  const perhapsLate = textsOf([...expired]);
  const readable = textsOf(stream.shards.flatMap(({ records }) => records.filter((record) => !expired.has(record))));
  for (const [partitionKey, put] of stream.put) {
    const applied = fleet.applied(partitionKey);
    const once = [...new Set(applied.map(({ text }) => text))];
    const acknowledged = put.filter((text) => !stream.rejected.has(text));
    const lost = acknowledged.filter((text) => readable.has(text) && !perhapsLate.has(text) && !once.includes(text));
    equal(`${partitionKey} lost`, lost, []);
    equal(
      `${partitionKey} invented`,
      once.filter((text) => !readable.has(text) || !put.includes(text)),
      [],
    );
    const twice = applied.filter(({ text }, index) => applied.findIndex((other) => other.text === text) !== index);
    const mayComeTwice = ({ text }: { text: string }) => stream.numberedBy === 'nobody' || stream.putAgain.has(text);
    equal(
      `${partitionKey} twice`,
      twice.filter((each) => !mayComeTwice(each)).map(({ text }) => text),
      [],
    );
    if (expired.size > 0) continue;
    if (stream.move === 'handOver') {
      const inOrder = once.filter((text) => !stream.unfenced.has(text));
      equal(
        `${partitionKey} out of order`,
        inOrder,
        put.filter((text) => inOrder.includes(text)),
      );
    }
    // A move without fences keeps the order only of the records that have the same producer and the same hash key.
    if (stream.numberedBy === 'nobody') continue;
    for (const series of new Set(applied.map((record) => record.series))) {
      const numbers = applied.filter((record) => record.series === series).map(({ text }) => Number(text.slice(1)));
      equal(
        `${partitionKey} out of order in ${series}`,
        numbers,
        numbers.toSorted((a, b) => a - b),
      );
    }
  }
  if (expired.size === 0) equal('moves let go', fleet.letGo, 0);
}

function textsOf(records: readonly StoredRecord[]): Set<string> {
  return new Set(records.flatMap((record) => deaggregate(record)).map(({ data }) => Buffer.from(data).toString()));
}

function equal(what: string, actual: unknown, expected: unknown): void {
  const [is, shouldBe] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (is !== shouldBe) throw new Error(`${what}: ${is}, should be ${shouldBe}`);
}
