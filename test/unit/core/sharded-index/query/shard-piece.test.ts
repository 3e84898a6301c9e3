import { pieceUpTo, type ShardPiece } from '../../../../../lib/core/sharded-index/query/shard-piece';

const N = (number: number) => ({ N: String(number) });
const upTo = (piece: ShardPiece, a: number, b: number, direction: 1 | -1 = 1) =>
  pieceUpTo(piece, { a: N(a), b: N(b) }, ['a', 'b'], direction);
const from = (value: number) => ({ lower: { value: N(value), inclusive: true } });

describe('the part of a piece up to an item', () => {
  const ofFive: ShardPiece = { equal: [N(5)], range: from(7), repeats: 0 };

  test('is cut at the item where that lies in the piece', () => {
    expect(upTo(ofFive, 5, 9)?.range).toEqual({ ...from(7), upper: { value: N(9), inclusive: true } });
  });

  test('is nothing where the piece lies behind the item', () => {
    expect(upTo(ofFive, 4, 9)).toBeUndefined();
    expect(upTo(ofFive, 5, 6)).toBeUndefined();
    expect(upTo(ofFive, 6, 9, -1)).toBeUndefined();
    expect(upTo(ofFive, 4.5, 9)).toBeUndefined();
  });

  test('is all of it where the piece lies in front of the item', () => {
    expect(upTo(ofFive, 6, 0)).toBe(ofFive);
    expect(upTo(ofFive, 4, 0, -1)).toBe(ofFive);
    const ends: ShardPiece = { ...ofFive, range: { upper: { value: N(8), inclusive: false } } };
    expect(upTo(ends, 5, 8)).toBe(ends);
    expect(upTo(ends, 5, 9)).toBe(ends);
    expect(upTo(ends, 5, 7.5)?.range).toEqual({ upper: { value: N(7.5), inclusive: true } });
    const whole = { equal: [N(5), N(7)], range: {}, repeats: 0 };
    expect(upTo(whole, 5, 7)).toBe(whole);
  });
});
