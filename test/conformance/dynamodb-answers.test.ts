import { readFileSync } from 'node:fs';
import { localClients } from '../../bin/local/emulators/clients';
import { startDynamoDbEmulator } from '../../bin/local/emulators/dynamodb-emulator';
import { describeWhere } from '../support/describe-where';
import { createComparedTables, KNOWN_DIFFERENCES, playCalls } from '../support/plays/dynamodb-answers';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';
import { DYNAMODB_LOCAL, startDynamoDbLocal } from './dynamodb-local';

test('docs/models.md lists each accepted difference between a local run and DynamoDB Local', () => {
  const rows = readFileSync('docs/models.md', 'utf8').split('\n| in a local run | ')[1]!.split('\n\n')[0]!;
  const listed = rows
    .split('\n')
    .slice(2)
    .map((row) => row.split(' | ')[0]!.replace('| ', ''));
  expect(listed).toEqual(Object.keys(KNOWN_DIFFERENCES));
});

describeWhere(process.env[DYNAMODB_LOCAL] !== undefined, 'a JDK')('random calls on DynamoDB Local', () => {
  test(
    'have the same results as in a local run, except for the accepted differences, and each of these exists',
    async () => {
      const started = [await startDynamoDbEmulator(), await startDynamoDbLocal()] as const;
      const clients = started.map(({ endpoint }) =>
        localClients({ kinesis: endpoint, dynamodb: endpoint, lambda: endpoint }),
      );
      try {
        const [ours, theirs] = clients.map(({ dynamodb }) => dynamodb) as [Dynamo, Dynamo];
        for (const service of [ours, theirs]) await createComparedTables(service);
        const { compared, differences } = await playCalls(ours, theirs, { calls: randomRuns(3_000), seed: 1 });
        console.info('calls of DynamoDB', compared);
        const known = Object.entries(KNOWN_DIFFERENCES);
        const names = differences.map((each) => known.find(([, is]) => is(each))?.[0] ?? JSON.stringify(each, null, 1));
        expect([...new Set(names)].sort()).toEqual(Object.keys(KNOWN_DIFFERENCES).sort());
      } finally {
        for (const { kinesis, dynamodb, lambda } of clients)
          for (const client of [kinesis, dynamodb, lambda]) client.destroy();
        for (const each of started) await each.stop();
      }
    },
    randomRunsTimeout(600_000),
  );
});

type Dynamo = ReturnType<typeof localClients>['dynamodb'];
