import type { DynamoDbItem } from '../../aws-client/attribute-value';
import type { TotalOrder } from '../../fan-out/total-order';
import { type Direction, rangeFrom, rangeUpTo } from '../../fan-out/value-range';
import { compareAttributeValues, type SortableValue } from './attribute-order';
import { type CursorPosition, isFewTies } from './cursor';
import { isEmptyRange } from './sort-key-range';
import type { SortKeySelect } from './sort-key-select';

/**
 * A part of a shard that one key condition reads: the first sort key attributes have fixed values, and the next
 * attribute is in a range.
 */
export interface ShardPiece extends SortKeySelect {
  /** The piece begins after the item with this key. The partition key may be absent. */
  startKey?: DynamoDbItem;
  /** The maximum number of items at the beginning of the piece that earlier pages have already read. */
  repeats: number;
  /**
   * Whether the key condition may begin before the piece, if no condition begins exactly at the piece. Set only if the read
   * then repeats only a few items with the sort key of the cursor.
   */
  beginEarly?: boolean;
}

/** The settings that determine which pieces of a shard are still to be read. */
export interface PieceContext {
  sortKeyAttributes: readonly string[];
  select: SortKeySelect;
  order: TotalOrder<DynamoDbItem>;
  direction: Direction;
  shardByShard: boolean;
  cursor: CursorPosition | undefined;
}

/**
 * Returns the pieces of a shard after the cursor, in the order of the query.
 *
 * A key condition of DynamoDB compares one attribute, and all earlier attributes must equal a value. So the items after the key
 * `(x, y)` are in two pieces. The first piece has the items whose first attribute is `x` and whose second attribute is after
 * `y`. The second piece has the items whose first attribute is after `x`. If few items have the first attribute `x`, one piece
 * replaces both pieces. This piece begins with all items whose first attribute is `x`. To read these few items again costs less
 * than another request to each shard.
 */
export function piecesAfterCursor(context: PieceContext, shard: number): ShardPiece[] {
  const { sortKeyAttributes, select, order, shardByShard, cursor } = context;
  const whole = { ...select, repeats: 0 };
  if (cursor === undefined) return [whole];
  if (shard === cursor.shard && cursor.isItem) return [{ ...whole, startKey: cursor.item }];
  const side = order.compare({ item: cursor.item, shard }, cursor);
  if (shardByShard || select.equal.length === sortKeyAttributes.length) return side > 0 ? [whole] : [];
  return piecesFromKey(context, cursor.isItem && side > 0);
}

/**
 * Returns the pieces of a shard that follow the cursor and hold only items with the sort key of the cursor.
 * `piecesAfterTies` returns all other pieces that follow the cursor.
 */
export function tiesAfterCursor({ order, cursor, sortKeyAttributes }: PieceContext, shard: number): ShardPiece[] {
  const ties = { equal: keyOf(cursor!, sortKeyAttributes), range: {}, repeats: 0 };
  if (shard === cursor!.shard) return [{ ...ties, startKey: cursor!.item }];
  return order.compare({ item: cursor!.item, shard }, cursor!) > 0 ? [ties] : [];
}

/** Returns the pieces of every shard whose sort keys come after the sort key of the cursor. */
export function piecesAfterTies(context: PieceContext): ShardPiece[] {
  return piecesFromKey(context, false, false);
}

/** Returns the pieces after the cursor's sort key. With `inclusive`, the pieces include the items with that sort key. */
function piecesFromKey(
  { sortKeyAttributes, select, direction, cursor }: PieceContext,
  inclusive: boolean,
  mayRepeat = cursor!.isItem,
): ShardPiece[] {
  const { ties } = cursor!;
  const key = keyOf(cursor!, sortKeyAttributes);
  const first = select.equal.length;
  const deepest = key.length - 1;
  const shallow = ties.findIndex((count, column) => column >= first && column < deepest && isFewTies(count, cursor!));
  const repeats = mayRepeat && shallow !== -1;
  const begin = repeats ? shallow : deepest;
  const pieces: ShardPiece[] = [];
  for (let column = begin; column >= first; column--) {
    const from = { value: key[column]!, inclusive: column === begin && (inclusive || repeats) };
    pieces.push({
      equal: key.slice(0, column),
      range: rangeFrom(column === first ? select.range : {}, from, direction),
      repeats: column === begin && repeats ? ties[column]! : 0,
      beginEarly: mayRepeat && isFewTies(ties[column]!, cursor!),
    });
  }
  return pieces.filter(({ range }) => !isEmptyRange(range));
}

function keyOf({ item }: CursorPosition, sortKeyAttributes: readonly string[]): SortableValue[] {
  return sortKeyAttributes.flatMap((attribute) => item[attribute] ?? []);
}

/**
 * Returns the part of a piece that can hold items up to the given item. Returns the same object if this part is the
 * whole piece.
 *
 * @returns undefined if all items of the piece come after the given item
 */
export function pieceUpTo(
  piece: ShardPiece,
  item: DynamoDbItem,
  sortKeyAttributes: readonly string[],
  direction: Direction,
): ShardPiece | undefined {
  const { equal, range } = piece;
  for (const [column, value] of equal.entries()) {
    const difference = direction * compareAttributeValues(value, item[sortKeyAttributes[column]!]!);
    if (difference !== 0) return difference < 0 ? piece : undefined;
  }
  const attribute = sortKeyAttributes[equal.length];
  if (attribute === undefined) return piece;
  const narrowed = rangeUpTo(range, item[attribute] as SortableValue, direction, compareAttributeValues);
  if (isEmptyRange(narrowed)) return undefined;
  return narrowed === range ? piece : { ...piece, range: narrowed };
}
