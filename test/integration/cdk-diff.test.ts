import '../support/oldest-cdk';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { App, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { ShardCounts, ShardedTable } from '../../lib';

/** The change from 10 shards to 3 in the metadata of the table. */
const CHANGED_COUNTS = `[~] AWS::DynamoDB::GlobalTable Table
 └─ [~] Metadata
     └─ [~] .EvenShards::ShardedIndexes:
         └─ [~] .byStatus:
             └─ [~] .shards:
                 └─ [~] .default:
                     ├─ [~] .read:
                     │   ├─ [-] 10
                     │   └─ [+] 3
                     └─ [~] .write:
                         ├─ [-] 10
                         └─ [+] 3
`;
const cdk = join(__dirname, '..', '..', 'node_modules', '.bin', 'cdk');

/** Runs the real `cdk diff` between a deployed template and a new template. The command uses no account. */
describe('cdk diff', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'even-shards-diff-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function synthesize(outdir: string, shardCount: number): string {
    const app = new App({ outdir: join(folder, outdir) });
    const stack = new Stack(app, 'Orders');
    const table = new ShardedTable(stack, 'Table', { partitionKey: { name: 'orderId', type: AttributeType.STRING } });
    const valueAttribute = { name: 'status', type: AttributeType.STRING };
    table.addShardedIndex({ indexName: 'byStatus', valueAttribute, shardCounts: ShardCounts.uniform(shardCount) });
    return app.synth().directory;
  }

  async function diff(deployed: string, next: string): Promise<string> {
    const template = join(deployed, 'Orders.template.json');
    const options = ['diff', '--app', next, '--template', template, '--no-color', '--no-notices', 'Orders'];
    const { stdout, stderr } = await promisify(execFile)(cdk, options, { cwd: folder });
    return stdout + stderr;
  }

  test('shows changed shard counts, although DynamoDB has nothing to change', async () => {
    const shown = await diff(synthesize('deployed', 10), synthesize('next', 3));

    expect(shown.replaceAll(/ Table[0-9A-F]{8}/g, '')).toContain(CHANGED_COUNTS);
  }, 120_000);
});
