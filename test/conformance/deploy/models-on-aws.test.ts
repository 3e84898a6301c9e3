import { clientsOf, compareWithAws } from '../aws/compare-with-aws';
import { Account, CREDENTIALS, fetchEmulator, REGION } from './account';

const testIf = fetchEmulator() ? test : test.skip;

testIf(
  'a dry run of npm run conformance aws compares each model, and leaves nothing behind',
  async () => {
    const account = await Account.open();
    const clients = clientsOf({ region: REGION, credentials: CREDENTIALS, endpoint: account.endpoint });
    try {
      const report = await compareWithAws(clients, { name: 'dry', service: 'moto', settle: async () => {} });
      // Two heads, each with its line, three comparisons and five questions.
      expect(report.split('\n').filter((line) => line.startsWith('| '))).toHaveLength(4 + 3 + 5);
      expect(report).toContain('| UpdateShardCount of unequal shards');
      expect((await clients.dynamodb.listTables({})).TableNames).toEqual([]);
      expect((await clients.kinesis.listStreams({})).StreamNames).toEqual([]);
    } finally {
      clients.destroy();
      await account.close();
    }
  },
  600_000,
);
