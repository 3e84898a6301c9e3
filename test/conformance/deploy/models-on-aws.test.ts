import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import { describeWhere } from '../../support/describe-where';
import { PYTHON_NEEDED } from '../../support/fetched';
import { clientsOf, compareWithAws } from '../aws/compare-with-aws';
import { Account, CREDENTIALS, fetchEmulator, REGION } from './account';

const describeIf = describeWhere(fetchEmulator(), PYTHON_NEEDED);

describeIf('a dry run of npm run conformance aws', () => {
  test('compare-with-aws reports every difference of every model, and deletes its stack', async () => {
    const account = await Account.open();
    const clients = clientsOf({ region: REGION, credentials: CREDENTIALS, endpoint: account.endpoint });
    try {
      const dynamodb = withWrongCounts(clients.dynamodb, [5, 50]);
      const options = { name: 'dry', service: 'moto', settle: async () => {} };
      const { text, differences } = await compareWithAws({ ...clients, dynamodb }, options);
      const lines = text.split('\n');
      // The report has two tables, each with two header lines. The tables have three comparisons and five questions.
      expect(lines.filter((line) => line.startsWith('| '))).toHaveLength(4 + 3 + 5);
      expect(text).toContain('| UpdateShardCount of unequal shards');
      expect(
        lines.filter((line) => line.startsWith('the service: ') && line.includes('"ScannedCount":4242')),
      ).toHaveLength(2);
      // moto stores numbers as written and accepts any start key, so the comparison of conditional updates has
      // differences, too.
      expect(text).toContain('## Differences: conditional updates, transactions and reads');
      expect(differences).toBeGreaterThan(3);
      expect((await clients.dynamodb.listTables({})).TableNames).toEqual([]);
      expect((await clients.kinesis.listStreams({})).StreamNames).toEqual([]);
    } finally {
      clients.destroy();
      await account.close();
    }
  }, 600_000);
});

/** A service that returns a wrong count for some queries. */
function withWrongCounts(dynamodb: DynamoDB, calls: readonly number[]): DynamoDB {
  let answered = 0;
  const query = async (input: never) => {
    const response = await dynamodb.query(input);
    answered += 1;
    return calls.includes(answered) ? { ...response, ScannedCount: 4_242 } : response;
  };
  return new Proxy(dynamodb, {
    get: (target, name) => (name === 'query' ? query : Reflect.get(target, name).bind?.(target)),
  });
}
