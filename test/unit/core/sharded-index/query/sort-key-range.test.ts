import {
  compareAttributeValues,
  type SortableValue,
} from '../../../../../lib/core/sharded-index/query/attribute-order';
import {
  firstAfter,
  type Prefix,
  predecessorOf,
  successorOf,
} from '../../../../../lib/core/sharded-index/query/sort-key-neighbours';

const S = (text: string) => ({ S: text });
const N = (text: string): SortableValue => ({ N: text });
const B = (...bytes: number[]) => ({ B: Uint8Array.from(bytes) });

describe('the neighbours of a sort key', () => {
  test.each<[SortableValue, SortableValue | undefined]>([
    [S('a'), S('a\0')],
    [S('x'.repeat(1_024)), undefined],
    [B(255), B(255, 0)],
    [N('-1'), N('-0.99999999999999999999999999999999999999')],
    [N('1e-100'), undefined],
  ])('successorOf returns for %j the next value %j', (value, next) => {
    const found = successorOf(value);
    if (next === undefined) expect(found).toBeUndefined();
    else expect(compareAttributeValues(found!, next) === 0).toBe(true);
  });

  test.each<[SortableValue, SortableValue | undefined]>([
    [S('a\0'), S('a')],
    [S('a'), undefined],
    [S('\0'), undefined],
    [B(1, 0), B(1)],
    [B(1), undefined],
    [B(0), undefined],
    [N('10'), N('9.9999999999999999999999999999999999999')],
  ])('predecessorOf returns for %j the previous value %j', (value, before) => {
    const found = predecessorOf(value);
    if (before === undefined) expect(found).toBeUndefined();
    else expect(compareAttributeValues(found!, before) === 0).toBe(true);
  });

  test.each<[Prefix, Prefix | undefined]>([
    [S('ab'), S('ac')],
    [S('a\u{10ffff}'), S('b')],
    [S('\ud7ff'), S('\ue000')],
    [S('\u{10ffff}'), undefined],
    [B(1, 255), B(2)],
    [B(255, 255), undefined],
  ])('firstAfter returns for the prefix %j the first later value %j', (prefix, next) => {
    expect(firstAfter(prefix)).toEqual(next);
  });
});
