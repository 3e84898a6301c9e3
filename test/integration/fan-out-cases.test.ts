import { startDynamoDbEmulator } from '../../bin/local/dynamodb-emulator';
import { describeFanOutCases } from '../conformance/fan-out-cases';

/**
 * On dynalite, which has no multi-attribute keys; `npm run conformance` asks Amazon's own DynamoDB Local the same.
 * FAN_OUT_CASES, in the environment, is the number of cases for each of the tables.
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
    Number(process.env.FAN_OUT_CASES ?? 80),
    startDynamoDbEmulator,
  );
});
