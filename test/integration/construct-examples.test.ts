import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { type Assembly, constructPages } from '../../scripts/reference/construct-pages';

/** Each construct has an example in its docstring, which every language's reference shows. All of them compile. */

const ROOT = join(__dirname, '../..');
const assembly: Assembly = JSON.parse(readFileSync(join(ROOT, '.jsii'), 'utf8'));
const titles = [...constructPages(assembly).values()].map(({ title }) => title);
const constructs = Object.values(assembly.types).filter(({ name }) => titles.includes(name));

/** What an example may use without saying where it comes from: the library, the modules of CDK, and things of an app. */
const PRELUDE = `
import { App, CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import * as actions from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as rds from 'aws-cdk-lib/aws-rds';
import type * as sns from 'aws-cdk-lib/aws-sns';
import { ${names('class', 'enum')} } from 'cdk-even-shards';
declare global {
  const stack: Stack;
  const application: lambda.Function;
  const vpc: ec2.IVpc;
  const topic: sns.ITopic;
  const cluster: rds.DatabaseCluster;
  const stream: UniformStream;
  const producer: OrderedProducerFunction;
  const table: ShardedTable;
  const index: ShardedIndex;
  const invoices: KeyShardedTable;
  const blogs: ShardedKeyspacesTable;
  const monitoring: ShardMonitoring;
}
`;

test.each(constructs)('$name has an example', ({ docs }) => {
  expect(docs?.example).toMatch(/\S/);
});

test('the examples compile', () => {
  const examples = constructs.map(({ docs }) => `{\n${docs?.example}\n}\n`);
  expect(problemsOf(PRELUDE + examples.join(''))).toEqual([]);
  expect(problemsOf(`${PRELUDE}new UniformStream(stack, 'Events', { shards: 4 });`)).toHaveLength(1);
}, 60_000);

function names(...kinds: string[]): string {
  const found = Object.values(assembly.types).filter(({ kind }) => kinds.includes(kind));
  return found.map(({ name }) => name).join(', ');
}

function problemsOf(text: string): string[] {
  const file = join(ROOT, 'construct-examples.mts');
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.Node20,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (path) => path === file || fileExists(path);
  host.readFile = (path) => (path === file ? text : readFile(path));
  host.getCurrentDirectory = () => ROOT;
  const program = ts.createProgram([file], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}
