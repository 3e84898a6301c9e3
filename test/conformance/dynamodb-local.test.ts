import { describeWhere } from '../support/describe-where';
import { EVERYTHING } from '../support/fakes/fan-out-model';
import { describeFanOutCases } from '../support/plays/fan-out-cases';
import { describeInvoiceTable } from '../support/plays/invoice-table';
import { playOnService } from '../support/plays/play-on-service';
import { randomRuns } from '../support/random-runs';
import type { Shape } from '../support/sharded-tables';
import { DYNAMODB_LOCAL, startDynamoDbLocal } from './dynamodb-local';

const BOTH_LAYOUTS: Omit<Shape, 'keyLayout'>[] = [
  { value: 'S', sortKey: 'S' },
  { value: 'S', sortKey: 'N', compositeTableKey: true },
  { value: 'N', sortKey: 'B' },
  { sortKey: 'astral' },
  { sortKey: 'N', compositeTableKey: true },
  { value: 'S' },
];

/** The number of random cases of `npm run test:models`, with deadlines and faults. The environment variable MODEL_CASES sets it. */
const CASES = Number(process.env.MODEL_CASES ?? 1_000);
const FIRST_SEED = Number(process.env.MODEL_SEED ?? 0);

const isInstalled = process.env[DYNAMODB_LOCAL] !== undefined;

describeWhere(isInstalled, 'a JDK')('DynamoDB Local', () => {
  describe('fanOutQuery', () => {
    describeFanOutCases(
      [
        ...BOTH_LAYOUTS.map((shape): Shape => ({ ...shape, keyLayout: 'single-attribute' })),
        ...BOTH_LAYOUTS.map((shape): Shape => ({ ...shape, keyLayout: 'multi-attribute' })),
        { keyLayout: 'multi-attribute', value: 'S', sortKey: 'S', tieBreaker: true },
        { keyLayout: 'multi-attribute', value: 'N', sortKey: 'N', tieBreaker: true, compositeTableKey: true },
        { keyLayout: 'multi-attribute', sortKey: 'B', tieBreaker: true },
      ],
      randomRuns(40),
      startDynamoDbLocal,
    );
  });

  describeInvoiceTable(startDynamoDbLocal, { histories: randomRuns(60) });

  test(`in ${CASES} random cases with faults and deadlines, fanOutQuery on DynamoDB Local returns the same pages as the oracle`, async () => {
    const service = await startDynamoDbLocal();
    try {
      const limits = { ...EVERYTHING, mostShards: 20, mostItems: 60 };
      await playOnService(service.endpoint, limits, CASES, FIRST_SEED);
    } finally {
      await service.stop();
    }
  }, 3_600_000);
});
