import { startDynamoDbEmulator } from '../../bin/local/emulators/dynamodb-emulator';
import { playUpdateExpressions } from '../support/plays/update-expressions';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';

/** Here on dynalite; `npm run conformance` compares with Amazon's own DynamoDB Local. */
test(
  'the guard of shardUpdate says of an update expression what dynalite does',
  async () => {
    const service = await startDynamoDbEmulator();
    try {
      const counts = await playUpdateExpressions(service.endpoint, randomRuns(400), 0);
      console.info('update expressions on dynalite', counts);
      expect(counts.decisive).toBeGreaterThan(0);
      // It wants white space between a keyword and a placeholder, which DynamoDB does not.
      expect(counts.ran).toBeGreaterThan(0.5 * counts.ofGrammar);
      expect(counts.othersRan).toBeGreaterThan(0);
    } finally {
      await service.stop();
    }
  },
  randomRunsTimeout(60_000),
);
