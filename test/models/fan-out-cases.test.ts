import { startDynamoDbEmulator } from '../../bin/local/emulators/dynamodb-emulator';
import { describeFanOutCases } from '../support/plays/fan-out-cases';
import { randomRuns } from '../support/random-runs';

/**
 * On dynalite, which has no multi-attribute keys; `npm run conformance` asks Amazon's own DynamoDB Local the same.
 * RANDOM_RUNS=4, in the environment, plays four times as many.
 */
describe('fanOutQuery on dynalite', () => {
  const keyLayout = 'single-attribute';
  describeFanOutCases(
    [
      { keyLayout, value: 'S', sortKey: 'S' },
      { keyLayout, value: 'S', sortKey: 'N', compositeTableKey: true },
      { keyLayout, value: 'N', sortKey: 'B' },
      { keyLayout, sortKey: 'S', compositeTableKey: true },
      { keyLayout, sortKey: 'N' },
      { keyLayout, value: 'S' },
    ],
    randomRuns(20),
    startDynamoDbEmulator,
  );
});
