import { lightRequest, type SdkClient } from '../aws-client/light-request';
import { type RoutedCommand, Routes } from '../aws-client/routes';
import { InvalidArgumentError } from '../kernel/errors';
import { warnOfHttp2 } from './http2-warning';
import { putRecordsBody } from './put-records-body';
import { checkPutClient, type PutRecordsClient, type PutRecordsOutput } from './put-records-client';
import { isThrottle } from './retry';

/** The part of the AWS SDK's Kinesis client that the light client uses. `new Kinesis({})` fits without an adapter. */
export type SdkPutClient = SdkClient & PutRecordsClient;

const PUTS: RoutedCommand<Partial<Record<'StreamName' | 'StreamARN', string>>> = {
  commandName: 'PutRecordsCommand',
  resourceOf: ({ StreamName, StreamARN }) => String(StreamARN ?? StreamName),
};

/**
 * A client for the ordered producer that needs a fraction of the processor time of the AWS SDK's client. Use it for a producer
 * of thousands of records a second, which otherwise spends most of its processor time in the SDK.
 *
 *     const kinesis = new Kinesis({ maxAttempts: 1, requestHandler: new NodeHttpHandler() });
 *     const producer = new OrderedProducer(lightPutClient(kinesis), { streamName: 'orders' });
 *
 * The light client uses the credentials, the region, the endpoint, the sockets and the timeouts of `kinesis`. `kinesis` itself
 * sends the first `PutRecords` request of a stream, and all requests of other operations. After a transient failure, such as a
 * throttle or a 5xx response, the light client throws the SDK's error, and the producer retries. If Kinesis rejects a request
 * for another reason, `kinesis` sends the request again. `kinesis` can fix the cause, such as a wrong clock, or throws its own
 * error. The light client does not repeat a request that Kinesis may have applied.
 *
 * The light client does not run the SDK's middleware. So middleware that an application adds to `kinesis`, such as tracing,
 * does not see these requests. docs/decisions has the reasons and the measurements.
 *
 * @param kinesis the client with the credentials, the endpoint and the sockets for the light client; do not destroy this client
 *   while you use the light client
 */
export function lightPutClient(kinesis: SdkPutClient): PutRecordsClient {
  checkPutClient(kinesis);
  if (typeof Object(kinesis.middlewareStack).add !== 'function') {
    throw new InvalidArgumentError('kinesis', kinesis, 'a client of the AWS SDK, such as new Kinesis({})');
  }
  warnOfHttp2(kinesis);
  const routes = Routes.of(kinesis, PUTS);
  return {
    async putRecords(input, options) {
      const stream = PUTS.resourceOf(input);
      const route = await routes.find(stream);
      if (route === undefined) return kinesis.putRecords(input, options).finally(() => routes.sentWithSdk(stream));
      const response = await lightRequest(kinesis, route, {
        body: putRecordsBody(input),
        isTransient: isThrottle,
        options,
      });
      return response === undefined ? kinesis.putRecords(input, options) : outputOf(response);
    },
    putRecord: kinesis.putRecord && ((input, options) => kinesis.putRecord!(input, options)),
    listShards: kinesis.listShards && ((input, options) => kinesis.listShards!(input, options)),
    describeStreamSummary:
      kinesis.describeStreamSummary && ((input, options) => kinesis.describeStreamSummary!(input, options)),
  };
}

/** Throws if the response is not JSON. The producer then treats the response as lost: the records may be stored. */
function outputOf(response: string): PutRecordsOutput {
  return JSON.parse(response);
}
