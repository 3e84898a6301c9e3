import { assert, asyncProperty, boolean, constantFrom, integer, record, string } from 'fast-check';
import { fanOutCount, fanOutItems, fanOutQuery, type IndexQueryInput, type QueryClient } from '../../../../../lib/core';
import { indexConfig } from '../../../../support/index-config';
import { randomRuns } from '../../../../support/random-runs';

/**
 * Models two IAM conditions on the partition keys of a request. It is not compared with IAM, which has no
 * emulator. Source: the IAM user guide, "Multivalued context keys": `ForAllValues` holds if each key of the request
 * matches.
 */
const CONDITIONS = {
  StringEquals: (pattern: string, key: string) => pattern === key,
  StringLike: (pattern: string, key: string) =>
    new RegExp(
      `^${pattern
        .replace(/[.+^${}()|[\]\\]/g, '\\$&')
        .replaceAll('*', '[^]*')
        .replaceAll('?', '[^]')}$`,
    ).test(key),
};

function isAllowed(operator: keyof typeof CONDITIONS, patterns: readonly string[], keys: readonly string[]): boolean {
  return keys.length > 0 && keys.every((key) => patterns.some((pattern) => CONDITIONS[operator](pattern, key)));
}

const config = (read: number) =>
  indexConfig({ keyLayout: 'single-attribute', shards: { default: { write: 1, read } }, strategy: 'calculated' });

/** The list of partition keys that the guide to tenants shows for an IAM policy. */
const listOf = (tenant: string, mostShards: number): string[] =>
  Array.from({ length: mostShards }, (_, shard) => `${tenant}#${shard}`);

/** The partition keys that an entry point queries for a value, in descending order if `descending`. */
async function keysOf(value: string, read: number, entryPoint: string, descending: boolean): Promise<string[]> {
  const keys: string[] = [];
  const client: QueryClient = {
    async query({ KeyConditionExpression, ExpressionAttributeNames, ExpressionAttributeValues }: IndexQueryInput) {
      const [name, placeholder] = KeyConditionExpression.split(' = ') as [string, string];
      expect(ExpressionAttributeNames[name]).toBe('shard');
      keys.push(ExpressionAttributeValues[placeholder].S);
      return { Items: [], Count: 0, ScannedCount: 0 };
    },
  };
  const order = descending ? 'descending' : 'ascending';
  if (entryPoint === 'fanOutCount') await fanOutCount(client, config(read), { value });
  else if (entryPoint === 'fanOutItems') await fanOutItems(client, config(read), { value }).next();
  else await fanOutQuery(client, config(read), { value, order, limit: 5 });
  return keys;
}

const tenants = string({ unit: constantFrom('a', 'b', '#', '0', '1', '*', '?', 'é'), minLength: 1, maxLength: 5 });
const axes = record({
  tenant: tenants,
  other: tenants,
  read: integer({ min: 1, max: 12 }),
  growth: integer({ min: 0, max: 12 }),
  descending: boolean(),
  entryPoint: constantFrom('fanOutQuery', 'fanOutItems', 'fanOutCount'),
});

describe('an IAM condition with the partition keys of a tenant', () => {
  test('allows each query of the tenant up to the listed shard count, and no query of any other tenant', async () => {
    await assert(
      asyncProperty(axes, async ({ tenant, other, read, growth, descending, entryPoint }) => {
        const list = listOf(tenant, read + growth);
        const own = await keysOf(tenant, read, entryPoint, descending);
        expect(new Set(own)).toEqual(new Set(listOf(tenant, read)));
        expect(isAllowed('StringEquals', list, own)).toBe(true);
        if (other === tenant) return;
        for (const key of await keysOf(other, read, entryPoint, descending)) {
          expect(isAllowed('StringEquals', list, [key])).toBe(false);
        }
      }),
      { numRuns: randomRuns(100), seed: 11 },
    );
  });

  test('does not allow a query of a shard above the listed count', async () => {
    const own = await keysOf('a', 5, 'fanOutQuery', false);
    expect(isAllowed('StringEquals', listOf('a', 4), own)).toBe(false);
  });

  test('with a wildcard, also allows a tenant whose name starts with the name of the tenant and the separator', async () => {
    const other = await keysOf('a#b', 3, 'fanOutQuery', false);
    expect(isAllowed('StringLike', ['a#*'], other)).toBe(true);
  });
});
