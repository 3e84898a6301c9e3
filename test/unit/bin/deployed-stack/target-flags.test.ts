import { doctor } from '../../../../bin/doctor';
import { put } from '../../../../bin/put';
import { query } from '../../../../bin/query';
import { tail } from '../../../../bin/tail';
import { synthesizeDeployment } from '../../../support/stacks/deployments';

describe('the flags of a deployed stack', () => {
  test.each<[string, (args: string[]) => Promise<void>, string[]]>([
    ['doctor', doctor, []],
    ['put', put, ['Table', '--item', '{}']],
    ['query', query, []],
    ['tail', tail, []],
  ])('%s rejects --stack together with --app, and says that these flags exclude each other', async (_, run, args) => {
    await expect(run([...args, '--stack', 'Orders', '--app', 'cdk.out'])).rejects.toMatchObject({
      code: 'USAGE',
      problem: expect.stringMatching(/^give either --stack or --app, not both: see/),
    });
  });

  test('tail – with --app and without an endpoint – prints nothing before its usage error', async () => {
    const printed = jest.spyOn(console, 'error').mockImplementation(() => {});
    await expect(tail(['--app', synthesizeDeployment()])).rejects.toThrow(
      '--app needs --kinesis-endpoint, as the local run has printed it',
    );
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
  });
});
