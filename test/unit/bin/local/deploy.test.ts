import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import type { DeploymentPlan } from '../../../../bin/local/assembly/deployment-plan';
import { DeploymentError, deploy } from '../../../../bin/local/deploy';
import { type LocalClients, localClients } from '../../../../bin/local/emulators/clients';
import { endpointOf } from '../../../../bin/local/loopback';

const PLAN: DeploymentPlan = {
  streams: [{ path: 'Orders/Events', name: 'events', arn: 'arn', mode: 'PROVISIONED', shardCount: 1 }],
  tables: [],
  functions: [],
  eventSources: [],
  schedules: [],
  leftOut: [],
  keyspacesTables: [],
  ignored: [],
};

function kinesisWith(StreamStatus: () => string): LocalClients {
  return {
    kinesis: {
      createStream: async () => ({}),
      describeStreamSummary: async () => ({ StreamDescriptionSummary: { StreamStatus: StreamStatus() } }),
    },
  } as unknown as LocalClients;
}

describe('a deployment', () => {
  test('waits until a stream is active', async () => {
    const statuses = ['CREATING', 'CREATING', 'ACTIVE'];
    await deploy(
      PLAN,
      kinesisWith(() => statuses.shift()!),
    );
    expect(statuses).toEqual([]);
  });

  test('gives a stream the record size limit of its template', async () => {
    const inputs: unknown[] = [];
    const { kinesis } = kinesisWith(() => 'ACTIVE');
    const createStream = async (input: unknown) => inputs.push(input);
    const [stream] = PLAN.streams;
    const streams = [{ ...stream!, maxRecordKibibytes: 10_240 }, stream!];
    await deploy({ ...PLAN, streams }, { kinesis: { ...kinesis, createStream } } as unknown as LocalClients);
    expect(inputs).toMatchObject([{ MaxRecordSizeInKiB: 10_240 }, { MaxRecordSizeInKiB: undefined }]);
  });

  test('of many streams – each signal has few listeners, so Node.js prints no warning', async () => {
    const counts: number[] = [];
    const createStream = async (_: unknown, { abortSignal }: { abortSignal: AbortSignal }) => {
      abortSignal.addEventListener('abort', () => {});
      counts.push(getEventListeners(abortSignal, 'abort').length);
    };
    const { kinesis } = kinesisWith(() => 'ACTIVE');
    const streams = Array.from({ length: 20 }, () => PLAN.streams[0]!);
    await deploy({ ...PLAN, streams }, { kinesis: { ...kinesis, createStream } } as unknown as LocalClients);
    expect(Math.max(...counts)).toBeLessThan(10);
  });

  test('fails if a stream does not become active within the time limit', async () => {
    const deployment = deploy(
      PLAN,
      kinesisWith(() => 'CREATING'),
      100,
    );
    await expect(deployment).rejects.toThrow(DeploymentError);
    await expect(deployment).rejects.toThrow(
      'cannot create Orders/Events (events): it is not active after 0.1 seconds',
    );
  });

  test('fails if an emulator does not respond within the time limit', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const endpoint = endpointOf(silent);
    const clients = localClients({ kinesis: endpoint, dynamodb: endpoint, lambda: endpoint });
    await expect(deploy(PLAN, clients, 100)).rejects.toThrow(
      'cannot create Orders/Events (events): it is not active after 0.1 seconds',
    );
    for (const client of Object.values(clients)) client.destroy();
    silent.closeAllConnections();
    silent.close();
  });
});
