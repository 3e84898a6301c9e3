/** Ranges of row numbers in the form that the table `ended` stores. */
interface IdRanges {
  /** The highest row number in the ranges, or null if the ranges contain no number. */
  readonly lastId: string | null;
  /** The row numbers as a multirange of Postgres, or null if the ranges contain no number. */
  readonly numbers: string | null;
}

export function idRangesOf(ids: readonly bigint[]): IdRanges {
  if (ids.length === 0) return { lastId: null, numbers: null };
  const sorted = BigInt64Array.from(ids).sort();
  const ranges: string[] = [];
  let first = sorted[0]!;
  let last = first;
  for (const id of sorted) {
    if (id > last + 1n) {
      ranges.push(`[${first},${last}]`);
      first = id;
    }
    last = id;
  }
  ranges.push(`[${first},${last}]`);
  return { lastId: last.toString(), numbers: `{${ranges.join()}}` };
}
