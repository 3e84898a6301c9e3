import { cpSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { check, exitCodeOf } from '../../../../bin/check';
import { ShardCounts } from '../../../../lib';
import { type Effect, finding, type Step } from '../../../../lib/deployment-check/finding';
import { printed } from '../../../support/command';
import { type Deployment, synthesizeDeployment } from '../../../support/stacks/deployments';

/** Compares pairs of assemblies. The snapshots show the output of the command. */
describe('even-shards check', () => {
  afterEach(() => {
    process.exitCode = undefined;
  });

  const checked = (deployed: Deployment, coming: Deployment, ...args: string[]): Promise<string> => {
    const [before, next] = [synthesizeDeployment(deployed), synthesizeDeployment(coming)];
    return printed(check, '--deployed', before, '--app', next, ...args);
  };

  test('reports no finding without a change, and ends with 0', async () => {
    expect(await checked({}, {})).toMatchSnapshot();
    expect(process.exitCode).toBe(0);
  });

  test.each<[string, number, Deployment, Deployment]>([
    [
      'two indexes in one deployment, and counts that skip a step',
      4,
      {},
      { indexes: ['byStatus', 'byCustomer', 'byShop'], indexShards: ShardCounts.uniform(8) },
    ],
    ['a construct with another id', 4, { tableId: 'Table' }, { tableId: 'Orders' }],
    [
      'a stream that grows eightfold, with other hash buckets and a shorter retention',
      4,
      { shardCount: 2 },
      { shardCount: 16, hashBuckets: 512, retentionHours: 24 },
    ],
    [
      'an index that is removed with the function of another stack that reads it',
      4,
      { indexes: ['byStatus', 'byCustomer'], queryInOtherStack: true },
      { indexes: ['byStatus'], queryInOtherStack: true },
    ],
    [
      'other types of keys, another time to live, and a table with a name that gets another key',
      1,
      { tableName: 'orders', timeToLiveAttribute: 'expires' },
      {
        tableName: 'orders',
        tableKey: { name: 'order', type: AttributeType.NUMBER },
        valueType: AttributeType.NUMBER,
        timeToLiveAttribute: 'expiresAt',
      },
    ],
  ])('reports the effects of a deployment: %s (exit code %d)', async (_, exitCode, deployed, coming) => {
    expect(await checked(deployed, coming)).toMatchSnapshot();
    expect(process.exitCode).toBe(exitCode);
  });

  test.each<[Effect, Step, number]>([
    ['refused', 'know', 1],
    ['left', 'prepare', 5],
    ['uneven', 'revise', 5],
    ['missed', 'know', 5],
    ...(['deleted', 'replaced', 'lost', 'missed', 'reordered', 'failing', 'exposed'] as const).map(
      (effect): [Effect, Step, number] => [effect, 'prepare', 4],
    ),
  ])('a finding with the effect %s and the step %s has the exit code %d', (effect, step, code) => {
    const location = { stack: 'A', logicalId: 'B' };
    const findings = (['left', 'refused', 'lost'] as const).map((each) => finding(location, '', each, 'prepare', ''));
    const all = [finding(location, '', effect, step, ''), ...findings];
    // The findings with 5, with 1 or 5, and with any code.
    const [alone, withNotice, withRefused, withHarm] = [1, 2, 3, 4].map((count) => exitCodeOf(all.slice(0, count)));
    const isHarm = code === 4;
    expect([alone, withNotice, withRefused, withHarm]).toEqual([code, code, isHarm ? 4 : 1, 4]);
    expect(exitCodeOf([])).toBe(0);
  });

  test('--acknowledge leaves out a finding', async () => {
    const [deployed, coming] = [{}, { retentionHours: 24 }];
    expect(await checked(deployed, coming)).toContain('Deployment.retentionLowered');
    process.exitCode = undefined;
    const acknowledged = ['--acknowledge', 'Deployment.retentionLowered'];
    expect(await checked(deployed, coming, ...acknowledged)).toMatch(/^nothing to look out for/);
    expect(process.exitCode).toBe(0);
  });

  test('--json prints the findings as JSON', async () => {
    const { findings, ...stacks } = JSON.parse(
      await checked({}, { retentionHours: 24, queryInOtherStack: true }, '--json'),
    );
    expect(stacks).toEqual({
      deployed: [expect.stringMatching(/^ShopOrders/)],
      new: [expect.stringMatching(/^ShopReports/)],
      notCompared: [],
    });
    expect(findings).toContainEqual({
      step: 'prepare',
      effect: 'lost',
      path: 'Shop/Orders/Events',
      stack: expect.stringMatching(/^ShopOrders/),
      logicalId: expect.stringMatching(/^Events/),
      id: 'cdk-even-shards:Deployment.retentionLowered',
      text: expect.stringContaining('Kinesis deletes records that are older than 24 hours'),
    });
  });

  test('--deployed accepts a folder with one template file for each stack, named after the stack', async () => {
    const deployed = synthesizeDeployment();
    const coming = synthesizeDeployment({ tableId: 'Orders' });
    const fetched = mkdtempSync(join(tmpdir(), 'fetched-'));
    const folder = join(deployed, 'assembly-Shop');
    const template = readdirSync(folder).find((file) => /^ShopOrders.*template.json$/.test(file))!;
    cpSync(join(folder, template), join(fetched, 'Shop-Orders.template.json'));
    expect(await printed(check, '--deployed', fetched, '--app', coming)).toContain('Deployment.renamed');
  });

  test('--deployed accepts a template inside a JSON string, and names the parts that it cannot compare, and rejects a file that is not a template', async () => {
    const coming = synthesizeDeployment({ tableId: 'Orders' });
    const fetched = mkdtempSync(join(tmpdir(), 'fetched-'));
    const file = join(fetched, 'Shop-Orders.template.json');
    const run = () => printed(check, '--deployed', fetched, '--app', coming);
    writeFileSync(file, JSON.stringify(JSON.stringify({ Resources: {} })));
    expect(await run()).toMatch(/^nothing to look out for; 1 of 1 stack is deployed/);
    writeFileSync(file, JSON.stringify({ Resources: { A: null, 'Fn::ForEach::Topics': [] } }));
    expect(await run()).toContain('not compared: Shop-Orders/A (Resources), it must be an object, got null');
    expect(await run()).toContain('Fn::ForEach::Topics (Resources), only CloudFormation expands Fn::ForEach');
    for (const wrong of ['Resources:', '7', '{"Resources":[]}']) {
      writeFileSync(file, wrong);
      await expect(run()).rejects.toThrow(/deployed must be a folder whose templates are JSON objects/);
    }
  });

  test.each<[string, string[], string]>([
    ['no source', [], 'give either --deployed or --account: see `even-shards check --help`'],
    ['two sources', ['--deployed', '.', '--account'], 'give either --deployed or --account'],
    [
      'an endpoint without the account',
      ['--deployed', '.', '--endpoint', 'http://127.0.0.1:1'],
      '--endpoint needs --account',
    ],
  ])('rejects %s', async (_, args, message) => {
    await expect(check(args)).rejects.toThrow(message);
  });

  test('rejects folders without an assembly', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'empty-'));
    mkdirSync(join(empty, 'app'));
    await expect(check(['--deployed', empty, '--app', join(empty, 'app')])).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    await expect(check(['--deployed', join(empty, 'nowhere'), '--app', empty])).rejects.toMatchObject({
      code: 'USAGE',
    });
  });

  test.each<[string, (folder: string) => void]>([
    ['an empty folder', () => {}],
    [
      'a folder with the templates of another app',
      (folder) => writeFileSync(join(folder, 'Other.template.json'), '{"Resources":{}}'),
    ],
  ])('rejects %s as deployed templates, because every stack would look new', async (_, fill) => {
    const coming = synthesizeDeployment();
    const folder = mkdtempSync(join(tmpdir(), 'no-templates-'));
    fill(folder);
    await expect(check(['--deployed', folder, '--app', coming])).rejects.toMatchObject({
      code: 'USAGE',
      problem: expect.stringMatching(
        /^--deployed must be a folder with the template of a stack of .*, such as Shop-Orders.template.json, got "/,
      ),
    });
  });

  test('--help prints the usage', async () => {
    expect(await printed(check, '--help')).toMatchSnapshot();
  });
});
