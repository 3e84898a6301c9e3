import { assert, asyncProperty, constantFrom, integer, string, tuple } from 'fast-check';
import { fanOutCount, fanOutItems, fanOutQuery, type QueryClient } from '../../../../../lib/core';
import { indexConfig } from '../../../../support/index-config';
import { randomRuns } from '../../../../support/random-runs';

const ENTRY_POINTS = {
  fanOutQuery,
  fanOutCount,
  fanOutItems: (...args: Parameters<typeof fanOutItems>) => fanOutItems(...args).next(),
};

/** The list of partition keys that the guide to tenants shows for a condition on `dynamodb:LeadingKeys`. */
const listOf = (tenant: string, shards: number): string[] =>
  Array.from({ length: shards }, (_, shard) => `${tenant}#${shard}`);

const tenant = string({ unit: constantFrom('a', 'b', '#', '0', '1', '*', '?', 'é'), minLength: 1, maxLength: 5 });
const shardCount = integer({ min: 1, max: 12 });

test('a list of the partition keys of a tenant contains the keys of each of its queries, and no key of another tenant', async () => {
  await assert(
    asyncProperty(
      constantFrom(...Object.values(ENTRY_POINTS)),
      tuple(tenant, shardCount),
      tuple(tenant, shardCount),
      async (read, [own, shards], [other, shardsOfOther]) => {
        const keys: string[] = [];
        const client: QueryClient = {
          async query({ KeyConditionExpression, ExpressionAttributeNames: names, ExpressionAttributeValues: values }) {
            const [name, placeholder] = KeyConditionExpression.split(' = ') as [string, string];
            expect(names[name]).toBe('shard');
            keys.push(values[placeholder].S);
            return { Items: [], Count: 0, ScannedCount: 0 };
          },
        };
        const config = indexConfig({
          keyLayout: 'single-attribute',
          shards: { default: { write: 1, read: shards } },
        });
        await read(client, config, { value: own });
        expect(new Set(keys)).toEqual(new Set(listOf(own, shards)));
        if (other !== own) expect(keys.filter((key) => listOf(other, shardsOfOther).includes(key))).toEqual([]);
      },
    ),
    { numRuns: randomRuns(100), seed: 11 },
  );
});
