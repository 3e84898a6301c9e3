import { VirtualClock } from '../../../../../lib/testing';
import { EventSource, type MappingSettings, type WrittenShard } from '../../../../support/fakes/event-source';

/** A shard, and the records that come to it: "a1" has the key "a", and "a1 at 5000" comes after five seconds. */
function shardOf(shardId: string, texts: readonly string[], more: Partial<WrittenShard> = {}): WrittenShard {
  const records = texts.map((each, index) => {
    const [text, at = '0'] = each.split(' at ') as [string, string?];
    const sequenceNumber = String(index + 1);
    return { shardId, sequenceNumber, partitionKey: text[0]!, data: Buffer.from(text), arrivedAtMs: Number(at) };
  });
  return { shardId, parents: [], isOpen: false, records, ...more };
}

/** What a function hears that takes a second for a batch, with the second in which it hears it. */
class Heard {
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
  test('a batch has records of one shard, and a shard has one batch at a time', async () => {
    const heard = new Heard([shardOf('one', ['a1', 'a2', 'a3']), shardOf('two', ['b1', 'b2'])]);
    expect(await heard.all({ batchSize: 2 })).toEqual(['0: a1 a2', '0: b1 b2', '1: a3']);
  });

  test('a function is invoked as soon as there is a record, if no window is set', async () => {
    expect(await new Heard([shardOf('one', ['a1', 'a2 at 2500'])]).all({})).toEqual(['0: a1', '3: a2']);
  });

  test('a shard that is read to its end is asked once a second', async () => {
    expect(await new Heard([shardOf('one', ['a1 at 1', 'a2 at 900', 'a3 at 1001'])]).all({})).toEqual([
      '1: a1 a2',
      '2: a3',
    ]);
  });

  test('several batches of a shard are processed at once, and those of a key one after the other', async () => {
    const heard = new Heard([shardOf('one', ['a1', 'e1', 'a2', 'e2'])]);
    expect(await heard.all({ workers: 2, batchSize: 1 })).toEqual(['0: a1', '0: e1', '1: a2', '1: e2']);
  });

  test('keys that fall together wait for each other, however many batches there may be', async () => {
    const heard = new Heard([shardOf('one', ['a1', 'c1'])]);
    expect(await heard.all({ workers: 2, batchSize: 1 })).toEqual(['0: a1', '1: c1']);
  });
});

describe('the Lambda developer guide, "Lambda parameters for Amazon Kinesis Data Streams event source mappings"', () => {
  const shard = () => shardOf('one', ['a1', 'a2 at 2000', 'a3 at 4500'], { isOpen: true });

  test('TRIM_HORIZON begins with the oldest record', async () => {
    expect(await new Heard([shard()]).in(9, { from: 'TRIM_HORIZON' })).toEqual(['0: a1', '2: a2', '5: a3']);
  });

  test('LATEST begins with what comes from then on', async () => {
    const heard = new Heard([shard()]);
    heard.clock.nowMs = 3_000;
    expect(await heard.in(6, { from: 'LATEST' })).toEqual(['5: a3']);
  });

  test('AT_TIMESTAMP begins with what came at a time', async () => {
    const heard = new Heard([shard()]);
    heard.clock.nowMs = 3_000;
    expect(await heard.in(6, { from: new Date(1_500) })).toEqual(['3: a2', '5: a3']);
  });

  test('a window gathers for as long as it is set, and the next one begins when the function has answered', async () => {
    const heard = new Heard([shardOf('one', ['a1', 'a2 at 2000', 'a3 at 5500'], { isOpen: true })]);
    expect(await heard.in(15, { windowMs: 5_000 })).toEqual(['5: a1 a2', '11: a3']);
  });
});

describe('the Kinesis developer guide, "Strategies for resharding": data of a parent is read before that of its children', () => {
  const child = shardOf('child', ['a2'], { parents: [{ shardId: 'one' }, { shardId: 'two' }] });

  test('a shard is begun when all that its parents hold is done', async () => {
    const heard = new Heard([child, shardOf('one', ['a1']), shardOf('two', ['b1', 'b2', 'b3'])]);
    expect(await heard.all({ batchSize: 1 })).toEqual([
      '0: a1',
      '0: b1',
      '1: b2',
      '2: b3',
      expect.stringMatching(/: a2$/),
    ]);
  });

  test('a parent that the stream no longer has is waited for by nobody', async () => {
    expect(await new Heard([child]).all({})).toEqual(['0: a2']);
  });

  test('a child that comes while the stream is read is begun with its first record, wherever the mapping began', async () => {
    const shards = [shardOf('one', ['a1'], { isOpen: true })];
    const heard = new Heard(shards);
    heard.clock.nowMs = 2_000;
    heard.clock.schedule(() => shards.splice(0, 1, { ...shards[0]!, isOpen: false }, child), 1_500);
    expect(await heard.in(9, { from: 'LATEST' })).toEqual([expect.stringMatching(/: a2$/)]);
  });
});
