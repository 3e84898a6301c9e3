import { checkTextFormat, type StoredFormat } from '../kernel/format-version';
import { areCounts, sealedText, unsealedValue } from '../kernel/sealed-text';
import { InvalidCursorError } from './fan-out-errors';

/** Three numbers in a cursor, whose meaning depends on the store. */
type Counts = readonly [number, number, number];

/** The content of a cursor. The shard number is null for a position after all shards, because JSON has no infinity. */
type SealedPosition = [shard: number | null, ...Counts, ...unknown[]];

/**
 * Encodes a cursor that continues after a position. The cursor contains the shard and the key of the position, and the numbers
 * of the store. A checksum binds the cursor to the query.
 */
export function sealedCursor(query: unknown, shard: number, counts: Counts, key: readonly unknown[]): string {
  const [first, second, third] = counts.map(Math.round) as [number, number, number];
  const position: SealedPosition = [Number.isFinite(shard) ? shard : null, first, second, third, ...key];
  return sealedText(query, position);
}

/**
 * Decodes the position in a cursor.
 *
 * @param afterAllShards the shard number of a position after all shards
 * @param read parses the position; returns undefined or throws if the position is invalid
 * @throws InvalidCursorError if the cursor was altered or belongs to another query
 * @throws NewerFormatError if a later release wrote the cursor in a format that this release cannot read
 */
export function openedCursor<P>(
  query: unknown,
  cursor: string,
  afterAllShards: number,
  read: (shard: number, counts: Counts, key: unknown[]) => P | undefined,
): P {
  return openedText('cursor', 'cursor', cursor, 'the unaltered cursor of a page of the same query', query, (value) => {
    const [shard, first, second, third, ...key] = value as SealedPosition;
    const isPosition =
      (shard === null || (Number.isSafeInteger(shard) && shard >= 0)) && areCounts([first, second, third]);
    return isPosition ? read(shard ?? afterAllShards, [first, second, third], key) : undefined;
  });
}

/**
 * Decodes a sealed text from a caller, such as a cursor or a resume point.
 *
 * @param read parses the value; returns undefined or throws if the value is invalid
 * @throws InvalidCursorError if the text was altered or does not belong to `belongsTo`
 * @throws NewerFormatError if a later release wrote the text in a format that this release cannot read
 */
export function openedText<V>(
  format: StoredFormat,
  field: string,
  text: unknown,
  allowed: string,
  belongsTo: unknown,
  read: (value: unknown) => V | undefined,
): V {
  checkTextFormat(format, text);
  const value = unsealedValue(belongsTo, text, read);
  if (value === undefined) throw new InvalidCursorError(field, text, allowed);
  return value;
}
