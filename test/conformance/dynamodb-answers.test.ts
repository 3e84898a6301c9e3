import { readFileSync } from 'node:fs';
import { startDynamoDbEmulator } from '../../bin/local/emulators/dynamodb-emulator';
import { describeWhere } from '../support/describe-where';
import {
  createComparedTables,
  KNOWN_DIFFERENCES,
  playCalls,
  transactionsAtLimits,
} from '../support/plays/dynamodb-answers';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';
import { serviceForTests } from './dynamodb-emulators';
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
  const ours = serviceForTests(startDynamoDbEmulator);
  const theirs = serviceForTests(startDynamoDbLocal);

  test(
    'have the same results as in a local run, except for the accepted differences, and each of these exists',
    async () => {
      for (const { dynamodb } of [ours, theirs]) await createComparedTables(dynamodb);
      const options = { calls: randomRuns(3_000), seed: 1 };
      const { compared, differences } = await playCalls(ours.dynamodb, theirs.dynamodb, options);
      console.info('calls of DynamoDB', compared);
      const known = Object.entries(KNOWN_DIFFERENCES);
      const names = differences.map((each) => known.find(([, is]) => is(each))?.[0] ?? JSON.stringify(each, null, 1));
      expect([...new Set(names)].sort()).toEqual(Object.keys(KNOWN_DIFFERENCES).sort());
    },
    randomRunsTimeout(600_000),
  );

  test('transactions at the limits, and repeated transactions, have the same results as in a local run', async () => {
    expect(await transactionsAtLimits(ours.dynamodb)).toEqual(await transactionsAtLimits(theirs.dynamodb));
  }, 60_000);
});
