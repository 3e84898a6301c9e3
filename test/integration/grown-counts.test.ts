import type { Clock } from '../../lib/core';
import { dynaliteForTests } from '../support/dynalite';
import { playGrownCounts } from '../support/plays/play-grown-counts';

const { dynamoDb } = dynaliteForTests();

/** This clock stands still, so a slow emulator causes no timeout. */
const PATIENT: Clock = { now: () => 0, schedule: () => () => {}, sleep: async () => {} };

test('readers of 6,000 grown values read the counts in several pages, or only the count of a named value', async () => {
  const { named, all } = await playGrownCounts(dynamoDb, 6_000, { clock: PATIENT, timeOfDay: () => 0 });
  expect(named.queries).toBe(2);
  expect(all.queries).toBeGreaterThan(2);
}, 120_000);
