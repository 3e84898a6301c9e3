import { Billing, Capacity } from 'aws-cdk-lib/aws-dynamodb';
import { check } from '../../bin/check';
import { doctor } from '../../bin/doctor';
import { type LocalStack, startLocal } from '../../bin/local/run-local';
import { FakeCloudWatch } from '../../lib/testing';
import { printed } from '../support/command';
import { type Deployment, synthesizeDeployment } from '../support/stacks/deployments';

/**
 * Follows the advice of `doctor` about provisioned capacity: the next deployment has the advised numbers. No emulator
 * limits provisioned capacity, so the test does not check that the throttling ends.
 */

const MINUTE_MS = 60_000;

interface Found {
  readonly id: string;
  readonly path: string;
  readonly change: string;
}

beforeEach(() => {
  jest.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => {
  jest.restoreAllMocks();
  process.exitCode = undefined;
});

/** The advice of doctor for an app whose index has throttled writes, while auto scaling gives the index some write units. */
async function advisedIn(app: string, writeUnits: number): Promise<Found[]> {
  const stack = await startLocal({ app });
  try {
    await provision(stack, writeUnits);
    const { kinesis, dynamodb } = stack.endpoints;
    const where = ['--app', app, '--kinesis-endpoint', kinesis, '--dynamodb-endpoint', dynamodb];
    const cloudWatch = new FakeCloudWatch();
    const ofTable = { Name: 'TableName', Value: stack.tables[0]!.name };
    const ofIndex = { Name: 'GlobalSecondaryIndexName', Value: 'byStatus' };
    cloudWatch.putMetricData({
      Namespace: 'AWS/DynamoDB',
      MetricName: 'WriteProvisionedThroughputThrottleEvents',
      Dimensions: [ofTable, ofIndex],
      Value: 3,
      atMs: (Math.floor(Date.now() / MINUTE_MS) - 1) * MINUTE_MS,
    });
    const run = (args: string[]) => doctor(args, cloudWatch as unknown as Parameters<typeof doctor>[1]);
    const { found } = JSON.parse(await printed(run, ...where, '--json'));
    return (found as Found[]).filter(({ id }) => id === 'provisionedCapacity');
  } finally {
    await stack.stop();
  }
}

/** Gives the table the capacity of its template, because a local run creates each table on demand. */
async function provision({ clients, tables }: LocalStack, writeUnits: number): Promise<void> {
  const ProvisionedThroughput = { ReadCapacityUnits: READ_UNITS, WriteCapacityUnits: writeUnits };
  await clients.dynamodb.updateTable({
    TableName: tables[0]!.name,
    BillingMode: 'PROVISIONED',
    ProvisionedThroughput,
    GlobalSecondaryIndexUpdates: [{ Update: { IndexName: 'byStatus', ProvisionedThroughput } }],
  });
}

const READ_UNITS = 10;
const READS = Capacity.fixed(READ_UNITS);
const WRITES = Capacity.autoscaled({ maxCapacity: 20 });
const PROVISIONED: Deployment = { billing: Billing.provisioned({ readCapacity: READS, writeCapacity: WRITES }) };

/** The bounds of auto scaling in the text of an advice. */
function boundsOf(change: string): { minCapacity: number; maxCapacity: number } {
  const [, minCapacity, maxCapacity] = /Capacity\.autoscaled\(\{ minCapacity: (\d+), maxCapacity: (\d+) \}\)/.exec(
    change,
  )!;
  return { minCapacity: Number(minCapacity), maxCapacity: Number(maxCapacity) };
}

test('doctor advises more capacity for throttled writes of a provisioned index, and check reports no finding for the advised deployment', async () => {
  const app = synthesizeDeployment(PROVISIONED);
  const [advice, ...more] = await advisedIn(app, 1);
  expect(more).toEqual([]);
  const advised = boundsOf(advice!.change);
  const indexLimits = { writeCapacity: Capacity.autoscaled(advised) };
  const coming = synthesizeDeployment({ ...PROVISIONED, indexLimits });
  const onDemand = synthesizeDeployment();
  expect(await printed(check, '--deployed', app, '--app', coming)).toMatch(/^nothing to look out for/);
  expect(await printed(check, '--deployed', app, '--app', onDemand)).toMatch(/^nothing to look out for/);
  // In the next deployment, auto scaling has the advised bounds. If the same number of writes is throttled again,
  // `doctor` advises a higher capacity.
  const [again] = await advisedIn(coming, advised.minCapacity);
  expect(again!.change).not.toBe(advice!.change);
}, 120_000);
