import { localClients } from '../../bin/local/emulators/clients';
import { startDynamoDbEmulator } from '../../bin/local/emulators/dynamodb-emulator';
import { createTransactedTables, playTransactions, transactionsAtLimits } from '../support/plays/transactions';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';
import { describeOnDynamoDbEmulators } from './dynamodb-emulators';

describeOnDynamoDbEmulators('transactions of a local run on dynalite', (emulator) => {
  test(
    'transactions on dynalite have the same results and the same items as transactions of the service',
    async () => {
      const started = [await startDynamoDbEmulator(), await emulator.start()] as const;
      const clients = started.map(({ endpoint }) =>
        localClients({ kinesis: endpoint, dynamodb: endpoint, lambda: endpoint }),
      );
      try {
        for (const { dynamodb } of clients) await createTransactedTables(dynamodb);
        const services = [clients[0]!.dynamodb, clients[1]!.dynamodb] as const;
        const isAmazons = emulator.name === 'DynamoDB Local';
        const known = isAmazons
          ? { conditionsFirst: true, withoutReasonsOfItems: true, emptyItems: true }
          : { addsKeys: true };
        const compared = await playTransactions(services, { calls: randomRuns(300), seed: 1, known });
        console.info(`transactions on ${emulator.name}`, compared);
        expect(await transactionsAtLimits(services[0])).toEqual(await transactionsAtLimits(services[1]));
      } finally {
        for (const { kinesis, dynamodb, lambda } of clients)
          for (const client of [kinesis, dynamodb, lambda]) client.destroy();
        for (const each of started) await each.stop();
      }
    },
    randomRunsTimeout(300_000),
  );
});
