import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { ReshardClient } from '../lib/core/resharding/reshard-client';
import { inTime } from './in-time';

/**
 * The timeouts of a request. Up to four attempts of a read request take at most 20 seconds. The shortest function
 * timeout is a minute.
 */
const CONNECTION_TIMEOUT_MS = 2_000;
const REQUEST_TIMEOUT_MS = 5_000;

export const READ_ATTEMPTS = 4;

/**
 * A Kinesis client that retries read requests, because the limits of these requests are low, and all callers in the
 * account share the limits. It does not retry change requests: the caller reads the stream again and sees the effect of
 * a change. The SDK would also retry a change that exceeds the allowed updates in 24 hours, because it treats that
 * exception as throttling.
 *
 * It uses HTTP/1.1. The SDK's default for Kinesis is HTTP/2, which needs TLS, and emulators have no TLS.
 */
export function reshardClient(): ReshardClient {
  const requestHandler = boundedHandler();
  const readClient = new Kinesis({ maxAttempts: READ_ATTEMPTS, requestHandler });
  const changeClient = new Kinesis({ maxAttempts: 1, requestHandler });
  return {
    describeStreamSummary: (input) => inTime((options) => readClient.describeStreamSummary(input, options)),
    listShards: (input) => inTime((options) => readClient.listShards(input, options)),
    listTagsForStream: (input) => inTime((options) => readClient.listTagsForStream(input, options)),
    addTagsToStream: (input) => inTime((options) => changeClient.addTagsToStream(input, options)),
    updateShardCount: (input) => inTime((options) => changeClient.updateShardCount(input, options)),
    splitShard: (input) => inTime((options) => changeClient.splitShard(input, options)),
    mergeShards: (input) => inTime((options) => changeClient.mergeShards(input, options)),
  };
}

/** A request handler with the timeouts of this module. */
export function boundedHandler(): NodeHttpHandler {
  return new NodeHttpHandler({
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    throwOnRequestTimeout: true,
  });
}
