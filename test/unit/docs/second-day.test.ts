import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..', '..');
const page = readFileSync(join(ROOT, 'docs/guides/second-day.md'), 'utf8');

test('the guide second-day.md lists exactly the findings of the deployment check', () => {
  const sources = ['lib/deployment-check', 'bin/check'].flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((file) => readFileSync(join(ROOT, folder, file), 'utf8')),
  );
  const ids = sources.flatMap((text) => [...text.matchAll(/'(Deployment\.\w+)'/g)].map(([, id]) => id!));
  const parts = ['Deployment.indexKeySchema', 'Deployment.indexProjection'];
  const decreased = ['Deployment.retentionLowered', 'Deployment.recordSizeLowered'];
  const listed = [...page.matchAll(/`(Deployment\.\w+)`/g)].map(([, id]) => id!);
  expect([...new Set(listed)].sort()).toEqual([...new Set([...ids, ...parts, ...decreased])].sort());
});

test('the guide second-day.md lists exactly the diagnoses of the doctor command', () => {
  const source = ['diagnose.ts', 'throttling.ts', 'adoption.ts']
    .map((file) => readFileSync(join(ROOT, 'bin/doctor', file), 'utf8'))
    .join('\n');
  const given = /say\(\s*'(\w+)',|\bid(?: =|:) '(\w+)'/g;
  const ids = [...source.matchAll(given)].map(([, first, second]) => first ?? second!);
  const [, section = ''] = page.split('## What is wrong');
  const listed = [...section.matchAll(/^\| `\w+` \| (.*) \|$/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`(\w+)`[:,]/g)].map(([, id]) => id!),
  );
  expect([...new Set(listed)].sort()).toEqual([...new Set(ids)].sort());
});
