import type { DynamoDbItem } from '../../aws-client/attribute-value';
import type { TotalOrder } from '../../fan-out/total-order';
import { type Direction, rangeFrom, rangeUpTo } from '../../fan-out/value-range';
import { compareAttributeValues, type SortableValue } from './attribute-order';
import { type CursorPosition, isFewTies } from './cursor';
import { isEmptyRange } from './sort-key-range';
import type { SortKeySelect } from './sort-key-select';

/** A part of a shard that one key condition reads: the first sort key attributes are fixed, the next is in a range. */
export interface ShardPiece extends SortKeySelect {
  /** The key of an item of this shard behind which the piece begins. Its partition key may be absent. */
  startKey?: DynamoDbItem;
  /** The most items that earlier pages have read and that come again at the begin of the piece. */
  repeats: number;
  /** Whether a condition that cannot begin exactly where the piece begins may begin before it, among few ties. */
  beginEarly?: boolean;
}

/** What decides which pieces of a shard are left. */
export interface PieceContext {
  sortKeyAttributes: readonly string[];
  select: SortKeySelect;
  order: TotalOrder<DynamoDbItem>;
  direction: Direction;
  shardByShard: boolean;
  cursor: CursorPosition | undefined;
}

/**
 * What is left of a shard, piece by piece in the order of the query.
 *
 * A key condition of DynamoDB compares one attribute, and the attributes before it must be equal to a value. So two pieces
 * follow the key (a, b): in one the first attribute is a and the second is after b, and in the other the first is after a.
 * If few items tie with the cursor on the first attribute, one piece from a on replaces both, because reading these few
 * items again costs less than another request of each shard.
 */
export function piecesBehind(context: PieceContext, shard: number): ShardPiece[] {
  const { sortKeyAttributes, select, order, shardByShard, cursor } = context;
  const whole = { ...select, repeats: 0 };
  if (cursor === undefined) return [whole];
  if (shard === cursor.shard && cursor.isItem) return [{ ...whole, startKey: cursor.item }];
  const side = order.compare({ item: cursor.item, shard }, cursor);
  if (shardByShard || select.equal.length === sortKeyAttributes.length) return side > 0 ? [whole] : [];
  return piecesFromKey(context, cursor.isItem && side > 0);
}

/**
 * The items of a shard that have the sort key of the cursor and stand behind it. Together with `piecesBehindTies`, it is
 * what is left of the shard.
 */
export function tiesBehind({ order, cursor, sortKeyAttributes }: PieceContext, shard: number): ShardPiece[] {
  const ties = { equal: keyOf(cursor!, sortKeyAttributes), range: {}, repeats: 0 };
  if (shard === cursor!.shard) return [{ ...ties, startKey: cursor!.item }];
  return order.compare({ item: cursor!.item, shard }, cursor!) > 0 ? [ties] : [];
}

/** The items of every shard whose sort keys stand behind the sort key of the cursor. */
export function piecesBehindTies(context: PieceContext): ShardPiece[] {
  return piecesFromKey(context, false, false);
}

/** The items behind the cursor's sort key, and with `inclusive` those that have it. */
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
 * The part of a piece that can hold items up to an item. It is the same object if the whole piece can.
 *
 * @returns undefined if no item of the piece stands that far ahead
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
