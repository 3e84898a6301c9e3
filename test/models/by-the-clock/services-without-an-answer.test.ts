import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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

const STREAM = { [STREAM_NAME]: 'events' };
const CREATE = {
  RequestType: 'Create',
  StackId: 'stack',
  ResourceProperties: { StreamName: 'events', ShardCount: '4' },
};

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
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
      const timer = setInterval(() => response.write(' '), 100);
      response.on('close', () => clearInterval(timer));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const bundle = await LambdaFunction.start({ name, environment, endpoint });
    try {
      const { error } = await bundle.invoke(event, 45_000);
      expect(error).toMatchObject({ name: expect.stringMatching(/^(AbortError|TimeoutError)$/) });
    } finally {
      await bundle.stop();
      server.closeAllConnections();
      server.close();
    }
  },
  60_000,
);

test.concurrent('stream-resharder ends if a request gets no response', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const bundle = await LambdaFunction.start({ name: 'stream-resharder', environment: {}, endpoint });
  try {
    const { error } = await bundle.invoke(CREATE, 45_000);
    expect(error).toMatchObject({ name: 'TimeoutError' });
  } finally {
    await bundle.stop();
    silent.closeAllConnections();
    silent.close();
  }
}, 60_000);
