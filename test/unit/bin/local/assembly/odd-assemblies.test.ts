// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders are Fn::Sub's
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCloudAssembly } from '../../../../../bin/local/assembly/cloud-assembly';
import { planDeployment } from '../../../../../bin/local/assembly/deployment-plan';
import { EvenShardsError } from '../../../../../lib/core';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

type Json = Record<string, unknown>;

const STACK = {
  type: 'aws:cloudformation:stack',
  properties: { templateFile: 'Stack.template.json' },
  dependencies: ['Assets'],
};
const ASSETS = { type: 'cdk:asset-manifest', properties: { file: 'Stack.assets.json' } };

/** An assembly with one stack. */
function assembly(template: unknown, { artifacts = {}, assets = { files: {} } as unknown } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'odd-assembly-'));
  folders.push(folder);
  const write = (file: string, json: unknown) =>
    writeFileSync(join(folder, file), typeof json === 'string' ? json : JSON.stringify(json));
  write('manifest.json', { artifacts: { Stack: STACK, Assets: ASSETS, ...artifacts } });
  write('Stack.assets.json', assets);
  write('Stack.template.json', template);
  return folder;
}

const plan = (folder: string) => planDeployment(readCloudAssembly(folder));
const stream = (properties: unknown, rest: object = {}) => ({
  Type: 'AWS::Kinesis::Stream',
  Properties: properties,
  ...rest,
});
const named = (name: unknown, more: Json = {}) => ({ Resources: { Stream: stream({ Name: name }) }, ...more });
describe('planDeployment rejects, with a typed error,', () => {
  test.each<[string, unknown]>([
    [
      'a condition on itself',
      named('a', {
        Conditions: { A: { Condition: 'B' }, B: { 'Fn::Not': [{ Condition: 'A' }] } },
        Resources: { Stream: stream({}, { Condition: 'A' }) },
      }),
    ],
    ['a name of itself', named({ Ref: 'Stream' })],
    [
      'an export of itself',
      named(
        { 'Fn::ImportValue': 'x' },
        {
          Outputs: { X: { Value: { 'Fn::ImportValue': 'x' }, Export: { Name: 'x' } } },
        },
      ),
    ],
    [
      '100,000 levels',
      `{"Resources":{"Stream":{"Type":"AWS::Kinesis::Stream","Properties":{"Name":${'{"Fn::If":["A",'.repeat(
        100_000,
      )}1${',2]}'.repeat(100_000)}}}}}`,
    ],
    ['no resources', { Resources: null }],
    ['a resource without a type', { Resources: { A: {} } }],
    ['a parameter that is null', { Parameters: { A: null } }],
    ['a billion shards', { Resources: { A: stream({ ShardCount: 1e9 }) } }],
    ['a table without a key', { Resources: { A: { Type: 'AWS::DynamoDB::Table', Properties: { KeySchema: 'x' } } } }],
    ['a name that is no text', { Resources: { A: stream({ Name: { toString: 'x', valueOf: 1 } }) } }],
    ['a template that is no JSON', '{'],
  ])('%s', (_, template) => {
    const folder = assembly(template);
    const failure = failureOf(() => plan(folder));
    expect(failure).toBeInstanceOf(EvenShardsError);
    expect(failure!.message.length).toBeLessThan(600);
  });

  test.each<[string, Json]>([
    ['an assembly that is not there', { Stage: { type: 'cdk:cloud-assembly' } }],
    ['a stack without a template', { Other: { type: 'aws:cloudformation:stack' } }],
    ['metadata that is none', { Other: { type: 'x', metadata: { '/a': null } } }],
  ])('%s', (_, artifacts) => {
    const folder = assembly({ Resources: {} }, { artifacts });
    expect(failureOf(() => plan(folder))).toBeInstanceOf(EvenShardsError);
  });
});

describe('an assembly with odd names and texts is read', () => {
  test('with resources, parameters, conditions and variables called __proto__ and constructor', () => {
    const code = { S3Bucket: 'b', S3Key: 'code' };
    const assets = { files: { code: { source: { path: 'code' }, destinations: { here: { objectKey: 'code' } } } } };
    const template = `{
      "Conditions": {"__proto__": {"Fn::Equals": ["a", "a"]}, "constructor": {"Condition": "__proto__"}},
      "Parameters": {"toString": {"Type": "String", "Default": "text"}},
      "Resources": {
        "__proto__": {"Type": "AWS::Kinesis::Stream", "Condition": "constructor", "Properties": {"Name": "a"}},
        "constructor": {"Type": "AWS::Lambda::Function", "Properties": {
          "Runtime": "nodejs24.x", "Handler": "index.handler", "Code": ${JSON.stringify(code)},
          "Environment": {"Variables": {"__proto__": {"Ref": "__proto__"}, "constructor": {"Ref": "toString"}}}
        }}
      }
    }`;
    const folder = assembly(template, { assets });
    mkdirSync(join(folder, 'code'));
    const { streams, functions } = plan(folder);
    expect(streams).toMatchObject([{ name: 'a' }]);
    expect(Object.entries(functions[0]!.environment)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'text'],
    ]);
  });

  /** A function whose code is in the assembly. */
  const functionWith = (properties: Json) => {
    const assets = { files: { code: { source: { path: 'code' }, destinations: { here: { objectKey: 'code' } } } } };
    const Properties = {
      Runtime: 'nodejs24.x',
      Handler: 'index.handler',
      Code: { S3Bucket: 'b', S3Key: 'code' },
      ...properties,
    };
    const folder = assembly({ Resources: { F: { Type: 'AWS::Lambda::Function', Properties } } }, { assets });
    mkdirSync(join(folder, 'code'));
    return folder;
  };
  const noText = { toString: 'x', valueOf: 1, toJSON: 2 };

  test('with a variable that is no text, which is left unset', () => {
    const { functions } = plan(functionWith({ Environment: { Variables: { A: noText, B: 7 } } }));
    expect(functions).toMatchObject([{ environment: { B: '7' }, unset: { A: 'its value is no text' } }]);
  });

  test('with a runtime that is no text, which is left out', () => {
    expect(plan(functionWith({ Runtime: noText })).functions).toEqual([]);
  });

  test('but not with a handler that is no text', () => {
    const failure = failureOf(() => plan(functionWith({ Handler: noText })));
    expect(failure?.message).toMatch(/^\[MALFORMED_RESOURCE\] .* is malformed: Handler must be a text/);
  });

  test('with a condition on what is no text', () => {
    const Conditions = { Same: { 'Fn::Equals': [noText, noText] }, Other: { 'Fn::Equals': [noText, ['a']] } };
    const Resources = {
      A: stream({ Name: 'a' }, { Condition: 'Same' }),
      B: stream({ Name: 'b' }, { Condition: 'Other' }),
    };
    expect(plan(assembly({ Conditions, Resources })).streams).toMatchObject([{ name: 'a' }]);
  });

  test('with a byte order mark', () => {
    expect(plan(assembly(`\uFEFF${JSON.stringify(named('a'))}`)).streams).toHaveLength(1);
  });
});

function failureOf(work: () => unknown): Error | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
