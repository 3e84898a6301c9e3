import { join } from 'node:path';
import { doctor } from '../../../bin/doctor';
import { put } from '../../../bin/put';
import { query } from '../../../bin/query';
import { tail } from '../../../bin/tail';
import { printed } from '../../support/command';
import { describeWhere } from '../../support/describe-where';
import { PYTHON_NEEDED } from '../../support/fetched';
import { accountForTests, fetchEmulator, MINUTES } from './account';
import { synthesizeOrdersApp } from './orders-app';

/**
 * Runs `put`, `query` and `tail` against an account of moto, to which the real command line of the CDK has deployed a
 * stack. Part of `npm run conformance deploy`.
 */

const describeIf = describeWhere(fetchEmulator(), PYTHON_NEEDED);

describeIf('the commands for a deployed stack', () => {
  const account = accountForTests();
  let where: string[];

  beforeAll(async () => {
    jest.spyOn(console, 'error').mockImplementation(() => {});
    await account.deploy('Orders', synthesizeOrdersApp({ outdir: join(account.folder, 'deployed'), shardCount: 2 }));
    where = ['--stack', 'Orders', '--endpoint', account.endpoint];
  }, 5 * MINUTES);
  afterEach(() => {
    process.exitCode = undefined;
  });

  test('put finds a table by the name of an output, and query finds an index by its name', async () => {
    for (const [orderId, createdAt] of [
      ['b', '2026-02'],
      ['a', '2026-01'],
      ['c', '2026-03'],
    ]) {
      await printed(put, 'TableName', '--item', JSON.stringify({ orderId, status: 'open', createdAt }), ...where);
    }
    const text = await printed(query, 'by-status', '--value', 'open', '--json', ...where);
    expect(text.split('\n').map((line) => JSON.parse(line).orderId)).toEqual(['a', 'b', 'c']);
  });

  test('put and tail keep the order of each key', async () => {
    for (const n of [1, 2, 3]) {
      const item = JSON.stringify({ account: 'one', n });
      await printed(put, 'StreamName', '--item', item, '--partition-key', 'account', ...where);
    }
    const text = await printed(tail, '--from-start', '--once', '--json', ...where);
    expect(text.split('\n').map((line) => JSON.parse(JSON.parse(line).data).n)).toEqual([1, 2, 3]);
  });

  test('query, tail and doctor reject a stack that does not exist', async () => {
    const nowhere = ['--stack', 'Nobody', '--endpoint', account.endpoint];
    for (const command of [query, tail, doctor]) {
      await expect(printed(command, ...nowhere)).rejects.toThrow('there is no stack Nobody in the account');
    }
  });
});
