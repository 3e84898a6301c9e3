import { startDynamoDbEmulator } from '../../bin/local/emulators/dynamodb-emulator';
import { createTransactedTables, playTransactions, transactionsAtLimits } from '../support/plays/transactions';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';
import { describeOnDynamoDbEmulators, serviceForTests } from './dynamodb-emulators';

describeOnDynamoDbEmulators('transactions of a local run on dynalite', (emulator) => {
  const ours = serviceForTests(startDynamoDbEmulator);
  const theirs = serviceForTests(emulator.start);

  test(
    'transactions on dynalite have the same results and the same items as transactions of the service',
    async () => {
      const services = [ours.dynamodb, theirs.dynamodb] as const;
      for (const each of services) await createTransactedTables(each);
      const known =
        emulator.name === 'DynamoDB Local'
          ? { conditionsFirst: true, withoutReasonsOfItems: true, emptyItems: true }
          : { addsKeys: true };
      const compared = await playTransactions(services, { calls: randomRuns(300), seed: 1, known });
      console.info(`transactions on ${emulator.name}`, compared);
      expect(await transactionsAtLimits(services[0])).toEqual(await transactionsAtLimits(services[1]));
    },
    randomRunsTimeout(300_000),
  );
});
