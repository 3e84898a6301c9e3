import type { ServerResponse } from 'node:http';
import {
  INDEX,
  MAX_SHARDS,
  MIN_SHARDS,
  REGISTRY_TABLE_NAME,
  SCALE_IN_ALARM,
  SCALE_OUT_ALARM,
  STREAM_NAME,
  SURGE_ALARM,
} from '../../../lib/core/contract/function-environment';
import { adaptiveConfig } from '../../support/fakes/adaptive-config';
import { LambdaFunction } from '../../support/lambda-function';
import { startServer } from '../../support/loopback-server';

const STREAM = { [STREAM_NAME]: 'events' };
const CREATE = {
  RequestType: 'Create',
  StackId: 'stack',
  ResourceProperties: { StreamName: 'events', ShardCount: '4' },
};

/** Invokes a function whose services respond like this. Returns the name of its error. */
async function errorOf(
  respond: Parameters<typeof startServer>[0],
  name: string,
  environment: Record<string, string>,
  event: object,
): Promise<string | undefined> {
  const server = await startServer(respond);
  const bundle = await LambdaFunction.start({ name, environment, endpoint: server.endpoint });
  try {
    return (await bundle.invoke(event, 45_000)).error?.name;
  } finally {
    await bundle.stop();
    server.stop();
  }
}

/** Each function must end long before the timeout that its construct sets. */
test.concurrent.each<[string, Record<string, string>, object]>([
  ['hash-key-registry', { ...STREAM, [REGISTRY_TABLE_NAME]: 'owners' }, { action: 'get', owners: ['a'] }],
  ['hash-key-registry', { ...STREAM, [REGISTRY_TABLE_NAME]: 'owners' }, { action: 'plan' }],
  ['adaptive-shard-count-controller', { [INDEX]: JSON.stringify(adaptiveConfig) }, {}],
  ['stream-reconciler', STREAM, {}],
  ['stream-resharder', {}, CREATE],
  [
    'stream-scaler',
    {
      ...STREAM,
      [MIN_SHARDS]: '1',
      [MAX_SHARDS]: '2',
      [SURGE_ALARM]: 's',
      [SCALE_OUT_ALARM]: 'o',
      [SCALE_IN_ALARM]: 'i',
    },
    {},
  ],
])(
  '%s ends if a response never completes although the socket keeps receiving bytes',
  async (name, environment, event) => {
    const respond = (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
      const timer = setInterval(() => response.write(' '), 100);
      response.on('close', () => clearInterval(timer));
    };
    expect(await errorOf(respond, name, environment, event)).toMatch(/^(AbortError|TimeoutError)$/);
  },
  60_000,
);

test.concurrent('stream-resharder ends if a request gets no response', async () => {
  expect(await errorOf(() => {}, 'stream-resharder', {}, CREATE)).toBe('TimeoutError');
}, 60_000);
