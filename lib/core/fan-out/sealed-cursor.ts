import { areCounts, sealedText, unsealedValue } from '../kernel/sealed-text';
import { InvalidCursorError } from './fan-out-errors';

/** Three numbers that a store keeps in its cursors. */
type Counts = readonly [number, number, number];

/** A position behind all shards has no number: JSON has no infinity. */
type SealedPosition = [shard: number | null, ...Counts, ...unknown[]];

/** The cursor behind a position: its shard, the store's own numbers, and its key. It is sealed with the query. */
export function sealedCursor(query: unknown, shard: number, counts: Counts, key: readonly unknown[]): string {
  const [first, second, third] = counts.map(Math.round) as [number, number, number];
  const position: SealedPosition = [Number.isFinite(shard) ? shard : null, first, second, third, ...key];
  return sealedText(query, position);
}

/**
 * The position that a cursor holds.
 *
 * @param behindAllShards the shard number of a position behind all shards
 * @param read returns undefined, or throws, for a key of another shape
 * @throws InvalidCursorError if the cursor was altered or belongs to another query
 */
export function openedCursor<P>(
  query: unknown,
  cursor: string,
  behindAllShards: number,
  read: (shard: number, counts: Counts, key: unknown[]) => P | undefined,
): P {
  return openedText('cursor', cursor, 'the unaltered cursor of a page of the same query', query, (value) => {
    const [shard, first, second, third, ...key] = value as SealedPosition;
    const isPosition =
      (shard === null || (Number.isSafeInteger(shard) && shard >= 0)) && areCounts([first, second, third]);
    return isPosition ? read(shard ?? behindAllShards, [first, second, third], key) : undefined;
  });
}

/**
 * The value of a text that a caller kept, such as a cursor or a resume point.
 *
 * @param read returns undefined, or throws, for a value of another shape
 * @throws InvalidCursorError if the text was altered or does not belong to `belongsTo`
 */
export function openedText<V>(
  field: string,
  text: unknown,
  allowed: string,
  belongsTo: unknown,
  read: (value: unknown) => V | undefined,
): V {
  const value = unsealedValue(belongsTo, text, read);
  if (value === undefined) throw new InvalidCursorError(field, text, allowed);
  return value;
}
