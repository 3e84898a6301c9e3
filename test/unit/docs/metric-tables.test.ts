import { readFileSync } from 'node:fs';
import { metricTables } from '../../../scripts/metrics/tables';

test('the tables of metrics in the guide to monitoring are those of the definitions: npm run docs:metrics writes them', () => {
  const guide = readFileSync('docs/guides/monitoring.md', 'utf8');
  const block = guide.split('<!-- begin: npm run docs:metrics -->')[1]!.split('<!-- end -->')[0]!;
  expect(block.trim()).toBe(metricTables());
});
