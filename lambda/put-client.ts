import { KinesisClient, ListShardsCommand, PutRecordsCommand } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { lightPutClient } from '../lib/core/producer/light-put-client';
import type { PutRecordsClient } from '../lib/core/producer/put-records-client';

/**
 * A Kinesis client with only the commands of a producer, because each bundled command makes a cold start longer.
 *
 * It uses HTTP/1.1, which reuses connections. The SDK's default for Kinesis, HTTP/2, opens a session for each request,
 * and needs TLS, which emulators do not have. The SDK makes no retries, because the producer's retries keep the order
 * of keys.
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
