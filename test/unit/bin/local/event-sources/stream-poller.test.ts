import { VirtualClock } from '../../../../../lib/testing';
import { EventSource, type MappingSettings, type WrittenShard } from '../../../../support/fakes/event-source';

/** A shard with its records: "a1" has the key "a", and "a1 at 5000" arrives after five seconds. */
function shardOf(shardId: string, texts: readonly string[], more: Partial<WrittenShard> = {}): WrittenShard {
  const records = texts.map((each, index) => {
    const [text, at = '0'] = each.split(' at ') as [string, string?];
    const sequenceNumber = String(index + 1);
    return { shardId, sequenceNumber, partitionKey: text[0]!, data: Buffer.from(text), arrivedAtMs: Number(at) };
  });
  return { shardId, parents: [], isOpen: false, records, ...more };
}

/**
 * Records each batch of a function, and the second in which the batch was invoked. The function takes one second for a
 * batch.
 */
class RecordedBatches {
  readonly clock = new VirtualClock();
  readonly batches: string[] = [];
  private readonly source: EventSource;

  constructor(shards: readonly WrittenShard[]) {
    this.source = new EventSource(
      this.clock,
      () => shards,
      async (batch) => {
        const texts = batch.map(({ data }) => String(data)).join(' ');
        this.batches.push(`${Math.floor(this.clock.now() / 1_000)}: ${texts}`);
        await this.clock.sleep(1_000);
      },
    );
  }

  get waiting(): string[] {
    return this.source.waiting.map(({ data }) => String(data));
  }

  async all(settings: MappingSettings): Promise<string[]> {
    await this.clock.runUntil(this.source.readAll(settings));
    return this.batches;
  }

  async in(seconds: number, settings: MappingSettings): Promise<string[]> {
    await this.clock.runUntil(this.source.start(settings).then(() => this.clock.sleep(1_000 * seconds)));
    this.source.stop();
    return this.batches;
  }
}

describe('the Lambda developer guide, "Using Lambda to process records from Amazon Kinesis Data Streams"', () => {
  test('a batch has records of a single shard, and the batches of a shard are processed one after the other', async () => {
    const recorded = new RecordedBatches([shardOf('one', ['a1', 'a2', 'a3']), shardOf('two', ['b1', 'b2'])]);
    expect(await recorded.all({ batchSize: 2 })).toEqual(['0: a1 a2', '0: b1 b2', '1: a3']);
  });

  test('a function is invoked as soon as there is a record, if the mapping has no batch window', async () => {
    expect(await new RecordedBatches([shardOf('one', ['a1', 'a2 at 2500'])]).all({})).toEqual(['0: a1', '3: a2']);
  });

  test('a shard without new records is polled once a second', async () => {
    expect(await new RecordedBatches([shardOf('one', ['a1 at 1', 'a2 at 900', 'a3 at 1001'])]).all({})).toEqual([
      '1: a1 a2',
      '2: a3',
    ]);
  });

  test('several batches of a shard are processed in parallel, and the batches of one key are processed one after the other', async () => {
    const recorded = new RecordedBatches([shardOf('one', ['a1', 'e1', 'a2', 'e2'])]);
    expect(await recorded.all({ workers: 2, batchSize: 1 })).toEqual(['0: a1', '0: e1', '1: a2', '1: e2']);
  });

  test('keys that have the same worker wait for each other', async () => {
    const recorded = new RecordedBatches([shardOf('one', ['a1', 'c1'])]);
    expect(await recorded.all({ workers: 2, batchSize: 1 })).toEqual(['0: a1', '1: c1']);
  });
});

describe('the Lambda developer guide, "Lambda parameters for Amazon Kinesis Data Streams event source mappings"', () => {
  const shard = () => shardOf('one', ['a1', 'a2 at 2000', 'a3 at 4500'], { isOpen: true });

  test('TRIM_HORIZON begins with the oldest record of the shard', async () => {
    expect(await new RecordedBatches([shard()]).in(9, { from: 'TRIM_HORIZON' })).toEqual(['0: a1', '2: a2', '5: a3']);
  });

  test('LATEST begins with the records that arrive after the start', async () => {
    const recorded = new RecordedBatches([shard()]);
    recorded.clock.nowMs = 3_000;
    expect(await recorded.in(6, { from: 'LATEST' })).toEqual(['5: a3']);
  });

  test('AT_TIMESTAMP begins with the first record at or after the given time', async () => {
    const recorded = new RecordedBatches([shard()]);
    recorded.clock.nowMs = 3_000;
    expect(await recorded.in(6, { from: new Date(1_500) })).toEqual(['3: a2', '5: a3']);
  });

  test('a batch window collects records for its duration, and the next window begins after the response to the batch', async () => {
    const recorded = new RecordedBatches([shardOf('one', ['a1', 'a2 at 2000', 'a3 at 5500'], { isOpen: true })]);
    expect(await recorded.in(15, { windowMs: 5_000 })).toEqual(['5: a1 a2', '11: a3']);
  });
});

describe('the Kinesis developer guide, "Strategies for resharding": a consumer reads the data of a parent shard before the data of its children', () => {
  const child = shardOf('child', ['a2'], { parents: [{ shardId: 'one' }, { shardId: 'two' }] });

  test('a shard is read after all records of its parent shards are done', async () => {
    const recorded = new RecordedBatches([child, shardOf('one', ['a1']), shardOf('two', ['b1', 'b2', 'b3'])]);
    expect(await recorded.all({ batchSize: 1 })).toEqual([
      '0: a1',
      '0: b1',
      '1: b2',
      '2: b3',
      expect.stringMatching(/: a2$/),
    ]);
  });

  test('the records of a shard count as waiting while its parent shards are not done', async () => {
    const recorded = new RecordedBatches([shardOf('one', ['a1', 'a2', 'b3']), shardOf('two', ['b1']), child]);
    expect(await recorded.in(1.5, { batchSize: 1 })).toEqual(['0: a1', '0: b1', '1: a2']);
    expect(recorded.waiting.sort()).toEqual(['a2', 'a2', 'b3']);
  });

  test('a shard does not wait for a parent shard that the stream no longer has', async () => {
    expect(await new RecordedBatches([child]).all({})).toEqual(['0: a2']);
  });

  test('a child shard that appears after the start is read from its first record, for any starting position', async () => {
    const shards = [shardOf('one', ['a1'], { isOpen: true })];
    const recorded = new RecordedBatches(shards);
    recorded.clock.nowMs = 2_000;
    recorded.clock.schedule(() => shards.splice(0, 1, { ...shards[0]!, isOpen: false }, child), 1_500);
    expect(await recorded.in(9, { from: 'LATEST' })).toEqual([expect.stringMatching(/: a2$/)]);
  });
});
