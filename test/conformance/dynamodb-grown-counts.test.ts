import { localClients } from '../../bin/local/emulators/clients';
import { playGrownCounts, type StartCost } from '../support/plays/play-grown-counts';
import { describeOnDynamoDbEmulators } from './dynamodb-emulators';
import { patientClock } from './patient-clock';

/** Of so many values readers and writers are shown to work: docs/guides/adaptive-counts.md, "How many values may grow". */
const GROWN_VALUES = [60_000, 100_000];

/** So many counts are a page, and an answer of DynamoDB has a megabyte. */
const [PAGE, VALUES_OF_A_READ_UNIT] = [1_000, 20];

describeOnDynamoDbEmulators('an index with adaptive counts', (emulator) => {
  test.each(GROWN_VALUES)(
    'of which %d values have grown has readers and writers that start, see every count, and follow a raise',
    async (values) => {
      const { endpoint, stop } = await emulator.start();
      const { dynamodb, kinesis, lambda } = localClients({ kinesis: endpoint, dynamodb: endpoint, lambda: endpoint });
      try {
        const { named, all } = await playGrownCounts(dynamodb, values, patientClock(10));
        console.info(
          `${values} grown values on ${emulator.name}: a reader of one value begins after ${told(named)}, of all after ${told(all)}`,
        );
        expect(named.queries).toBe(2);
        expect(all.queries).toBeLessThanOrEqual(values / PAGE + 1);
        expect(all.readUnits).toBeLessThanOrEqual((1.5 * values) / VALUES_OF_A_READ_UNIT);
      } finally {
        for (const client of [dynamodb, kinesis, lambda]) client.destroy();
        await stop();
      }
    },
    900_000,
  );
});

const told = ({ ms, queries, readUnits }: StartCost): string =>
  `${Math.round(ms)} ms, ${queries} queries, ${readUnits} read units`;
