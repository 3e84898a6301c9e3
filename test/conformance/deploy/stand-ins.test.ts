import { CloudWatch } from '@aws-sdk/client-cloudwatch';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { describeWhere } from '../../support/describe-where';
import { PYTHON_NEEDED } from '../../support/fetched';
import { playStreamAnswers } from '../../support/plays/stream-answers';
import { randomRuns, randomRunsTimeout } from '../../support/random-runs';
import { Account, CREDENTIALS, fetchEmulator, REGION } from './account';
import { playMetricAnswers } from './metric-answers';

/** Compares the published stand-ins for Kinesis and CloudWatch with moto: docs/models.md. */
const describeIf = describeWhere(fetchEmulator(), PYTHON_NEEDED);

describeIf('the stand-ins for services, and moto', () => {
  let account: Account;
  let kinesis: Kinesis;
  let cloudWatch: CloudWatch;
  beforeAll(async () => {
    account = await Account.open();
    const options = { region: REGION, credentials: CREDENTIALS, endpoint: account.endpoint };
    kinesis = new Kinesis({ ...options, requestHandler: new NodeHttpHandler() });
    cloudWatch = new CloudWatch(options);
  }, 60_000);
  afterAll(async () => {
    kinesis?.destroy();
    cloudWatch?.destroy();
    await account?.close();
  });

  test(
    'FakeKinesis responds as moto does',
    async () => {
      const compared: Record<string, number> = {};
      for (let seed = 0; seed < randomRuns(4); seed++) {
        const known = { knowsClosedShards: true, doublesAndHalves: true, misplaces: true };
        const counts = await playStreamAnswers(kinesis, { calls: 40, seed, ...known });
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
      const compared = await playMetricAnswers(cloudWatch, { calls: randomRuns(60), seed: 1 });
      console.info('CloudWatch on moto', compared);
      expect(compared.getMetricData).toBeGreaterThan(0);
    },
    randomRunsTimeout(120_000),
  );
});
