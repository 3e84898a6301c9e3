import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The guide of the second day names what the sources can say. */

const ROOT = join(__dirname, '..', '..', '..');
const page = readFileSync(join(ROOT, 'docs/guides/second-day.md'), 'utf8');

test('has a row for each finding of a deployment, and for no other', () => {
  const sources = ['lib/deployment-check', 'bin/check'].flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((file) => readFileSync(join(ROOT, folder, file), 'utf8')),
  );
  const ids = sources.flatMap((text) => [...text.matchAll(/'(Deployment\.\w+)'/g)].map(([, id]) => id!));
  const parts = ['Deployment.indexKeySchema', 'Deployment.indexProjection'];
  const lowered = ['Deployment.retentionLowered', 'Deployment.recordSizeLowered'];
  const told = [...page.matchAll(/`(Deployment\.\w+)`/g)].map(([, id]) => id!);
  expect([...new Set(told)].sort()).toEqual([...new Set([...ids, ...parts, ...lowered])].sort());
});

test('has each diagnosis of the doctor, and no other', () => {
  const source = ['diagnose.ts', 'throttling.ts']
    .map((file) => readFileSync(join(ROOT, 'bin/doctor', file), 'utf8'))
    .join('\n');
  const given = /say\(\s*'(\w+)',|\bid(?: =|:) '(\w+)'/g;
  const ids = [...source.matchAll(given)].map(([, said, id]) => said ?? id!);
  const [, section = ''] = page.split('## What is wrong');
  const told = [...section.matchAll(/^\| `\w+` \| (.*) \|$/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`(\w+)`[:,]/g)].map(([, id]) => id!),
  );
  expect([...new Set(told)].sort()).toEqual([...new Set(ids)].sort());
});
