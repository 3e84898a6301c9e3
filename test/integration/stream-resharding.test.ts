import {
  MAX_SHARDS,
  MIN_SHARDS,
  REPAIR,
  SCALE_IN_ALARM,
  SCALE_OUT_ALARM,
  SHARD_COUNT,
  STREAM_NAME,
  SURGE_ALARM,
} from '../../lib/core/contract/function-environment';
import { listOpenShards } from '../../lib/core/resharding/open-shards';
import { skewOf } from '../../lib/core/resharding/skew';
import { readTags } from '../../lib/core/resharding/stream-tags';
import { MAX_SKEW } from '../../lib/core/resharding/thresholds';
import { formatUpdateHistory, parseUpdateHistory, UPDATE_HISTORY_TAG } from '../../lib/core/resharding/update-history';
import { waitUntilActive } from '../support/active-stream';
import { kinesisForTests } from '../support/kinesis-local';
import { type Invocation, LambdaFunction } from '../support/lambda-function';
import { type LoopbackServer, sendJson, startJsonService, startServer } from '../support/loopback-server';
import { readStream } from '../support/reference-app';
import { type CustomResourceResponse, ProviderFramework } from './provider-framework';

const { kinesis, endpoint: kinesisEndpoint, createStream } = kinesisForTests();
const functions: LambdaFunction[] = [];

/** Starts a bundle. `endpoint` is the endpoint of services without an emulator. */
async function startFunction(
  name: string,
  environment: Record<string, string>,
  { kinesisAt = kinesisEndpoint(), endpoint = kinesisAt }: { kinesisAt?: string; endpoint?: string } = {},
): Promise<LambdaFunction> {
  const all = { ...environment, AWS_ENDPOINT_URL_KINESIS: kinesisAt };
  const started = await LambdaFunction.start({ name, endpoint, environment: all });
  functions.push(started);
  return started;
}

/** The response of a function or its error, after an invocation with the timeout of the deployed function. */
async function invoke(on: LambdaFunction, event: object = {}) {
  const { response, error } = await on.invoke(event, 120_000);
  return error ?? JSON.parse(response!);
}

async function updateHistory(streamName: string) {
  const tags = await readTags(kinesis, streamName);
  return parseUpdateHistory(tags.get(UPDATE_HISTORY_TAG), Date.now());
}

async function expectOpenShards(streamName: string, shardCount: number) {
  const shards = await listOpenShards(kinesis, streamName);
  expect(shards).toHaveLength(shardCount);
  return shards;
}

async function expectEvenShards(streamName: string, shardCount: number): Promise<void> {
  expect(skewOf(await expectOpenShards(streamName, shardCount))).toBeLessThanOrEqual(MAX_SKEW);
}

/** A fake CloudFormation that returns only the status of a stack. */
function startCloudFormation(status: () => string): Promise<LoopbackServer> {
  return startServer((response) => {
    const stack = `<member><StackName>Test</StackName><StackStatus>${status()}</StackStatus></member>`;
    response.writeHead(200, { 'content-type': 'text/xml' });
    response.end(
      `<DescribeStacksResponse><DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult></DescribeStacksResponse>`,
    );
  });
}

afterAll(() => Promise.all(functions.map((each) => each.stop())));

describe('the custom resource of a shard count', () => {
  let framework: ProviderFramework;
  let response: Promise<CustomResourceResponse>;
  let received: (response: CustomResourceResponse) => void;
  let cloudFormation: LoopbackServer;
  let stackStatus: string;

  beforeAll(async () => {
    cloudFormation = await startCloudFormation(() => stackStatus);
    const resharder = await startFunction('stream-resharder', {
      AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation.endpoint,
    });
    framework = new ProviderFramework(
      (payload) => resharder.invokeJson(payload, 120_000),
      async (response) => received(response),
    );
  });

  beforeEach(() => {
    stackStatus = 'UPDATE_IN_PROGRESS';
  });

  afterAll(() => cloudFormation.stop());

  /** Sends a request as CloudFormation does, and waits for the response at its URL. */
  async function request(
    RequestType: 'Create' | 'Update' | 'Delete',
    streamName: string,
    shardCount: number,
    rest: { PhysicalResourceId?: string; oldShardCount?: number; deployedShardCount?: number } = {},
  ): Promise<CustomResourceResponse> {
    response = new Promise((resolve) => {
      received = resolve;
    });
    const { PhysicalResourceId, oldShardCount, deployedShardCount } = rest;
    const properties = (count: number) => ({
      ServiceToken: 'arn',
      StreamName: streamName,
      ShardCount: String(count),
      ...(deployedShardCount !== undefined && { DeployedShardCount: String(deployedShardCount) }),
    });
    await framework.request({
      RequestType,
      ResponseURL: 'https://cloudformation.local/response',
      StackId: 'arn:aws:cloudformation:us-east-1:000000000000:stack/Test/1',
      RequestId: `${RequestType}-${shardCount}`,
      ResourceType: 'Custom::EvenShardsStreamShardCount',
      LogicalResourceId: 'ShardCount',
      ...(PhysicalResourceId !== undefined && { PhysicalResourceId }),
      ResourceProperties: properties(shardCount),
      ...(oldShardCount !== undefined && { OldResourceProperties: properties(oldShardCount) }),
    });
    return response;
  }

  test('updates a stream from 4 to 16 shards and rolls back to 4, while a producer keeps the order of each key', async () => {
    await createStream('Events', 4);
    const flow = keepProducing('Events');
    const created = await request('Create', 'Events', 4);
    expect(created).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: 'Events', Data: { OpenShardCount: 4 } });

    const resource = { PhysicalResourceId: created.PhysicalResourceId };
    const updated = await request('Update', 'Events', 16, { ...resource, oldShardCount: 4 });
    expect(updated).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: 'Events', Data: { OpenShardCount: 16 } });
    await expectEvenShards('Events', 16);

    const rolledBack = await request('Update', 'Events', 4, { ...resource, oldShardCount: 16 });
    expect(rolledBack).toMatchObject({ Status: 'SUCCESS', Data: { OpenShardCount: 4 } });
    await expectEvenShards('Events', 4);

    expect(await request('Delete', 'Events', 4, resource)).toMatchObject({ Status: 'SUCCESS' });
    await expectEvenShards('Events', 4);
    await flow.endInOrder();
  }, 120_000);

  test('makes uneven shards even by splits and merges', async () => {
    await createStream('Uneven', 4);
    const created = await request('Create', 'Uneven', 6);
    expect(created).toMatchObject({ Status: 'SUCCESS', Data: { OpenShardCount: 6 } });
    await expectEvenShards('Uneven', 6);
    expect(await updateHistory('Uneven')).toHaveLength(1);
  });

  test('reports the daily limit and the time of the next update, does not change the stream, and can roll back', async () => {
    await createStream('Limited', 4);
    const times = Array.from({ length: 10 }, (_, hours) => Date.now() - (20 - hours) * 3_600_000);
    await kinesis.addTagsToStream({
      StreamName: 'Limited',
      Tags: { [UPDATE_HISTORY_TAG]: formatUpdateHistory(times.map((time) => ({ time, shardCount: 4 }))) },
    });
    const failed = await request('Update', 'Limited', 64, { PhysicalResourceId: 'Limited', oldShardCount: 4 });
    // The tag stores the time of an update in whole minutes, so the daily limit counts the update for up to one minute
    // longer.
    const minute = Math.floor(times[3]! / 60_000) + 1;
    const frees = new Date(minute * 60_000 + 24 * 3_600_000).toISOString();
    expect(failed).toMatchObject({ Status: 'FAILED', PhysicalResourceId: 'Limited' });
    expect(failed.Reason).toContain(`Limited needs 4 more update(s) of its shard count`);
    expect(failed.Reason).toContain(`they are allowed again at ${frees}`);
    const back = await request('Update', 'Limited', 4, { PhysicalResourceId: 'Limited', oldShardCount: 64 });
    expect(back).toMatchObject({ Status: 'SUCCESS', Data: { OpenShardCount: 4 } });
  });

  test('restores the shard count when a rollback deletes the resource, but not when the resource is deleted for another reason', async () => {
    await createStream('Introduced', 4);
    const resource = { deployedShardCount: 4, PhysicalResourceId: 'Introduced' };
    expect(await request('Create', 'Introduced', 32, { deployedShardCount: 4 })).toMatchObject({ Status: 'SUCCESS' });
    for (const status of ['UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', 'DELETE_IN_PROGRESS']) {
      stackStatus = status;
      expect(await request('Delete', 'Introduced', 32, resource)).toMatchObject({ Status: 'SUCCESS' });
      await expectOpenShards('Introduced', 32);
    }
    stackStatus = 'UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS';
    expect(await request('Delete', 'Introduced', 32, resource)).toMatchObject({ Status: 'SUCCESS' });
    await expectEvenShards('Introduced', 4);
  }, 60_000);

  test('completes a rollback although the daily limit of updates is used up, and keeps the current shards', async () => {
    await createStream('Exhausted', 64);
    const history = Array.from({ length: 10 }, () => ({ time: Date.now() - 3_600_000, shardCount: 64 }));
    await kinesis.addTagsToStream({
      StreamName: 'Exhausted',
      Tags: { [UPDATE_HISTORY_TAG]: formatUpdateHistory(history) },
    });
    const resource = { PhysicalResourceId: 'Exhausted', oldShardCount: 64 };
    expect(await request('Update', 'Exhausted', 4, resource)).toMatchObject({ Status: 'FAILED' });
    stackStatus = 'UPDATE_ROLLBACK_IN_PROGRESS';
    const back = await request('Update', 'Exhausted', 4, resource);
    expect(back).toMatchObject({ Status: 'SUCCESS', Data: { OpenShardCount: 64, Skew: 1 } });
    await expectOpenShards('Exhausted', 64);
  });

  test('rejects an on-demand stream with the reason, and accepts the deletion of the custom resource', async () => {
    const StreamName = 'OnDemand';
    await kinesis.createStream({ StreamName, StreamModeDetails: { StreamMode: 'ON_DEMAND' } });
    await waitUntilActive(kinesis, StreamName);
    const failed = await request('Create', StreamName, 8);
    expect(failed).toMatchObject({ Status: 'FAILED' });
    expect(failed.Reason).toContain('OnDemand cannot be resharded: it is in on-demand mode');
    const { PhysicalResourceId } = failed;
    expect(await request('Delete', StreamName, 8, { PhysicalResourceId })).toMatchObject({ Status: 'SUCCESS' });
  });
});

describe('the function of the custom resource', () => {
  const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000;
  const event = (StreamName: string, ShardCount: number, StartedAt: number) => ({
    RequestType: 'Update',
    PhysicalResourceId: StreamName,
    ResourceProperties: { StreamName, ShardCount: String(ShardCount) },
    StartedAt,
  });

  test('fails before the timeout of CloudFormation with an error that describes its progress, and makes no further change', async () => {
    await createStream('Slow', 4);
    const resharder = await startFunction('stream-resharder', {});
    expect(await invoke(resharder, event('Slow', 16, minutesAgo(51)))).toMatchObject({
      name: 'ReshardTimeOutError',
      message: '[RESHARD_TIME_OUT] Slow has 4 of 16 shards after 51 minutes; run it again to continue',
    });
    await expectOpenShards('Slow', 4);
  });

  test('continues if the clock was set back after the deployment began', async () => {
    await createStream('SetBack', 4);
    const resharder = await startFunction('stream-resharder', {});
    const request = event('SetBack', 8, minutesAgo(-30));
    expect(await invoke(resharder, request)).toMatchObject({ IsComplete: false });
    expect(await invoke(resharder, request)).toMatchObject({ IsComplete: false });
    await waitUntilActive(kinesis, 'SetBack');
    expect(await invoke(resharder, request)).toMatchObject({ IsComplete: true, Data: { OpenShardCount: 8, Skew: 1 } });
  });

  test('waits two minutes for a permission that the deployment has just granted', async () => {
    const refusal = { __type: 'AccessDeniedException', message: 'not authorized' };
    const denying = await startServer((response) => sendJson(response, refusal));
    try {
      const resharder = await startFunction('stream-resharder', {}, { kinesisAt: denying.endpoint });
      expect(await invoke(resharder, event('Events', 4, minutesAgo(1)))).toMatchObject({
        PhysicalResourceId: 'Events',
        IsComplete: false,
      });
      expect(await invoke(resharder, event('Events', 4, minutesAgo(3)))).toMatchObject({
        name: 'AccessDeniedException',
      });
    } finally {
      denying.stop();
    }
  });
});

describe('the function of StreamReconciliation', () => {
  async function createDrifted(streamName: string): Promise<void> {
    await createStream(streamName, 4);
    const [first] = await listOpenShards(kinesis, streamName);
    await kinesis.splitShard({
      StreamName: streamName,
      ShardToSplit: first!.shardId,
      NewStartingHashKey: String(first!.endingHashKey / 2n),
    });
    await waitUntilActive(kinesis, streamName);
  }

  test('reports drift with a repair plan, repairs the drift on request, and then reports an even stream', async () => {
    await createDrifted('Drifted');
    const reconciler = await startFunction('stream-reconciler', {
      [STREAM_NAME]: 'Drifted',
      [SHARD_COUNT]: '4',
      [REPAIR]: 'false',
    });
    expect(await invoke(reconciler)).toEqual({
      streamName: 'Drifted',
      state: 'uneven',
      openShardCount: 5,
      skew: 1.25,
      plan: [expect.stringMatching(/^merge 0{32}-1f{30}[ef] with (1f{31}|20{31})-3f{30}[ef]$/)],
    });
    await expectOpenShards('Drifted', 5);
    expect(await invoke(reconciler, { repair: true })).toMatchObject({ state: 'even', openShardCount: 4, plan: [] });
    await expectEvenShards('Drifted', 4);
    expect(await invoke(reconciler)).toMatchObject({ state: 'even', openShardCount: 4, plan: [] });
  }, 30_000);

  test('reports the skew of a stream without a declared count, and rejects its repair', async () => {
    await createDrifted('Undeclared');
    const reconciler = await startFunction('stream-reconciler', { [STREAM_NAME]: 'Undeclared', [REPAIR]: 'false' });
    expect(await invoke(reconciler)).toMatchObject({ state: 'uneven', openShardCount: 5, skew: 1.25 });
    expect(await invoke(reconciler, { repair: true })).toMatchObject({ name: 'InvalidEventError' });
    expect(await invoke(reconciler, { repair: 'yes' })).toMatchObject({
      message: '[INVALID_EVENT] repair must be true or false, got "yes"',
    });
  });
});

describe('the function of StreamAutoScaling', () => {
  let alarms: LoopbackServer;
  let states: { AlarmName: string; StateValue: string }[];
  let requests: unknown[];

  beforeAll(async () => {
    alarms = await startJsonService((_, input) => {
      requests.push(input);
      return { MetricAlarms: states };
    });
  });

  beforeEach(() => {
    requests = [];
  });

  afterAll(() => alarms.stop());

  const startScaler = (streamName: string, { maxShards = '50', endpoint = alarms.endpoint } = {}) =>
    startFunction(
      'stream-scaler',
      {
        [STREAM_NAME]: streamName,
        [MIN_SHARDS]: '2',
        [MAX_SHARDS]: maxShards,
        [SURGE_ALARM]: 'twice',
        [SCALE_OUT_ALARM]: 'more',
        [SCALE_IN_ALARM]: 'fewer',
      },
      { endpoint },
    );

  const metricsIn = ({ log }: Invocation) => JSON.parse(log.split('\n').find((line) => line.startsWith('{"_aws"'))!);

  test('doubles the shards if the alarm for twice the shards is in the state ALARM, records the update, and publishes the shard count', async () => {
    await createStream('Scaled', 4);
    const scaler = await startScaler('Scaled');
    states = [
      { AlarmName: 'twice', StateValue: 'ALARM' },
      { AlarmName: 'more', StateValue: 'ALARM' },
      { AlarmName: 'fewer', StateValue: 'OK' },
    ];
    const first = await scaler.invoke({});
    expect(first.response).toBe('null');
    await waitUntilActive(kinesis, 'Scaled');
    await expectEvenShards('Scaled', 8);
    expect(await updateHistory('Scaled')).toMatchObject([{ shardCount: 8 }]);
    expect(requests).toEqual([{ AlarmNames: ['twice', 'more', 'fewer'] }]);

    const second = await scaler.invoke({});
    await expectOpenShards('Scaled', 8);
    for (const invocation of [first, second]) {
      expect(metricsIn(invocation)).toMatchObject({ StreamName: 'Scaled', OpenShards: 8, ShardCountUpdatesLeft: 9 });
    }
    expect(metricsIn(first)._aws.CloudWatchMetrics).toEqual([
      {
        Namespace: 'EvenShards',
        Dimensions: [['StreamName']],
        Metrics: [
          { Name: 'OpenShards', Unit: 'Count' },
          { Name: 'ShardCountUpdatesLeft', Unit: 'Count' },
          { Name: 'HighLoadAtMaximum', Unit: 'Count' },
        ],
      },
    ]);
  });

  test('publishes the shard count even if the update of the shards fails, and reports a high load at the maximum of shards', async () => {
    await createStream('Failing', 4);
    const failing = await startScaler('Failing', { maxShards: '4', endpoint: 'http://127.0.0.1:1' });
    const failed = await failing.invoke({});
    expect(failed.error).toBeDefined();
    expect(metricsIn(failed)).toMatchObject({ OpenShards: 4, ShardCountUpdatesLeft: 10, HighLoadAtMaximum: 0 });
    states = [{ AlarmName: 'more', StateValue: 'ALARM' }];
    const later = await startScaler('Failing', { maxShards: '4' });
    expect(metricsIn(await later.invoke({}))).toMatchObject({ OpenShards: 4, HighLoadAtMaximum: 1 });
  });
});

const KEYS = Array.from({ length: 12 }, (_, index) => `account-${index}`);

/** Invokes the producer function repeatedly. Each invocation puts the next three records of every key. */
function keepProducing(streamName: string) {
  let stopping = false;
  let next = 0;
  const produced = (async () => {
    const producer = await startFunction('producer', { [STREAM_NAME]: streamName });
    while (!stopping) {
      const numbers = [next++, next++, next++];
      const records = numbers.flatMap((number) => KEYS.map((partitionKey) => ({ partitionKey, data: String(number) })));
      expect(await invoke(producer, { records })).toMatchObject({ failedRecordCount: 0 });
    }
  })();
  return {
    /** Expects each record once and in the order of its key. Reads parent shards before their child shards. */
    async endInOrder(): Promise<void> {
      stopping = true;
      await produced;
      const records = await readStream({ clients: { kinesis }, streams: [{ name: streamName }] } as never);
      const expected = Array.from({ length: next }, (_, number) => String(number));
      for (const key of KEYS) {
        const data = records.filter(({ partitionKey }) => partitionKey === key).map(({ data }) => data.toString());
        expect(data).toEqual(expected);
      }
      expect(new Set(records.map(({ shardId }) => shardId)).size).toBeGreaterThan(KEYS.length);
    },
  };
}
