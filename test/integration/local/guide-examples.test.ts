import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { App, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { transformSync } from 'esbuild';
import { clientEnvironment } from '../../../bin/local/functions/lambda-environment';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { shardedConfigs } from '../../../bin/local/sharded-configs';
import { FanOutQueryFunction, KeyShardedTable, ShardCounts, ShardedTable } from '../../../lib';

/** Runs examples of the guides as a reader would: the code is unchanged, and each statement must succeed. */

const string = (name: string) => ({ name, type: AttributeType.STRING });

let stack: LocalStack;

beforeAll(async () => {
  const app = new App();
  const scope = new Stack(app, 'App');
  const orders = new ShardedTable(scope, 'Orders', { partitionKey: string('orderId') });
  const byStatus = orders.addShardedIndex({
    indexName: 'byStatus',
    valueAttribute: string('status'),
    sortKey: string('createdAt'),
    shardCounts: ShardCounts.byValue({ shipped: 2, pending: 5 }, 1),
  });
  const invoices = new KeyShardedTable(scope, 'Invoices', {
    partitionKey: string('InvoiceNumber'),
    sortKey: string('ClientTransactionId'),
    shardCounts: ShardCounts.uniform(3),
  });
  new FanOutQueryFunction(scope, 'Query', { indexes: [byStatus], tables: [invoices] });
  stack = await startLocal({ app: app.synth().directory });
}, 60_000);
afterAll(() => stack?.stop());

test.each([
  ['sharded-tables.md', 'Writing', /createdAt/],
  ['key-sharded-tables.md', 'Write and read', /Client1_trans2/],
])('the example of %s in the section "%s" runs', async (guide, section, printed) => {
  const code = exampleOf(guide, section).replace(
    /^declare const (\w+): .*;$/gm,
    'const $1 = JSON.parse(process.env.$1);',
  );
  const { code: program } = transformSync(`${code}\nconsole.log(typeof items === 'object' ? items : '');`, {
    loader: 'ts',
    format: 'esm',
  });
  const configs = shardedConfigs(stack).map(({ config }) => config);
  const env = {
    ...process.env,
    ...clientEnvironment(stack.endpoints),
    BY_STATUS: JSON.stringify(configs.find(({ indexName }) => indexName === 'byStatus')),
    invoices: JSON.stringify(configs.find(({ indexName }) => indexName === undefined)),
  };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { env });
  expect(stdout).toMatch(printed);
});

/** The first TypeScript example of a section. */
function exampleOf(guide: string, section: string): string {
  const [, text = ''] = readFileSync(join('docs/guides', guide), 'utf8').split(`## ${section}\n`);
  return /```ts\n(.*?)```/s.exec(text)![1]!;
}
