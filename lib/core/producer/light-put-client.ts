import { lightRequest, type SdkClient } from '../aws-client/light-request';
import { type RoutedCommand, Routes } from '../aws-client/routes';
import { warnOfHttp2 } from './http2-warning';
import { putRecordsBody } from './put-records-body';
import type { PutRecordsClient, PutRecordsOutput } from './put-records-client';
import { isThrottle } from './retry';

/** The part of the AWS SDK's Kinesis client that the light client uses. `new Kinesis({})` fits without an adapter. */
export type SdkPutClient = SdkClient & PutRecordsClient;

const PUTS: RoutedCommand<Partial<Record<'StreamName' | 'StreamARN', string>>> = {
  commandName: 'PutRecordsCommand',
  resourceOf: ({ StreamName, StreamARN }) => String(StreamARN ?? StreamName),
};

/**
 * A client for the ordered producer that needs a fraction of the processor time of the AWS SDK's client. Use it wherever a
 * producer writes thousands of records a second: most of their processor time is the SDK's.
 *
 *     const kinesis = new Kinesis({ maxAttempts: 1, requestHandler: new NodeHttpHandler() });
 *     const producer = new OrderedProducer(lightPutClient(kinesis), { streamName: 'orders' });
 *
 * The SDK's client still decides everything: the credentials, the region, the endpoint, the sockets and the time-outs are
 * those of `kinesis`, and it sends the first `PutRecords` of a stream, and whatever is no `PutRecords`. A failure that another
 * attempt can overcome, such as a throttle or an answer of 5xx, is thrown as the SDK would throw it, so that the producer
 * decides. A request that Kinesis refused for another reason is sent once more by the SDK's client, which can fix the cause,
 * such as a wrong clock, or throws its own error. A request that may have been applied is never sent again here.
 *
 * The light client does not run the SDK's middleware: middleware that an application adds to `kinesis`, such as tracing, does
 * not see these requests. docs/decisions has the reasons and the measurements.
 *
 * @param kinesis the client whose credentials, endpoint and sockets to use; keep it as long as the light client
 */
export function lightPutClient(kinesis: SdkPutClient): PutRecordsClient {
  warnOfHttp2(kinesis);
  const routes = Routes.of(kinesis, PUTS);
  return {
    async putRecords(input, options) {
      const stream = PUTS.resourceOf(input);
      const route = await routes.find(stream);
      if (route === undefined) return kinesis.putRecords(input, options).finally(() => routes.sentWithSdk(stream));
      const answer = await lightRequest(kinesis, route, {
        body: putRecordsBody(input),
        isTransient: isThrottle,
        options,
      });
      return answer === undefined ? kinesis.putRecords(input, options) : outputOf(answer);
    },
    putRecord: kinesis.putRecord && ((input, options) => kinesis.putRecord!(input, options)),
    listShards: kinesis.listShards && ((input, options) => kinesis.listShards!(input, options)),
    describeStreamSummary:
      kinesis.describeStreamSummary && ((input, options) => kinesis.describeStreamSummary!(input, options)),
  };
}

/** An answer that cannot be read is a lost one: the records may be stored. So this throws, and the producer decides. */
function outputOf(answer: string): PutRecordsOutput {
  return JSON.parse(answer);
}
