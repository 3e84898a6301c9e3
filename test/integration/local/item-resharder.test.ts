import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { App, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { localClients } from '../../../bin/local/emulators/clients';
import { IndexItemMover, ItemVersion, KeyLayout, ShardCounts, ShardedTable, TableItemMover } from '../../../lib';
import { invoiceTable } from '../../support/fakes/invoice-table';

const CLI = join(__dirname, '../../../dist/bin/even-shards.js');
const BUDGET = { readUnitsPerSecond: 1_000, writeUnitsPerSecond: 1_000 };

/** The functions that move items, invoked as `even-shards local --serve` serves them. The state machines do not run here. */
describe('the functions that move items, in a local run', () => {
  const directory = mkdtempSync(join(tmpdir(), 'moved-'));
  const started: ChildProcess[] = [];

  beforeAll(() => {
    const app = new App({ outdir: directory });
    const deployed = new Stack(app, 'Moved');
    const orders = new ShardedTable(deployed, 'Orders', {
      partitionKey: { name: 'orderId', type: AttributeType.STRING },
    });
    const index = orders.addShardedIndex({
      indexName: 'byStatus',
      valueAttribute: { name: 'status', type: AttributeType.STRING },
      keyLayout: KeyLayout.SINGLE_ATTRIBUTE,
      shardCounts: ShardCounts.uniform(3),
    });
    new IndexItemMover(deployed, 'MoveOrders', { index, ...BUDGET });
    const table = invoiceTable(deployed, { shardCounts: ShardCounts.uniform(6).since(ShardCounts.uniform(5)) });
    new TableItemMover(deployed, 'MoveInvoices', { table, itemVersion: ItemVersion.none(), ...BUDGET });
    app.synth();
  });

  afterAll(() => {
    for (const child of started) child.kill('SIGKILL');
    rmSync(directory, { recursive: true });
  });

  /** What the command prints until it is ready. */
  async function serve(lastLine: RegExp, ...args: string[]): Promise<string[]> {
    const child = spawn(process.execPath, [CLI, 'local', '--app', directory, '--serve', ...args]);
    started.push(child);
    const lines: string[] = [];
    const output = createInterface({ input: child.stdout });
    output.on('line', (line) => lines.push(line));
    while (!lines.some((line) => lastLine.test(line))) await once(output, 'line');
    return lines;
  }

  async function invoke(url: string, event: string): Promise<{ error: string | null; answer: unknown }> {
    const response = await fetch(url, { method: 'POST', body: event });
    return { error: response.headers.get('x-amz-function-error'), answer: await response.json() };
  }

  test('give items the shards of an index, and then find none that is elsewhere', async () => {
    const [line] = await serve(/"ready":true/, '--json');
    const { endpoints, functions, tables } = JSON.parse(line!);
    const work = (mode: string) =>
      invoke(
        `${endpoints.lambda}/2015-03-31/functions/${functions['Moved/MoveOrders/Function']}/invocations`,
        JSON.stringify({ segment: 0, totalSegments: 1, request: { mode } }),
      );
    const { dynamodb } = localClients(endpoints);
    for (let number = 0; number < 20; number++) {
      const Item = { orderId: { S: `o-${number}` }, status: { S: 'sent' } };
      await dynamodb.putItem({ TableName: tables['Moved/Orders'], Item });
    }
    expect(await work('audit')).toMatchObject({ error: null, answer: { totals: { hidden: 20, moved: 0 } } });
    expect(await work('reshard')).toMatchObject({ error: null, answer: { totals: { itemsScanned: 20, moved: 20 } } });
    expect(await work('audit')).toMatchObject({ error: null, answer: { totals: { hidden: 0 } } });
    expect(await work('audit')).not.toHaveProperty('answer.resumePoint');
    expect(await work('adit')).toMatchObject({
      error: 'Unhandled',
      answer: { errorMessage: '[INVALID_EVENT] request.mode must be reshard or audit, got "adit"' },
    });
    const { Items = [] } = await dynamodb.scan({ TableName: tables['Moved/Orders'] });
    expect(Items.map(({ byStatusShard }) => byStatusShard?.S)).toEqual(
      Array(20).fill(expect.stringMatching(/^sent#[012]$/)),
    );
  }, 60_000);

  test('are printed with invocations that work', async () => {
    const lines = await serve(/fileb:/);
    const invocations = lines.filter((line) => line.startsWith('curl '));
    expect(invocations).toHaveLength(2);
    for (const line of invocations) {
      const [, url, event] = /^curl (\S+) -d '(.*)'$/.exec(line)!;
      expect(await invoke(url!, event!)).toMatchObject({ error: null, answer: { totals: { itemsScanned: 0 } } });
    }
  }, 60_000);
});
