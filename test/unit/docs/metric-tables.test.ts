import { readFileSync } from 'node:fs';
import { metricTables } from '../../../scripts/metrics/tables';

test('the guide metrics.md has the tables that npm run docs:metrics prints', () => {
  const guide = readFileSync('docs/guides/metrics.md', 'utf8');
  const block = guide.split('<!-- begin: npm run docs:metrics -->')[1]!.split('<!-- end -->')[0]!;
  expect(block.trim()).toBe(metricTables());
});
