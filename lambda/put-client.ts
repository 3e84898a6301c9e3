import { KinesisClient, ListShardsCommand, PutRecordsCommand } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { lightPutClient } from '../lib/core/producer/light-put-client';
import type { PutRecordsClient } from '../lib/core/producer/put-records-client';

/**
 * What a producer asks of Kinesis, and no other command: each that is bundled makes a cold start longer.
 *
 * HTTP/1.1, because it keeps its connections: the SDK's default for Kinesis, HTTP/2, opens a session for each request,
 * and needs TLS, which emulators lack. No retries in the SDK, because the producer's own know about order.
 */
export function putClient(): Required<Pick<PutRecordsClient, 'putRecords' | 'listShards'>> {
  const client = new KinesisClient({ maxAttempts: 1, requestHandler: new NodeHttpHandler() });
  const { putRecords } = lightPutClient({
    config: client.config,
    middlewareStack: client.middlewareStack,
    putRecords: (input, options) => client.send(new PutRecordsCommand(input), options),
  });
  return { putRecords, listShards: (input, options) => client.send(new ListShardsCommand(input), options) };
}
