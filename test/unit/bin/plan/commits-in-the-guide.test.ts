import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { plan } from '../../../../bin/plan';
import { printed } from '../../../support/command';
import { commitArguments, fenced } from '../../../support/tables/commit-commands';

const commits = join(__dirname, '../../../../../shared/data/commits.ndjson.gz');
const guide = readFileSync(join(__dirname, '../../../../docs/guides/planning.md'), 'utf8');

(existsSync(commits) ? test : test.skip)(
  'the planning guide shows the plan of the commits',
  async () => {
    const output = await printed(plan, ...commitArguments(commits));
    expect(guide).toContain(fenced(output));
  },
  60_000,
);
