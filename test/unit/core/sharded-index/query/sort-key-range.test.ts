import fc from 'fast-check';
import type { RangeEnd } from '../../../../../lib/core/fan-out/value-range';
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
import {
  isEmptyRange,
  type KeyTerm,
  prefixRange,
  rangeTerm,
  type SortKeyRange,
  termAfter,
} from '../../../../../lib/core/sharded-index/query/sort-key-range';

const S = (text: string) => ({ S: text });
const N = (text: string): SortableValue => ({ N: text });
const LONGEST = S('x'.repeat(1_024));
const Y: RangeEnd<SortableValue> = { value: S('y'), inclusive: true };
const B = (...bytes: number[]) => ({ B: Uint8Array.from(bytes) });

describe('the neighbours of a sort key', () => {
  test.each<[SortableValue, SortableValue | undefined]>([
    [S('a'), S('a\0')],
    [S('x'.repeat(1_024)), undefined],
    [B(255), B(255, 0)],
    [N('1'), N('1.0000000000000000000000000000000000001')],
    [N('9.9999999999999999999999999999999999999'), N('10')],
    [N('0'), N('1e-130')],
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
    [N('-1'), N('-1.0000000000000000000000000000000000001')],
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

describe('the key condition of a sort key range', () => {
  const values = [S('a'), S('a\0'), S('ab'), S('b'), S('c')];
  const meets = (value: SortableValue, term: KeyTerm | undefined): boolean => {
    if (term === undefined) return true;
    const to = (index: number): number => compareAttributeValues(value, term.operands[index]!);
    switch (term.operator) {
      case '=':
        return to(0) === 0;
      case '<':
        return to(0) < 0;
      case '<=':
        return to(0) <= 0;
      case '>':
        return to(0) > 0;
      case '>=':
        return to(0) >= 0;
      case 'BETWEEN':
        return to(0) >= 0 && to(1) <= 0;
      default:
        return (value as { S: string }).S.startsWith((term.operands[0] as { S: string }).S);
    }
  };
  const isIn = (value: SortableValue, { lower, upper }: SortKeyRange): boolean => {
    const above = lower === undefined ? 1 : compareAttributeValues(value, lower.value);
    const under = upper === undefined ? -1 : compareAttributeValues(value, upper.value);
    return (above > 0 || (above === 0 && lower!.inclusive)) && (under < 0 || (under === 0 && upper!.inclusive));
  };
  const end = fc.option(fc.record({ value: fc.constantFrom(...values), inclusive: fc.boolean() }), { nil: undefined });

  test('includes the whole range, begins at the range unless beginEarly is set, and ends at most one value after the range', () => {
    fc.assert(
      fc.property(end, end, fc.boolean(), fc.constantFrom(1, -1), (lower, upper, beginEarly, direction) => {
        const range = { ...(lower && { lower }), ...(upper && { upper }) };
        if (isEmptyRange(range)) {
          expect(values.filter((value) => isIn(value, range))).toEqual([]);
          return;
        }
        const term = rangeTerm(range, direction as 1 | -1, beginEarly);
        const near = direction === 1 ? lower : upper;
        for (const value of values) {
          if (isIn(value, range)) expect(meets(value, term)).toBe(true);
          const before =
            near !== undefined && !isIn(value, range) && direction * compareAttributeValues(value, near.value) <= 0;
          if (before && !beginEarly) expect(meets(value, term)).toBe(false);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test.each<[SortKeyRange, 1 | -1, boolean, KeyTerm | undefined]>([
    [{}, 1, false, undefined],
    [prefixRange(S('ab')), 1, false, { operator: 'begins_with', operands: [S('ab')] }],
    [
      { lower: { value: S('a'), inclusive: false }, upper: { value: S('b'), inclusive: true } },
      1,
      false,
      { operator: 'BETWEEN', operands: [S('a\0'), S('b')] },
    ],
    [
      { lower: { value: S('a'), inclusive: true }, upper: { value: S('d'), inclusive: false } },
      -1,
      false,
      { operator: '<', operands: [S('d')] },
    ],
    [
      { lower: { value: S('a'), inclusive: true }, upper: { value: S('d'), inclusive: false } },
      -1,
      true,
      { operator: 'BETWEEN', operands: [S('a'), S('d')] },
    ],
    [
      // A read that begins early can end at "b". DynamoDB rejects "b" as a start key of begins_with "a".
      { lower: { value: S('a'), inclusive: true }, upper: { value: S('b'), inclusive: false } },
      -1,
      true,
      { operator: 'BETWEEN', operands: [S('a'), S('b')] },
    ],
    [
      { lower: { value: N('1'), inclusive: true }, upper: { value: N('1'), inclusive: true } },
      1,
      false,
      { operator: '=', operands: [N('1')] },
    ],
    [
      { lower: { value: N('1'), inclusive: true }, upper: { value: N('2'), inclusive: false } },
      1,
      false,
      { operator: 'BETWEEN', operands: [N('1'), predecessorOf(N('2'))!] },
    ],
    // The text after the longest text would be too long for a sort key.
    [{ lower: { value: LONGEST, inclusive: false }, upper: Y }, 1, false, { operator: '>', operands: [LONGEST] }],
    [
      { lower: { value: LONGEST, inclusive: false }, upper: Y },
      -1,
      false,
      { operator: 'BETWEEN', operands: [LONGEST, Y.value] },
    ],
  ])(
    'rangeTerm returns, for the range %j in the direction %d (beginEarly: %p), the condition %j',
    (range, direction, early, term) => {
      expect(rangeTerm(range, direction, early)).toEqual(term);
    },
  );

  test.each<[RangeEnd<SortableValue>, RangeEnd<SortableValue>, boolean]>([
    [{ value: S('a'), inclusive: true }, { value: S('a'), inclusive: false }, true],
    [{ value: S('a'), inclusive: false }, { value: S('a'), inclusive: true }, true],
    [{ value: S('a'), inclusive: false }, { value: S('a\0'), inclusive: false }, true],
    [{ value: S('a'), inclusive: false }, { value: S('a\0'), inclusive: true }, false],
    [{ value: LONGEST, inclusive: false }, { value: LONGEST, inclusive: true }, true],
    [{ value: LONGEST, inclusive: false }, Y, false],
  ])('isEmptyRange returns, for the bounds %j and %j, the result %p', (lower, upper, isEmpty) => {
    expect(isEmptyRange({ lower, upper })).toBe(isEmpty);
  });

  test('termAfter returns an equality if the start key equals the bound at which the query ends', () => {
    const equal = { operator: '=', operands: [S('b')] };
    expect(termAfter({ operator: '>=', operands: [S('b')] }, S('b'), -1)).toEqual(equal);
    expect(termAfter({ operator: '<=', operands: [S('b')] }, S('b'), 1)).toEqual(equal);
    expect(termAfter({ operator: 'BETWEEN', operands: [S('a'), S('b')] }, S('b'), 1)).toEqual(equal);
    expect(termAfter({ operator: 'BETWEEN', operands: [S('b'), S('c')] }, S('b'), -1)).toEqual(equal);
    const onward: KeyTerm = { operator: '>=', operands: [S('b')] };
    expect(termAfter(onward, S('b'), 1)).toBe(onward);
    expect(termAfter(onward, S('c'), -1)).toBe(onward);
  });
});
