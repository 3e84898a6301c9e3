import { spawnSync } from 'node:child_process';

/**
 * What the constructs cost an app beside those of the CDK: the import, and the synthesis of 50 tables with an index and 50
 * streams. Each run is a process of its own, in turn with its baseline; CPU time, the middle of the runs.
 */
const RUNS = Number(process.argv[2] ?? 15);

const CDK = `
  const cdk = require('aws-cdk-lib');
  const { Stream, StreamMode } = require('aws-cdk-lib/aws-kinesis');
  const { TableV2, Billing, AttributeType } = require('aws-cdk-lib/aws-dynamodb');
  const { Function } = require('aws-cdk-lib/aws-lambda');
`;
const OURS = "const even = require('./dist/lib');";
const app = (make: string) => `
  const app = new cdk.App({ analyticsReporting: false, outdir: require('node:fs').mkdtempSync(require('node:os').tmpdir() + '/even-shards-') });
  process.on('exit', () => require('node:fs').rmSync(app.outdir, { recursive: true }));
  const type = AttributeType.STRING;
  const stack = new cdk.Stack(app, 'Stack');
  for (let i = 0; i < 50; i++) { ${make} }
  app.synth();
`;

const PROGRAMS = {
  'the CDK with three constructs of its own': CDK,
  '... and this library': `${CDK}${OURS}`,
  '... with a stream and a table of it': `${CDK}${OURS} even.UniformStream; even.ShardedTable;`,
  '... with all of it': `${CDK}${OURS} Object.values(even);`,
  'the CDK, 50 tables with an index and 50 streams': `${CDK}${app(`
    new Stream(stack, 'Stream' + i, { shardCount: 4, streamMode: StreamMode.PROVISIONED });
    new TableV2(stack, 'Table' + i, {
      partitionKey: { name: 'id', type }, billing: Billing.onDemand(), removalPolicy: cdk.RemovalPolicy.RETAIN,
      globalSecondaryIndexes: [{ indexName: 'byStatus', partitionKey: { name: 'shard', type }, sortKey: { name: 'at', type } }],
    });`)}`,
  'this library, the same': `${CDK}${OURS}${app(`
    new even.UniformStream(stack, 'Stream' + i, { shardCount: 4 });
    new even.ShardedTable(stack, 'Table' + i, { partitionKey: { name: 'id', type } }).addShardedIndex({
      indexName: 'byStatus', valueAttribute: { name: 'status', type }, sortKey: { name: 'at', type },
      shardCounts: even.ShardCounts.uniform(4), keyLayout: even.KeyLayout.SINGLE_ATTRIBUTE,
    });`)}`,
};

/** The CPU time of a process that runs the program, less that of Node.js itself, in milliseconds. */
function cpuOf(program: string): number {
  const report = `process.on('exit', () => { const { user, system } = process.cpuUsage(start); console.log((user + system) / 1000); });`;
  const script = `const start = process.cpuUsage(); ${report} ${program}`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return Number(stdout.trim().split('\n').at(-1));
}

const times = new Map(Object.keys(PROGRAMS).map((name) => [name, [] as number[]]));
for (let run = 0; run < RUNS; run++) {
  for (const [name, program] of Object.entries(PROGRAMS)) times.get(name)!.push(cpuOf(program));
}
const middle = (name: string) => times.get(name)!.sort((a, b) => a - b)[RUNS >> 1]!;
const [cdk, , , , plainApp] = Object.keys(PROGRAMS) as [string, string, string, string, string, string];
console.table(
  Object.keys(PROGRAMS).map((name, index) => ({
    program: name,
    'CPU ms': Math.round(middle(name)),
    ratio: Number((middle(name) / middle(index < 4 ? cdk : plainApp)).toFixed(2)),
  })),
);
