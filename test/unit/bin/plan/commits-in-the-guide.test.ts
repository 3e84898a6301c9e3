import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { plan } from '../../../../bin/plan';
import { simulate } from '../../../../bin/simulate';
import { printed } from '../../../support/command';
import { COMMIT_COMMANDS, fenced } from '../../../support/tables/commit-commands';

const commits = join(__dirname, '../../../../../shared/data/commits.ndjson.gz');
const guide = readFileSync(join(__dirname, '../../../../docs/guides/planning.md'), 'utf8');

(existsSync(commits) ? test : test.skip).each(
  COMMIT_COMMANDS.map((each) => [each.args('FILE').join(' '), each] as const),
)(
  'the guide to planning shows what the commands print of the commits: %s',
  async (_, { command, args }) => {
    const output = await printed(command === 'plan' ? plan : simulate, ...args(commits));
    expect(guide).toContain(fenced({ command, args }, output));
  },
  60_000,
);
