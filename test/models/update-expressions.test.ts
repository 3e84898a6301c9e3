import { startDynamoDbEmulator } from '../../bin/local/emulators/dynamodb-emulator';
import { playUpdateExpressions } from '../support/plays/update-expressions';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';

/** Compares the grammar of `shardUpdate` with dynalite. `npm run conformance` compares the grammar with DynamoDB Local, too. */
test(
  'shardUpdate accepts and rejects the same update expressions as dynalite',
  async () => {
    const service = await startDynamoDbEmulator();
    try {
      const counts = await playUpdateExpressions(service.endpoint, randomRuns(400), 0);
      console.info('update expressions on dynalite', counts);
      expect(counts.decisive).toBeGreaterThan(0);
      // dynalite rejects some expressions of the grammar: unlike DynamoDB, it requires white space between a keyword and a
      // placeholder.
      expect(counts.ran).toBeGreaterThan(0.5 * counts.ofGrammar);
      expect(counts.othersRan).toBeGreaterThan(0);
    } finally {
      await service.stop();
    }
  },
  randomRunsTimeout(60_000),
);
