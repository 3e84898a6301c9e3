import fc from 'fast-check';
import {
  deduplicate,
  InvalidArgumentError,
  type SequencedRecord,
  SequenceHistory,
  SetAsideLimitError,
} from '../../../../lib/core';
import { fenceData } from '../../../../lib/core/stream-format/fence';
import { seededRandom } from '../../../../lib/testing/seeded-random';

/** A record like `a7`: the seventh of key a. */
const record = (name: string, producerId = 'p'): SequencedRecord => ({
  partitionKey: name[0]!,
  sequence: { producerId, sequenceNumber: BigInt(name.slice(1)) },
});
const nameOf = ({ partitionKey, sequence }: SequencedRecord): string => `${partitionKey}${sequence?.sequenceNumber}`;

function taken(names: readonly string[], history = new SequenceHistory()): string[] {
  return [
    ...deduplicate(
      names.map((name) => record(name)),
      history,
    ),
  ].map(nameOf);
}

describe('deduplicate', () => {
  test.each([
    ['a copy that follows at once', ['a1', 'a1', 'a2'], ['a1', 'a2']],
    ['a copy that comes late', ['a1', 'a2', 'a3', 'a2', 'a4'], ['a1', 'a2', 'a3', 'a4']],
    ['an aggregate that comes again', ['a1', 'a2', 'a3', 'a1', 'a2', 'a3', 'a4'], ['a1', 'a2', 'a3', 'a4']],
  ])('takes %s for one', (_, records, expected) => {
    expect(taken(records)).toEqual(expected);
  });

  test('lets pass what has a number of its own, though numbers are skipped', () => {
    expect(taken(['a1', 'a5', 'a6', 'a1000'])).toEqual(['a1', 'a5', 'a6', 'a1000']);
  });

  test('counts each key by itself', () => {
    expect(taken(['a2', 'b1', 'b2', 'b1', 'a2'])).toEqual(['a2', 'b1', 'b2']);
  });

  test('counts each producer by itself, one that started anew included', () => {
    const history = new SequenceHistory();
    const records = [record('a8', 'old'), record('a0', 'new'), record('a7', 'old'), record('a1', 'new')];
    expect([...deduplicate(records, history)]).toEqual([records[0], records[1], records[3]]);
  });

  test.each(['__proto__', 'constructor', '0'])('knows the key and the producer %j', (name) => {
    const history = new SequenceHistory();
    const sequenced = { partitionKey: name, sequence: { producerId: name, sequenceNumber: 0n } };
    expect([...deduplicate([sequenced, sequenced], history)]).toHaveLength(1);
    const restored = new SequenceHistory({ saved: JSON.parse(JSON.stringify(history)) });
    expect(restored.has(sequenced)).toBe(true);
  });

  describe('of a key that has moved to another hash key', () => {
    const at = (explicitHashKey: bigint | undefined, numbers: number[]): SequencedRecord[] =>
      numbers.map((number) => ({ ...record(`a${number}`), explicitHashKey }));
    const old = at(1n, [1, 2, 3]);
    const moved = at(2n, [4, 5, 6]);
    const back = at(1n, [7, 8]);

    test.each([
      ['the old shard first', [...old, ...back, ...moved]],
      ['the new shard first', [...moved, ...old, ...back]],
      ['both in turns', [old[0]!, moved[0]!, old[1]!, moved[1]!, old[2]!, moved[2]!, ...back]],
      ['records without a hash key first', [...at(undefined, [9]), ...moved, ...old]],
    ])('passes every record when it reads %s, and no copy', (_, records) => {
      const history = new SequenceHistory();
      expect([...deduplicate(records, history)]).toEqual(records);
      const restored = new SequenceHistory({ saved: JSON.parse(JSON.stringify(history)) });
      expect([...deduplicate(records, restored)]).toEqual([]);
    });
  });

  test('lets pass, and does not remember, records that are not sequenced', () => {
    const history = new SequenceHistory();
    expect([...deduplicate([{ partitionKey: 'a' }, { partitionKey: 'a' }], history)]).toHaveLength(2);
    expect(history.toJSON()).toEqual([]);
  });

  test('does not remember a record that was not handled to its end', () => {
    const history = new SequenceHistory();
    const handle = (names: string[]) => {
      for (const each of deduplicate(
        names.map((name) => record(name)),
        history,
      )) {
        if (nameOf(each) === 'a2') throw new Error('not now');
      }
    };
    expect(() => handle(['a1', 'a2', 'a3'])).toThrow('not now');
    expect(taken(['a1', 'a2', 'a3'], history)).toEqual(['a2', 'a3']);
  });
});

describe('SequenceHistory', () => {
  test('is JSON, and goes on from it', () => {
    const history = new SequenceHistory();
    taken(['a1', 'b7', 'a2'], history);
    history.add(record('a0', 'q'));
    expect(JSON.parse(JSON.stringify(history))).toEqual([
      { partitionKey: 'b', producers: [{ producerId: 'p', sequenceNumber: '7' }] },
      {
        partitionKey: 'a',
        producers: [
          { producerId: 'p', sequenceNumber: '2' },
          { producerId: 'q', sequenceNumber: '0' },
        ],
      },
    ]);
    const restored = new SequenceHistory({ saved: JSON.parse(JSON.stringify(history)) });
    expect(restored.toJSON()).toEqual(history.toJSON());
    expect(taken(['a2', 'b8', 'a3'], restored)).toEqual(['b8', 'a3']);
  });

  test('goes on from a history of before, which knew no hash keys', () => {
    const saved = [{ partitionKey: 'a', producers: [{ producerId: 'p', sequenceNumber: '2' }] }];
    expect(taken(['a2', 'a3'], new SequenceHistory({ saved }))).toEqual(['a3']);
  });

  describe('behind an end fence', () => {
    const OLD = 1n;
    const at = (name: string, explicitHashKey = OLD, producerId = 'p') => ({
      ...record(name, producerId),
      explicitHashKey,
      data: Buffer.from(name),
    });
    const end = (name: string) => ({ ...at(name), data: fenceData({ side: 'end', moveId: 'm' }) });
    const passed = (records: SequencedRecord[], history = new SequenceHistory()) =>
      [...deduplicate(records, history)].map(nameOf);

    test('drops what its producer wrote in front of it, though it comes for the first time', () => {
      expect(passed([at('a1'), end('a4'), at('a2'), at('a3'), at('a5')])).toEqual(['a1', 'a5']);
    });

    test('drops nothing of another key, hash key or producer', () => {
      expect(passed([end('a4'), at('b2'), at('a2', 2n), at('a2', OLD, 'q'), at('a3')])).toEqual(['b2', 'a2', 'a2']);
    });

    test('remembers the fence when it is saved', () => {
      const history = new SequenceHistory();
      expect(passed([end('a4')], history)).toEqual([]);
      expect(passed([at('a3')], new SequenceHistory({ saved: JSON.parse(JSON.stringify(history)) }))).toEqual([]);
    });

    test('takes what was set aside in front of it', () => {
      const history = new SequenceHistory();
      history.setAside([at('a1'), at('a4')]);
      expect(passed([end('a4'), at('a4'), at('a1'), at('a1')], history)).toEqual(['a4', 'a1']);
    });

    test('takes out a fence without a sequence, and nothing else', () => {
      const fence = { partitionKey: 'a', data: fenceData({ side: 'end', moveId: 'm' }) };
      expect(passed([fence, at('a1'), { partitionKey: 'a', data: 'text' }, at('a1')])).toEqual(['a1', 'aundefined']);
    });
  });

  describe('with records set aside', () => {
    let history: SequenceHistory;
    const restored = () => new SequenceHistory({ saved: JSON.parse(JSON.stringify(history)) });
    beforeEach(() => {
      history = new SequenceHistory();
      taken(['a1', 'a2'], history);
      history.setAside(['a3', 'a4', 'a2', 'a9'].map((name) => record(name)));
    });

    test('takes later records of the key, then each of those that come again, once', () => {
      expect(taken(['a10', 'a9', 'a3', 'a3', 'a4', 'a2', 'a5'], history)).toEqual(['a10', 'a9', 'a3', 'a4']);
      expect(taken(['a9', 'a3', 'a4', 'a10'], restored())).toEqual([]);
    });

    test('keeps them when it is saved, consecutive numbers as one range', () => {
      expect(restored().toJSON()).toEqual(history.toJSON());
      expect(history.toJSON()[0]!.producers[0]).toEqual({
        producerId: 'p',
        sequenceNumber: '9',
        setAside: [
          { from: '3', to: '4' },
          { from: '9', to: '9' },
        ],
      });
      expect(taken(['a4', 'a3', 'a9', 'a1'], restored())).toEqual(['a4', 'a3', 'a9']);
    });

    test('takes them in whatever order they come again', () => {
      history.setAside(['a11', 'a12', 'a13'].map((name) => record(name)));
      expect(taken(['a12', 'a12', 'a11', 'a13', 'a12'], history)).toEqual(['a12', 'a11', 'a13']);
    });

    test('goes on from ranges in whatever order, and joins those that overlap or touch', () => {
      const ranges = ['5-9', '12-12', '3-5', '6-7', '1-1', '2-2', '10-10'].map((range) => {
        const [from, to] = range.split('-');
        return { from: from!, to: to! };
      });
      const producers = [{ producerId: 'p', sequenceNumber: '20', setAside: ranges }];
      expect(
        new SequenceHistory({ saved: [{ partitionKey: 'a', producers }] }).toJSON()[0]!.producers[0],
      ).toMatchObject({
        setAside: [
          { from: '1', to: '10' },
          { from: '12', to: '12' },
        ],
      });
    });

    test('refuses one more than it holds, and does not go past it', () => {
      const many = Array.from({ length: 1_000 }, (_, index) => record(`b${2 * index}`));
      history.setAside(many);
      history.setAside(many);
      expect(() => history.setAside([record('b5000')])).toThrow(SetAsideLimitError);
      expect(taken(['b4', 'b5000', 'b6', 'b5'], restored())).toEqual(['b4', 'b5000', 'b6']);
    });
  });

  test('agrees with a set of all numbers, whatever is taken and set aside', () => {
    const step = fc.record({ number: fc.nat({ max: 30 }), aside: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let history = new SequenceHistory();
        let highest = -1;
        const aside = new Set<number>();
        for (const { number, aside: isAside } of steps) {
          const isCopy = number <= highest && !aside.has(number);
          expect(history.has(record(`a${number}`))).toBe(isCopy);
          if (isAside) history.setAside([record(`a${number}`)]);
          else history.add(record(`a${number}`));
          if (!isCopy && isAside) aside.add(number);
          else aside.delete(number);
          highest = Math.max(highest, number);
          history = new SequenceHistory({ saved: JSON.parse(JSON.stringify(history)) });
        }
      }),
    );
  });

  test('passes a replay by more keys than it remembers twice, and by as many once', () => {
    const records = Array.from({ length: 150_000 }, (_, key): SequencedRecord => {
      return { partitionKey: `key-${key}`, sequence: { producerId: 'p', sequenceNumber: BigInt(key) } };
    });
    const passed = (history: SequenceHistory) => [...deduplicate([...records, ...records], history)].length;
    expect(passed(new SequenceHistory())).toBe(300_000);
    expect(passed(new SequenceHistory({ maxKeys: 150_000 }))).toBe(150_000);
  });

  test('holds numbers that a double cannot', () => {
    const large = { partitionKey: 'a', sequence: { producerId: 'p', sequenceNumber: 10n ** 40n - 1n } };
    const history = new SequenceHistory();
    history.add(large);
    const restored = new SequenceHistory({ saved: JSON.parse(JSON.stringify(history)) });
    expect(restored.has({ ...large, sequence: { ...large.sequence, sequenceNumber: 10n ** 40n - 2n } })).toBe(true);
    expect(restored.has({ ...large, sequence: { ...large.sequence, sequenceNumber: 10n ** 40n } })).toBe(false);
  });

  test('forgets the key that was not written for the longest', () => {
    const history = new SequenceHistory({ maxKeys: 2 });
    taken(['a1', 'b1', 'a2', 'c1'], history);
    expect(history.toJSON().map(({ partitionKey }) => partitionKey)).toEqual(['a', 'c']);
  });

  test('forgets the producer of a key that has not written for the longest', () => {
    const history = new SequenceHistory({ maxProducersPerKey: 2 });
    for (const producer of ['p', 'q', 'r']) history.add(record('a1', producer));
    expect(['p', 'q', 'r'].map((producer) => history.has(record('a1', producer)))).toEqual([false, true, true]);
  });

  test('remembers 100,000 keys, and 16 producers of each, unless it is told otherwise', () => {
    const history = new SequenceHistory();
    for (let key = 0; key <= 100_000; key++) {
      history.add({ partitionKey: `${key}`, sequence: { producerId: 'p', sequenceNumber: 1n } });
    }
    for (let producer = 0; producer <= 16; producer++) history.add(record('a1', `p${producer}`));
    const keys = history.toJSON();
    expect([keys.length, keys[0]!.partitionKey, keys.at(-1)!.producers.length]).toEqual([100_000, '2', 16]);
  });

  test('remembers the latest producers of a key, few or many of them, in the order in which they wrote last', () => {
    const writers = fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 100 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 25 }), writers, (maxProducersPerKey, producers) => {
        const history = new SequenceHistory({ maxProducersPerKey });
        producers.forEach((producer, index) => {
          history.add(record(`a${index + 1}`, `p${producer}`));
        });
        const latest = [...new Set(producers.toReversed())].slice(0, maxProducersPerKey).reverse();
        const remembered = history.toJSON().flatMap((key) => key.producers);
        expect(remembered.map(({ producerId }) => producerId)).toEqual(latest.map((producer) => `p${producer}`));
        expect(new SequenceHistory({ maxProducersPerKey, saved: history.toJSON() }).toJSON()).toEqual(history.toJSON());
      }),
    );
  });

  test.each([
    [{ maxKeys: 0 }, 'maxKeys must be a positive whole number, got 0'],
    [{ saved: 1 }, 'saved must be the result of toJSON of a history'],
    [{ maxProducersPerKey: 1.5 }, 'maxProducersPerKey must be a positive whole number, got 1.5'],
    ...[
      { partitionKey: 'a' },
      null,
      { partitionKey: 'a', producers: [null] },
      { partitionKey: 'a', producers: [{ producerId: 'p', sequenceNumber: { toString: 'x' } }] },
      { partitionKey: 'a', producers: [{ producerId: 'p', sequenceNumber: '1', explicitHashKey: { toString: 'x' } }] },
      { partitionKey: 'a', producers: [{ producerId: 'p', sequenceNumber: '1', setAside: [null] }] },
      { partitionKey: 'a', producers: [{ producerId: 'p', sequenceNumber: '1', setAside: [{ from: [1], to: '2' }] }] },
    ].map((key): [object, string] => [{ saved: [key] }, 'saved must be the result of toJSON of a history']),
    [{ saved: [{ partitionKey: 'a', producers: [{ producerId: 'p', sequenceNumber: '-1' }] }] }, 'saved must be'],
    [
      { saved: [{ partitionKey: 'a', producers: [{ producerId: 'p', sequenceNumber: '1', explicitHashKey: 'x' }] }] },
      'saved',
    ],
    [{ saved: [{ partitionKey: 'a', producers: [{ producerId: 'p', sequenceNumber: '1', setAside: '1' }] }] }, 'saved'],
    [
      {
        saved: [
          {
            partitionKey: 'a',
            producers: [{ producerId: 'p', sequenceNumber: '9', setAside: [{ from: '2', to: '1' }] }],
          },
        ],
      },
      'saved',
    ],
  ])('refuses %j', (options, message) => {
    expect(() => new SequenceHistory(options as never)).toThrow(InvalidArgumentError);
    expect(() => new SequenceHistory(options as never)).toThrow(message);
  });
});

describe('any stream of an ordered producer, read by a consumer that fails and starts again', () => {
  interface Schedule {
    seed: number;
    records: number;
    keys: number;
  }

  /**
   * What the producer's lanes write: units of consecutive records, each first behind the one before of its key, then
   * again at any later time, as often as answers were lost.
   */
  function written({ seed, records, keys }: Schedule): { input: SequencedRecord[]; stream: SequencedRecord[][] } {
    const random = seededRandom(seed);
    const input = Array.from({ length: records }, (_, index) =>
      record(`${'abcdef'[Math.floor(random() * keys)]}${index}`),
    );
    const stream: SequencedRecord[][] = [];
    const late: { unit: SequencedRecord[]; position: number }[] = [];
    for (const key of new Set(input.map(({ partitionKey }) => partitionKey))) {
      const ofKey = input.filter(({ partitionKey }) => partitionKey === key);
      let position = 0;
      while (ofKey.length > 0) {
        const unit = ofKey.splice(0, 1 + Math.floor(random() * 4));
        position = Math.min(stream.length, position + Math.floor(random() * 4));
        stream.splice(position++, 0, unit);
        while (random() < 0.4) late.push({ unit, position: 0 });
      }
    }
    for (const { unit } of late) {
      const first = stream.indexOf(unit);
      stream.splice(first + 1 + Math.floor(random() * (stream.length - first)), 0, unit);
    }
    return { input, stream };
  }

  /** Reads from the last checkpoint on, as often as it takes; effects are undone with what was not saved. */
  function consumed(stream: readonly SequencedRecord[][], random: () => number): string[] {
    let checkpoint = { position: 0, handled: [] as string[], history: '[]' };
    while (checkpoint.position < stream.length) {
      const history = new SequenceHistory({ saved: JSON.parse(checkpoint.history) });
      const handled = [...checkpoint.handled];
      let { position } = checkpoint;
      const crashAt = position + Math.floor(random() * 10);
      for (; position < stream.length && position < crashAt; position++) {
        for (const each of deduplicate(stream[position]!, history)) {
          if (random() < 0.1) break;
          handled.push(nameOf(each));
        }
        // A unit that was left in its midst is read again, from its beginning.
        if (!stream[position]!.every((each) => history.has(each))) break;
      }
      if (random() < 0.8) checkpoint = { position, handled, history: JSON.stringify(history) };
    }
    return checkpoint.handled;
  }

  test('is read once, in the order of each key', () => {
    fc.assert(
      fc.property(
        fc.record({
          seed: fc.integer(),
          records: fc.integer({ min: 1, max: 60 }),
          keys: fc.integer({ min: 1, max: 6 }),
        }),
        (schedule) => {
          const { input, stream } = written(schedule);
          const handled = consumed(stream, seededRandom(~schedule.seed));
          const byKey = (names: string[]) => [...'abcdef'].map((key) => names.filter((name) => name.startsWith(key)));
          expect(byKey(handled)).toEqual(byKey(input.map(nameOf)));
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
