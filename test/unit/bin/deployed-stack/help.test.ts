import { put } from '../../../../bin/put';
import { query } from '../../../../bin/query';
import { tail } from '../../../../bin/tail';
import { printed } from '../../../support/command';

/** Tests the help texts of the commands. */
test.each([
  ['query', query],
  ['put', put],
  ['tail', tail],
])('even-shards %s --help prints the usage', async (_, command) => {
  const help = await printed(command, '--help');
  expect(help).toMatchSnapshot();
  for (const line of help.split('\n')) expect(line.length).toBeLessThanOrEqual(140);
});
