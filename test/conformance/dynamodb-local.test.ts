import { randomRuns } from '../random-runs';
import { startDynamoDbLocal } from './dynamodb-local';
import { describeFanOutCases } from './fan-out-cases';
import type { Shape } from './sharded-tables';

const BOTH_LAYOUTS: Omit<Shape, 'keyLayout'>[] = [
  { value: 'S', sortKey: 'S' },
  { value: 'S', sortKey: 'N', compositeTableKey: true },
  { value: 'N', sortKey: 'B' },
  { sortKey: 'astral' },
  { sortKey: 'N', compositeTableKey: true },
  { value: 'S' },
];

describe('fanOutQuery on DynamoDB Local', () => {
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
