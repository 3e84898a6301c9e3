import { playUpdateExpressions } from '../support/plays/update-expressions';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';
import { describeOnDynamoDbEmulators } from './dynamodb-emulators';

describeOnDynamoDbEmulators('shardUpdate', (emulator) => {
  test(
    'accepts and rejects update expressions as the service does',
    async () => {
      const service = await emulator.start();
      const tightBrackets = emulator.name === 'dynoxide';
      try {
        const counts = await playUpdateExpressions(service.endpoint, randomRuns(1_500), 0, { tightBrackets });
        console.info(`update expressions on ${emulator.name}`, counts);
        expect(counts.decisive).toBeGreaterThan(0);
        expect(counts.ran).toBeGreaterThan(0.9 * counts.ofGrammar);
        expect(counts.othersRan).toBeGreaterThan(0);
      } finally {
        await service.stop();
      }
    },
    randomRunsTimeout(900_000),
  );
});
