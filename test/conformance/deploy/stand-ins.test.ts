import { describeWhere } from '../../support/describe-where';
import { PYTHON_NEEDED } from '../../support/fetched';
import { playStreamAnswers } from '../../support/plays/stream-answers';
import { randomRuns, randomRunsTimeout } from '../../support/random-runs';
import { accountForTests, fetchEmulator } from './account';
import { playMetricAnswers } from './metric-answers';

/** Compares the published stand-ins for Kinesis and CloudWatch with moto: docs/models.md. */
const describeIf = describeWhere(fetchEmulator(), PYTHON_NEEDED);

describeIf('the stand-ins for services, and moto', () => {
  const account = accountForTests({ bootstraps: false });

  test(
    'FakeKinesis responds as moto does',
    async () => {
      const compared: Record<string, number> = {};
      for (let seed = 0; seed < randomRuns(4); seed++) {
        const known = { knowsClosedShards: true, doublesAndHalves: true, misplaces: true };
        const counts = await playStreamAnswers(account.kinesis, { calls: 40, seed, ...known });
        for (const [kind, count] of Object.entries(counts)) compared[kind] = (compared[kind] ?? 0) + count;
      }
      console.info('Kinesis on moto', compared);
      expect(compared['updateShardCount answered']).toBeGreaterThan(0);
      expect(compared['splitShard InvalidArgumentException']).toBeGreaterThan(0);
    },
    randomRunsTimeout(120_000),
  );

  test(
    'FakeCloudWatch responds as moto does',
    async () => {
      const compared = await playMetricAnswers(account.cloudWatch, { calls: randomRuns(60), seed: 1 });
      console.info('CloudWatch on moto', compared);
      expect(compared.getMetricData).toBeGreaterThan(0);
    },
    randomRunsTimeout(120_000),
  );
});
