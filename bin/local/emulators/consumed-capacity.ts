import type { KeyLoad } from '../../../lib/testing/dynamodb-limits';
import type { JsonItem } from '../json-item';

/**
 * Adds the units of index writes to a consumed capacity, because dynalite counts only the table. Source: the API
 * reference, ConsumedCapacity.
 */
export function withIndexUnits(capacity: JsonItem, loads: readonly KeyLoad[], detail: string): JsonItem {
  const units: Record<string, { CapacityUnits: number }> = {};
  for (const { indexName, units: more } of loads) {
    if (indexName !== undefined) units[indexName] = { CapacityUnits: (units[indexName]?.CapacityUnits ?? 0) + more };
  }
  const all = Object.values(units).reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
  const isDetailed = detail === 'INDEXES' && all > 0;
  return {
    ...capacity,
    CapacityUnits: capacity.CapacityUnits + all,
    ...(isDetailed && { GlobalSecondaryIndexes: units }),
  };
}

/** The consumed capacity of each table in several responses. */
export function capacityByTable(capacities: readonly JsonItem[], times: number): JsonItem[] {
  const tables = new Map<string, JsonItem>();
  for (const { TableName, ...units } of capacities) {
    tables.set(TableName, { TableName, ...sum(tables.get(TableName) ?? {}, units, times) });
  }
  return [...tables.values()];
}

/** Adds the numbers of a nested object, each times a factor, to the same numbers of another object. */
function sum(to: JsonItem, more: JsonItem, times: number): JsonItem {
  const entries = Object.entries(more).map(([name, value]) => [
    name,
    typeof value === 'number' ? (to[name] ?? 0) + times * value : sum(to[name] ?? {}, value, times),
  ]);
  return { ...to, ...Object.fromEntries(entries) };
}
