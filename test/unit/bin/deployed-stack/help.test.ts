import { put } from '../../../../bin/put';
import { query } from '../../../../bin/query';
import { tail } from '../../../../bin/tail';
import { printed } from '../../../support/command';

/** What a person reads who asks how a command is used. */
test.each([
  ['query', query],
  ['put', put],
  ['tail', tail],
])('even-shards %s says how it is used', async (_, command) => {
  const help = await printed(command, '--help');
  expect(help).toMatchSnapshot();
  for (const line of help.split('\n')) expect(line.length).toBeLessThanOrEqual(140);
});
