import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICE_SHARD_LIMITS } from '../../../lib/testing';
import { hotKeyRows } from '../../support/tables/producer/hot-key';

const guide = readFileSync(join(__dirname, '../../../docs/guides/ordered-producer.md'), 'utf8');

test('the table of one hot key is what `npm run bench producer hot-key` writes: its time is simulated', async () => {
  const block = guide.split('<!-- begin: npm run bench producer hot-key -->')[1]!.split('<!-- end -->')[0]!;
  const [, , ...rows] = block.trim().split('\n');
  expect(rows).toEqual((await hotKeyRows(SERVICE_SHARD_LIMITS)).map((cells) => `| ${cells.join(' | ')} |`));
}, 60_000);
