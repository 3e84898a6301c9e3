import { shardCountOf } from '../../../lib/core/sharded-index/config/sharded-index-config';
import { compareAttributeValues } from '../../../lib/core/sharded-index/query/attribute-order';
import { SampleFailedError } from '../../invalid-input-error';
import { textTable } from '../../text-table';
import type { KnownIndex } from '../producers-and-indexes';
import type { LocalStack } from '../run-local';
import { type PlainItem, writeItems } from '../write-items';
import { queryAll } from './query-pages';

/** An event in the form that is written to the table. */
export interface StoredEvent {
  id: string;
  value?: string;
  sort: string;
}

const PAGE_ITEMS = 1_000;
const PROGRESS_STEP = 5_000;

/**
 * Writes events to the table of an index. Then queries each value for the middle half of all sort keys, and compares
 * each result with the filtered and sorted input.
 */
export async function storeEvents(
  stack: LocalStack,
  index: KnownIndex,
  events: readonly StoredEvent[],
  print: (line: string) => void,
): Promise<void> {
  const { config } = index;
  const [id, sortKey] = [config.tableKey[0]!, config.sortKeyAttributes[0]!];
  const items = events.map((event): PlainItem => {
    const fill = [...config.tableKey, ...config.sortKeyAttributes].map((attribute) => [attribute, event.id]);
    const value = config.valueAttribute === undefined ? {} : { [config.valueAttribute]: event.value! };
    return { ...Object.fromEntries(fill), ...value, [id]: event.id, [sortKey]: event.sort };
  });
  await writeItems(stack, config.tableName, items, (written) => {
    if (written % PROGRESS_STEP === 0) print(`wrote ${written} of ${items.length} items`);
  });

  const sorted = [...events].sort((a, b) => compareAttributeValues({ S: a.sort }, { S: b.sort }));
  const between: [string, string] = [
    sorted[Math.floor(sorted.length / 4)]!.sort,
    sorted[Math.floor((sorted.length * 3) / 4)]!.sort,
  ];
  const inRange = sorted.filter(({ sort }) => isBetween(sort, between));
  const values = [...new Set(events.map(({ value }) => value))];
  const rows: (string | number)[][] = [];
  for (const value of values) {
    const request = { ...(value === undefined ? {} : { value }), sortKey: { between }, limit: PAGE_ITEMS };
    const answer = await queryAll(stack, index, request);
    const expected = inRange.filter((event) => event.value === value);
    checkAnswer(
      expected,
      answer.map((item) => ({ id: String(item[id]), sort: String(item[sortKey]) })),
      value,
    );
    rows.push([value ?? '(whole table)', answer.length, shardCountOf(config, value).read]);
  }

  print('');
  print(
    `${events.length} items in ${config.tableName}, queried through ${index.functionPath} from ${between.join(' to ')}`,
  );
  print('every query returned the filtered and sorted input');
  for (const line of textTable([config.valueAttribute ?? 'value', 'items', 'shards'], rows)) print(line);
}

function isBetween(sort: string, [from, to]: [string, string]): boolean {
  return compareAttributeValues({ S: sort }, { S: from }) >= 0 && compareAttributeValues({ S: sort }, { S: to }) <= 0;
}

/** Compares a result with the input. Events with the same sort key may have any order. */
function checkAnswer(
  expected: readonly StoredEvent[],
  answer: readonly StoredEvent[],
  value: string | undefined,
): void {
  const sorts = (events: readonly StoredEvent[]) => events.map(({ sort }) => sort).join();
  const ids = (events: readonly StoredEvent[]) =>
    events
      .map(({ id }) => id)
      .sort()
      .join();
  if (sorts(answer) !== sorts(expected) || ids(answer) !== ids(expected)) {
    throw new SampleFailedError(`the query for ${value ?? 'the whole table'} did not return the events of the input`);
  }
}
