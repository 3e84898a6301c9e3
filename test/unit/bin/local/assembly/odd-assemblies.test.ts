// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders belong to Fn::Sub
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCloudAssembly } from '../../../../../bin/local/assembly/cloud-assembly';
import { planDeployment } from '../../../../../bin/local/assembly/deployment-plan';
import { EvenShardsError } from '../../../../../lib/core';

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
describe('planDeployment', () => {
  test.each<[string, unknown]>([
    [
      'a condition that refers to itself',
      named('a', {
        Conditions: { A: { Condition: 'B' }, B: { 'Fn::Not': [{ Condition: 'A' }] } },
        Resources: { Stream: stream({}, { Condition: 'A' }) },
      }),
    ],
    ['a name that refers to itself', named({ Ref: 'Stream' })],
    [
      'an export that refers to itself',
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
    ['a billion shards', { Resources: { A: stream({ ShardCount: 1e9 }) } }],
    ['a table without a key', { Resources: { A: { Type: 'AWS::DynamoDB::Table', Properties: { KeySchema: 'x' } } } }],
    ['a name that is not a text', { Resources: { A: stream({ Name: { toString: 'x', valueOf: 1 } }) } }],
  ])('leaves out %s, with a short reason', (_, template) => {
    const { streams, tables, leftOut } = plan(assembly(template));
    expect([streams, tables]).toEqual([[], []]);
    expect(leftOut).toHaveLength(1);
    expect(leftOut[0]!.reason.length).toBeLessThan(600);
  });

  const topic = { Type: 'AWS::SNS::Topic' };
  const loop = ['Name', ['A', 'B'], { 'Topic${Name}': topic }];
  const include = { Name: 'AWS::Include', Parameters: { Location: 's3://bucket/key' } };
  test.each<[string, Json, string]>([
    ['a section that is a number', { Outputs: 7 }, 'Stack/Outputs (Template), Outputs must be an object, got 7'],
    ['a null parameter', { Parameters: { A: null } }, 'Stack/A (Parameters), it must be an object, got null'],
    ['a resource without a type', { A: {} }, 'Stack/A (Resources), Type must be a string, got undefined'],
    [
      'a condition that is a list',
      { A: { ...topic, Condition: [] } },
      'Stack/A (AWS::SNS::Topic), Condition must be a string, got []',
    ],
    [
      'properties that are a text',
      { A: stream('x') },
      'Stack/A (AWS::Kinesis::Stream), Properties must be an object, got "x"',
    ],
    [
      'a loop of resources',
      { 'Fn::ForEach::Topics': loop },
      'Stack/Fn::ForEach::Topics (Resources), only CloudFormation expands Fn::ForEach',
    ],
    [
      'a loop of outputs',
      { Outputs: { 'Fn::ForEach::Outs': loop } },
      'Stack/Fn::ForEach::Outs (Outputs), only CloudFormation expands Fn::ForEach',
    ],
    [
      'a loop of conditions',
      { Conditions: { 'Fn::ForEach::Cs': loop } },
      'Stack/Fn::ForEach::Cs (Conditions), only CloudFormation expands Fn::ForEach',
    ],
    [
      'a macro among the resources',
      { 'Fn::Transform': include },
      'Stack/Fn::Transform (Resources), only CloudFormation expands Fn::Transform',
    ],
    [
      'a macro for the template',
      { Transform: ['AWS::LanguageExtensions', 'Own'] },
      'Stack/Own (Transform), only CloudFormation runs this macro',
    ],
    [
      'properties that a macro makes',
      { A: stream({ ShardCount: 2, 'Fn::Transform': include }) },
      'Stack/A (AWS::Kinesis::Stream), the resource is unknown: only CloudFormation runs the macro AWS::Include',
    ],
  ])('names %s, and plans the rest', (_, unknown, line) => {
    const isSection = /^(Conditions|Outputs|Parameters|Transform)$/.test(Object.keys(unknown)[0]!);
    const template = isSection ? named('a', unknown) : { Resources: { ...named('a').Resources, ...unknown } };
    const { streams, leftOut } = plan(assembly(template));
    expect(streams).toMatchObject([{ name: 'a' }]);
    expect(leftOut.map(({ path, type, reason }) => `${path} (${type}), ${reason}`)).toEqual([line]);
  });

  test('reads a deletion policy that is an intrinsic function, and metadata of another form', () => {
    const policies = { DeletionPolicy: { 'Fn::If': ['C', 'Retain', 'Delete'] }, UpdateReplacePolicy: { Ref: 'P' } };
    const artifacts = { Other: { type: 'x', properties: 7, metadata: { '/a': null } } };
    const template = { Resources: { Stream: stream({ Name: 'a' }, policies) } };
    expect(plan(assembly(template, { artifacts }))).toMatchObject({ streams: [{ name: 'a' }], leftOut: [] });
  });

  test.each<[string, unknown, Json?]>([
    ['a template that is not JSON', '{'],
    ['a missing nested assembly', { Resources: {} }, { Stage: { type: 'cdk:cloud-assembly' } }],
    ['a stack without a template', { Resources: {} }, { Other: { type: 'aws:cloudformation:stack' } }],
  ])('rejects %s with a typed error', (_, template, artifacts = {}) => {
    const folder = assembly(template, { artifacts });
    expect(() => plan(folder)).toThrow(EvenShardsError);
    expect(() => plan(folder)).toThrow(expect.objectContaining({ message: expect.stringMatching(/^.{1,599}$/s) }));
  });
});

describe('readCloudAssembly and planDeployment', () => {
  test('accept resources, parameters and conditions with the names __proto__ and constructor, and a variable with the name constructor', () => {
    const code = { S3Bucket: 'b', S3Key: 'code' };
    const assets = { files: { code: { source: { path: 'code' }, destinations: { here: { objectKey: 'code' } } } } };
    const template = `{
      "Conditions": {"__proto__": {"Fn::Equals": ["a", "a"]}, "constructor": {"Condition": "__proto__"}},
      "Parameters": {"toString": {"Type": "String", "Default": "text"}},
      "Resources": {
        "__proto__": {"Type": "AWS::Kinesis::Stream", "Condition": "constructor", "Properties": {"Name": "a"}},
        "constructor": {"Type": "AWS::Lambda::Function", "Properties": {
          "Runtime": "nodejs24.x", "Handler": "index.handler", "Code": ${JSON.stringify(code)},
          "Environment": {"Variables": {"valueOf": {"Ref": "__proto__"}, "constructor": {"Ref": "toString"}}}
        }}
      }
    }`;
    const folder = assembly(template, { assets });
    mkdirSync(join(folder, 'code'));
    const { streams, functions } = plan(folder);
    expect(streams).toMatchObject([{ name: 'a' }]);
    expect(Object.entries(functions[0]!.environment)).toEqual([
      ['valueOf', 'a'],
      ['constructor', 'text'],
    ]);
  });

  /** The resources of a Lambda function whose code is in the assembly. */
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
  const notText = { toString: 'x', valueOf: 1, toJSON: 2 };

  test('do not set an environment variable whose value is not a text', () => {
    const { functions } = plan(functionWith({ Environment: { Variables: { AA: notText, BB: 7 } } }));
    expect(functions).toMatchObject([{ environment: { BB: '7' }, unset: { AA: 'its value is not a string' } }]);
  });

  test.each<[string, Json, string]>([
    ['runtime is not a text', { Runtime: notText }, 'its runtime must be a string'],
    ['handler is not a text', { Handler: notText }, 'Handler must be a string'],
    [
      'variable is reserved by Lambda',
      { Environment: { Variables: { OWN: '1', AWS_REGION: 'eu-west-1' } } },
      'Lambda reserves its environment variable AWS_REGION',
    ],
    [
      'variable has an invalid name',
      { Environment: { Variables: { '1BAD': '1' } } },
      'Lambda rejects its environment variable 1BAD',
    ],
  ])('leave out a function whose %s', (_, properties, reason) => {
    const { functions, leftOut } = plan(functionWith(properties));
    expect(functions).toEqual([]);
    expect(leftOut.map((each) => each.reason)).toEqual([expect.stringContaining(reason)]);
  });

  test('accept a condition that compares values other than texts', () => {
    const Conditions = { Same: { 'Fn::Equals': [notText, notText] }, Other: { 'Fn::Equals': [notText, ['a']] } };
    const Resources = {
      A: stream({ Name: 'a' }, { Condition: 'Same' }),
      B: stream({ Name: 'b' }, { Condition: 'Other' }),
    };
    expect(plan(assembly({ Conditions, Resources })).streams).toMatchObject([{ name: 'a' }]);
  });

  test('accept a file that begins with a byte order mark', () => {
    expect(plan(assembly(`\uFEFF${JSON.stringify(named('a'))}`)).streams).toHaveLength(1);
  });
});
