/**
 * The consumed capacity units in a response of DynamoDB, of one table or of several tables. Undefined if the response does not
 * report the units as numbers.
 */
export function consumedUnits(response: unknown): number | undefined {
  const { ConsumedCapacity }: { ConsumedCapacity?: unknown } = Object(response);
  const tables: unknown[] = Array.isArray(ConsumedCapacity) ? ConsumedCapacity : [ConsumedCapacity];
  const units: unknown[] = tables.map((table) => Object(table).CapacityUnits);
  const isNumber = (each: unknown): each is number => typeof each === 'number' && each >= 0 && each < Infinity;
  return units.every(isNumber) ? units.reduce((sum, each) => sum + each, 0) : undefined;
}
