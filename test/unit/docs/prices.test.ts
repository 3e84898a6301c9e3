import { readFileSync } from 'node:fs';
import { LIST_PRICES } from '../../../lib/core/planning';

/** Compares the prices in the guide to planning with the prices that the planner uses. */

const guide = readFileSync('docs/guides/planning.md', 'utf8');
const rowOf = (service: string) => guide.split('\n').find((line) => line.startsWith(`| [${service}]`))!;

test('the price table in the guide to planning has the prices and the date of LIST_PRICES', () => {
  const { asOf, shardHour, millionPutPayloadUnits, consumerShardHour, fanOutGigabyte, ...units } = LIST_PRICES;
  const kinesis = rowOf('Kinesis, provisioned');
  expect(kinesis).toContain(`$${shardHour} a shard and hour, $${millionPutPayloadUnits} a million payload units`);
  expect(kinesis).toContain(
    `enhanced fan-out $${consumerShardHour} a consumer, shard and hour, and $${fanOutGigabyte} a GB`,
  );
  expect(rowOf('DynamoDB, on demand')).toContain(
    `$${units.millionWriteUnits} a million write units, $${units.millionReadUnits} a million read units`,
  );
  expect(guide).toContain(`prices of ${asOf})`);
  const [region, year] = asOf.split(', ');
  expect(guide).toContain(`for ${region}:`);
  expect(kinesis).toContain(`| ${year}; `);
});
