import { join } from 'node:path';
import { check } from '../../../bin/check';
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
 * Runs `check`, `doctor`, `put`, `query` and `tail` against an account of moto, to which the real command line of the
 * CDK has deployed a stack. Part of `npm run conformance deploy`.
 */

const describeIf = describeWhere(fetchEmulator(), PYTHON_NEEDED);

describeIf('the commands for a deployed stack', () => {
  const account = accountForTests();
  let where: string[];

  const synthesized = (name: string, shardCount: number, byCustomer = false) =>
    synthesizeOrdersApp({ outdir: join(account.folder, name), shardCount, byCustomer });

  beforeAll(async () => {
    jest.spyOn(console, 'error').mockImplementation(() => {});
    await account.deploy('Orders', synthesized('deployed', 2));
    where = ['--stack', 'Orders', '--endpoint', account.endpoint];
  }, 5 * MINUTES);
  afterEach(() => {
    process.exitCode = undefined;
  });

  const checked = (app: string) => printed(check, '--account', '--app', app, '--endpoint', account.endpoint);

  test('check reports no finding for the deployed app, and reports the changed shard count of a changed app', async () => {
    expect(await checked(join(account.folder, 'deployed'))).toBe('nothing to look out for; 1 of 1 stack is deployed');
    expect(process.exitCode).toBe(0);
    expect(await checked(synthesized('next', 16, true))).toMatch(/ShardCount would change from 2 to 16/);
    expect(process.exitCode).toBe(1);
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

  test('query --permissions prints the IAM policy that query needs, including permission to read the stack', async () => {
    const { Statement } = JSON.parse(await printed(query, 'by-status', '--permissions', ...where));
    expect(Statement[0]).toEqual({
      Effect: 'Allow',
      Action: ['cloudformation:GetTemplate', 'cloudformation:ListStackResources'],
      Resource: ['arn:aws:cloudformation:*:*:stack/Orders/*'],
    });
  });
});
