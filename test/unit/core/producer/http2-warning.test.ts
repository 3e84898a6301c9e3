import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';

const region = 'eu-west-1';

/** The warnings of a fresh process that makes a producer for each client, or for a light client of each. */
function warningsFor(clients: object[], isLight = false): unknown[] {
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  jest.isolateModules(() => {
    const { lightPutClient, OrderedProducer } =
      require('../../../../lib/core/producer') as typeof import('../../../../lib/core/producer');
    for (const client of clients) {
      new OrderedProducer(isLight ? lightPutClient(client as never) : (client as never), { streamName: 'Events' });
    }
  });
  const { calls } = warn.mock;
  warn.mockRestore();
  return calls;
}

describe('a client of the SDK', () => {
  test.each([false, true])('with its default handler, which speaks HTTP/2, is warned of once; light: %s', (isLight) => {
    expect(warningsFor([new Kinesis({ region }), new Kinesis({ region })], isLight)).toEqual([
      [expect.stringContaining('NodeHttpHandler'), { code: 'EVEN_SHARDS_HTTP2_CLIENT' }],
    ]);
  });

  test('with the handler that keeps its connections is right, and so is any other client', () => {
    const kept = new Kinesis({ region, requestHandler: new NodeHttpHandler() });
    expect(warningsFor([kept, {}, { config: {} }, { config: { requestHandler: null } }])).toEqual([]);
  });
});
