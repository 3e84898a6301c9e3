import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Compares the built package with copies of the package that have planted changes. */

const ROOT = join(__dirname, '../../..');

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'compare-'));
  for (const name of ['last', 'current']) {
    mkdirSync(join(folder, name, 'dist'), { recursive: true });
    for (const part of ['package.json', '.jsii', 'dist/lib']) {
      cpSync(join(ROOT, part), join(folder, name, part), { recursive: true });
    }
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
});

/** Replaces a text of a file of the current package. */
function plant(file: string, before: string | RegExp, after: string): void {
  const path = join(folder, 'current', file);
  const text = readFileSync(path, 'utf8');
  const planted = text.replace(before, after);
  if (planted === text) throw new Error(`${file} does not contain ${before}`);
  writeFileSync(path, planted);
}

function compare(reasons: Record<string, string>) {
  const breaks = join(folder, 'breaks.json');
  writeFileSync(breaks, JSON.stringify({ api: reasons }));
  const command = ['release/compare.mjs', join(folder, 'last'), join(folder, 'current'), breaks];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: ROOT, encoding: 'utf8' });
  const problems = [...stderr.matchAll(/^no (reason for the break|break for the reason) "(.*?)"/gm)];
  return { status, problems: problems.map(([, kind, name]) => `${kind} ${name}`), printed: stdout + stderr };
}

const CORE = 'dist/lib/core';

describe('npm run release:compare', () => {
  test('accepts additions, and rejects a reason without a break', () => {
    plant(
      `${CORE}/producer/producer-options.d.ts`,
      'sequence?: boolean | undefined;',
      'sequence?: boolean | undefined; added?: number;',
    );
    plant(
      `${CORE}/sharded-index/query/fan-out-query.d.ts`,
      'stats: FanOutStats;',
      'stats: FanOutStats; added: number;',
    );
    plant(
      `${CORE}/producer/index.d.ts`,
      "from './ordered-producer';",
      "from './ordered-producer';\nexport declare const added: 1;",
    );
    plant(`${CORE}/consumer/deaggregate.d.ts`, '}?: DeaggregateOptions)', '}?: DeaggregateOptions, added?: number)');
    expect(compare({ 'producer: OrderedProducer': 'a break that was taken back' })).toMatchObject({
      status: 1,
      problems: ['break for the reason producer: OrderedProducer'],
    });
  });

  test('rejects each kind of break without a reason, and accepts a break with a reason', () => {
    const assembly = join(folder, 'current/.jsii');
    const jsii = JSON.parse(readFileSync(assembly, 'utf8'));
    const stream = jsii.types['cdk-even-shards.UniformStreamProps'];
    stream.properties = stream.properties.filter(({ name }: { name: string }) => name !== 'hashBuckets');
    const producer = jsii.types['cdk-even-shards.OrderedProducerFunctionProps'];
    producer.properties.find(({ name }: { name: string }) => name === 'aggregation').docs.default = '- true';
    writeFileSync(assembly, JSON.stringify(jsii));

    plant(`${CORE}/consumer/deaggregate.d.ts`, 'added?: number)', 'added: number)');
    plant(`${CORE}/producer/index.d.ts`, 'PutObserver, PutSummary', 'PutObserver');
    plant(`${CORE}/producer/index.d.ts`, 'bucketHashKey', 'bucketHashKey as hashKeyOfBucket');
    plant(`${CORE}/producer/producer-options.d.ts`, 'added?: number;', 'added: number;');
    plant(`${CORE}/producer/producer-options.d.ts`, "'per-key' | 'packed'", "'per-key'");
    plant(`${CORE}/producer/producer-options.d.ts`, '@default 20\n', '@default 30\n');
    plant(`${CORE}/producer/pending-record.d.ts`, 'sequenceNumber: string;', 'sequenceNumber?: string;');
    plant(
      `${CORE}/producer/ordered-producer.d.ts`,
      'put(record: ProducerRecord)',
      'put(record: Required<ProducerRecord>)',
    );
    plant(`${CORE}/producer/ordered-producer.d.ts`, 'flush(partitionKey?: string): Promise<void>;', '');
    plant(`${CORE}/producer/ordered-producer.d.ts`, /constructor\(.*?\)/, 'constructor(client: PutRecordsClient)');
    plant(`${CORE}/sharded-index/index.d.ts`, 'export { calculatedShard }', 'import { calculatedShard }');
    plant('package.json', '"./planning": {', '"./plans": {');

    const breaks = [
      'removed:cdk-even-shards.UniformStreamProps.hashBuckets',
      'cdk-even-shards.OrderedProducerFunctionProps.aggregation @default',
      'consumer: deaggregate',
      'planning',
      'producer: OrderedProducer.flush',
      'producer: OrderedProducer.put',
      'producer: OrderedProducer.constructor',
      'producer: OrderedProducerOptions.added',
      'producer: OrderedProducerOptions.aggregation',
      'producer: OrderedProducerOptions.maxAttempts @default',
      'producer: PutReceipt.sequenceNumber',
      'producer: PutSummary',
      'producer: bucketHashKey',
      'sharded-index: calculatedShard',
    ];
    const { status, problems, printed } = compare({ planning: 'a better name' });
    const others = breaks.filter((name) => name !== 'planning');
    expect([status, problems.sort()]).toEqual([1, others.map((name) => `reason for the break ${name}`).sort()]);
    expect(printed).toContain('release/breaks.json');
  });
});
