import { pieceUpTo, type ShardPiece } from '../../../../../lib/core/sharded-index/query/shard-piece';

const N = (number: number) => ({ N: String(number) });
const from = (value: number) => ({ lower: { value: N(value), inclusive: true } });
const upTo = (piece: ShardPiece, a: number, b: number, direction: 1 | -1 = 1) =>
  pieceUpTo(piece, { a: N(a), b: N(b) }, ['a', 'b'], direction);

describe('pieceUpTo – the piece contains the sort keys with a = 5 and b from 7 on', () => {
  const piece: ShardPiece = { equal: [N(5)], range: from(7), repeats: 0 };

  test('the item is in the piece – the returned range ends at the item', () => {
    expect(upTo(piece, 5, 9)?.range).toEqual({ ...from(7), upper: { value: N(9), inclusive: true } });
  });

  test('the item comes before the piece – no range is returned', () => {
    expect([upTo(piece, 4, 9), upTo(piece, 5, 6), upTo(piece, 6, 9, -1)]).toEqual([undefined, undefined, undefined]);
  });

  test('the item comes after the piece – the whole piece is returned, whatever the value of b in the item', () => {
    expect([upTo(piece, 6, 0), upTo(piece, 6, 8), upTo(piece, 4, 0, -1)]).toEqual([piece, piece, piece]);
  });
});
