import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FINDINGS, WEIGHTS, type Weight } from '../../../bin/doctor/findings';

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

test('the guide second-day.md has the table of the findings of the doctor command', () => {
  const [, section = ''] = page.split('## What is wrong');
  const listed = [...section.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, weight, cell]) => [weight, cell]);
  const rows = WEIGHTS.map((weight) => {
    const meanings = Object.entries<Partial<Record<Weight, string>>>(FINDINGS).flatMap(([id, { [weight]: meaning }]) =>
      meaning === undefined ? [] : [`\`${id}\`: ${meaning}`],
    );
    return [weight, meanings.join('<br>')];
  });
  expect(listed).toEqual(rows);
});
