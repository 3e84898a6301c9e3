import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICE_SHARD_LIMITS } from '../../../lib/testing';
import { hotKeyRows } from '../../support/tables/producer/hot-key';

const decision = readFileSync(
  join(__dirname, '../../../docs/decisions/0002-one-batch-entry-in-flight-per-partition-key.md'),
  'utf8',
);

test('decision 0002 shows the throughput of one key that `npm run bench producer hot-key` computes', async () => {
  const block = decision.split('<!-- begin: npm run bench producer hot-key -->')[1]!.split('<!-- end -->')[0]!;
  const [, , ...rows] = block.trim().split('\n');
  expect(rows).toEqual((await hotKeyRows(SERVICE_SHARD_LIMITS)).map((cells) => `| ${cells.join(' | ')} |`));
}, 60_000);
