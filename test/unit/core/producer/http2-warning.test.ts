import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';

const region = 'eu-west-1';

/** The warnings of a new process that creates a producer for each client, or for the light client of each client. */
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

describe('the warning about HTTP/2', () => {
  test.each([false, true])(
    'appears once for all clients with the default handler of the SDK; light client: %s',
    (isLight) => {
      expect(warningsFor([new Kinesis({ region }), new Kinesis({ region })], isLight)).toEqual([
        [expect.stringContaining('NodeHttpHandler'), { code: 'EVEN_SHARDS_HTTP2_CLIENT' }],
      ]);
    },
  );

  test('does not appear for a client with NodeHttpHandler or for a client that does not come from the SDK', () => {
    const keptConnections = new Kinesis({ region, requestHandler: new NodeHttpHandler() });
    const others = [{}, { config: {} }, { config: { requestHandler: null } }].map((client) => ({
      ...client,
      putRecords: async () => ({}),
    }));
    expect(warningsFor([keptConnections, ...others])).toEqual([]);
  });
});
