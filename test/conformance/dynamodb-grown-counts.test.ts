import { playGrownCounts, type StartCost } from '../support/plays/play-grown-counts';
import { describeOnDynamoDbEmulators, serviceForTests } from './dynamodb-emulators';
import { patientClock } from './patient-clock';

/** The numbers of values in docs/guides/adaptive-counts.md, "How many values may grow". */
const GROWN_VALUES = [60_000, 100_000];

/**
 * The number of counts in a response of DynamoDB, which has at most 1 MB, and the number of counts that one read unit
 * reads.
 */
const [PAGE, VALUES_OF_A_READ_UNIT] = [1_000, 20];

describeOnDynamoDbEmulators('an index with adaptive counts', (emulator) => {
  const service = serviceForTests(emulator.start, { isForEachTest: true });

  test.each(GROWN_VALUES)(
    '%d values with increased counts – readers and writers read every count at their start, and read an increased count later',
    async (values) => {
      const { named, all } = await playGrownCounts(service.dynamodb, values, patientClock(10));
      console.info(
        `${values} grown values on ${emulator.name}: a reader of one value begins after ${costText(named)}, of all after ${costText(all)}`,
      );
      expect(named.queries).toBe(2);
      expect(all.queries).toBeLessThanOrEqual(values / PAGE + 1);
      expect(all.readUnits).toBeLessThanOrEqual((1.5 * values) / VALUES_OF_A_READ_UNIT);
    },
    900_000,
  );
});

const costText = ({ ms, queries, readUnits }: StartCost): string =>
  `${Math.round(ms)} ms, ${queries} queries, ${readUnits} read units`;
