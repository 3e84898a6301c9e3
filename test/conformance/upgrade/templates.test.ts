import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { templates as reasons } from '../../../release/breaks.json';
import { policiesOf } from './permissions';
import { synthesized, templatesIn } from './synthesized';
import type { Resource, Template } from './template';
import { upgradeFindings } from './upgrade-findings';

/**
 * Synthesizes the same stacks with the last release and with the working tree, and searches the two templates for harm to
 * deployed stacks: `npm run conformance upgrade templates`.
 */

const LAST = process.env.LAST_RELEASE!;
const CURRENT = process.env.CURRENT_PACKAGE!;

let folder: string;
let before: Map<string, Template>;
let after: Map<string, Template>;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'upgrade-')));
  for (const version of ['last', 'current']) mkdirSync(join(folder, version));
  before = templatesIn(await synthesized(LAST, join(folder, 'last')));
  after = templatesIn(await synthesized(CURRENT, join(folder, 'current')));
}, 120_000);

test('the stacks contain every construct of the last release', () => {
  const { types } = JSON.parse(readFileSync(join(LAST, '.jsii'), 'utf8'));
  const isConstruct = (fqn: string | undefined): boolean =>
    fqn !== undefined && (/^(aws-cdk-lib\.Resource|constructs\.Construct)$/.test(fqn) || isConstruct(types[fqn]?.base));
  const constructs = Object.values<{ fqn: string; kind: string; abstract?: boolean }>(types)
    .filter(({ fqn, kind, abstract }) => kind === 'class' && !abstract && isConstruct(fqn))
    .map(({ fqn }) => fqn);
  const trees = ['app', 'stacks']
    .map((name) => readFileSync(join(folder, 'current', name, 'tree.json'), 'utf8'))
    .join();
  expect(constructs.length).toBeGreaterThan(10);
  expect(constructs.filter((fqn) => !trees.includes(`"${fqn}"`))).toEqual([]);
});

test('an upgrade from the last release has no harmful difference except the differences with a reason', () => {
  const findings = [...before].flatMap(([stack, template]) => {
    const next = after.get(stack);
    return next === undefined
      ? [`${stack}: the stack is gone`]
      : upgradeFindings(template, next).map((text) => `${stack}/${text}`);
  });
  expect(findings.sort()).toEqual(Object.keys(reasons).sort());
});

test('even-shards check has only notices about the upgrade', () => {
  const found = ['app', 'stacks'].flatMap((assembly) => {
    const [deployed, app] = ['last', 'current'].map((version) => join(folder, version, assembly));
    const command = [
      join(CURRENT, 'dist/bin/even-shards.js'),
      'check',
      '--deployed',
      deployed!,
      '--app',
      app!,
      '--json',
    ];
    const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
    expect({ status: [0, 5].includes(status!), stderr }).toEqual({ status: true, stderr: '' });
    const report: { deployed: string[]; findings: { step: string; text: string }[] } = JSON.parse(stdout);
    expect(report.deployed).not.toEqual([]);
    return report.findings.filter(({ step }) => step !== 'know');
  });
  expect(found).toEqual([]);
});

describe('a planted difference is found', () => {
  type Resources = Record<string, Resource>;
  const idOf = (resources: Resources, type: string, word = '') =>
    Object.keys(resources).find((id) => resources[id]!.Type === type && id.includes(word))!;
  const jobs = (resources: Resources) => resources[idOf(resources, 'AWS::DynamoDB::GlobalTable', 'Jobs')]!;

  test.each<[string, (resources: Resources) => void, RegExp[], string?]>([
    ['no difference', () => {}, []],
    [
      'another name of a stream, which also replaces the event source mappings and policies',
      (resources) => {
        resources[idOf(resources, 'AWS::Kinesis::Stream')]!.Properties!.Name = 'renamed';
      },
      [
        /^Events\w*: another Name replaces AWS::Kinesis::Stream$/,
        /^Consumer\w*: another EventSourceArn replaces AWS::Lambda::EventSourceMapping$/,
      ],
    ],
    [
      'another key of a table',
      (resources) => {
        jobs(resources).Properties!.KeySchema = [{ AttributeName: 'id', KeyType: 'HASH' }];
      },
      [/^Jobs\w*: another KeySchema replaces AWS::DynamoDB::GlobalTable$/],
    ],
    [
      'a table that is deleted with its stack',
      (resources) => {
        jobs(resources).DeletionPolicy = 'Delete';
      },
      [/^Jobs\w*: DeletionPolicy was Retain, and is Delete$/],
    ],
    [
      'a role without an action',
      (resources) => {
        const policy = resources[idOf(resources, 'AWS::IAM::Policy', 'Producer')]!;
        const { Statement } = policy.Properties!.PolicyDocument as { Statement: { Action: string | string[] }[] };
        const statement = Statement.find(({ Action }) => [Action].flat().includes('kinesis:PutRecords'))!;
        statement.Action = [statement.Action].flat().filter((action) => action !== 'kinesis:PutRecords');
      },
      [/^Producer\w*: the role loses kinesis:PutRecords on /],
    ],
    [
      'a function that CloudFormation may update before its policy',
      (resources) => {
        const producer = resources[idOf(resources, 'AWS::Lambda::Function', 'Producer')]!;
        const late = policiesOf({ Resources: resources }, idOf(resources, 'AWS::IAM::Role', 'Producer'));
        producer.DependsOn = [producer.DependsOn ?? []].flat().filter((each) => !late.includes(each));
      },
      [/^Producer\w*: CloudFormation may update it before its policy Producer/],
    ],
    [
      'a function without an environment variable',
      (resources) => {
        const { Environment } = resources[idOf(resources, 'AWS::Lambda::Function', 'Query')]!.Properties!;
        const { Variables } = Environment as { Variables: Record<string, unknown> };
        delete Variables[Object.keys(Variables)[0]!];
      },
      [/^Query\w*: the variable \w+ is gone$/],
    ],
    [
      'another metric of an alarm',
      (resources) => {
        const alarm = Object.values(resources).find(({ Properties }) => Properties?.MetricName)!;
        alarm.Properties!.MetricName = 'Renamed';
      },
      [/^\w+: MetricName of AWS::CloudWatch::Alarm changes$/],
      'Watched',
    ],
  ])('%s', (_, change, findings, stack = 'EvenShards') => {
    const planted = structuredClone(before.get(stack)!);
    change(planted.Resources);
    const found = upgradeFindings(before.get(stack)!, planted);
    expect(found).toEqual(findings.map((finding) => expect.stringMatching(finding)));
  });

  test('another logical id of a stream', () => {
    const planted = structuredClone(before.get('EvenShards')!);
    const id = idOf(planted.Resources, 'AWS::Kinesis::Stream');
    planted.Resources.Renamed = planted.Resources[id]!;
    delete planted.Resources[id];
    expect(upgradeFindings(before.get('EvenShards')!, planted)).toContainEqual(
      expect.stringMatching(/^Events\w*: the logical id of AWS::Kinesis::Stream is gone$/),
    );
  });
});
