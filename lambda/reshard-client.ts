import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { ReshardClient } from '../lib/core/resharding/reshard-client';
import { inTime } from './in-time';

/**
 * The client aborts a request that takes longer. It sends a request that only reads up to four times: at most 20 seconds,
 * well below the timeout of the shortest function, which is a minute.
 */
const CONNECTION_TIMEOUT_MS = 2_000;
const REQUEST_TIMEOUT_MS = 5_000;

export const ATTEMPTS_TO_LOOK = 4;

/**
 * It repeats requests that only read, because the limits of the account for these requests are low and shared. It sends a
 * change once: the next look at the stream shows its effect. The SDK would repeat a change that Kinesis refuses because
 * the updates of the day are used up, because it takes that exception for throttling.
 *
 * HTTP/1.1, because the SDK's default for Kinesis, HTTP/2, needs TLS, which emulators lack.
 */
export function reshardClient(): ReshardClient {
  const requestHandler = boundedHandler();
  const looks = new Kinesis({ maxAttempts: ATTEMPTS_TO_LOOK, requestHandler });
  const changes = new Kinesis({ maxAttempts: 1, requestHandler });
  return {
    describeStreamSummary: (input) => inTime((options) => looks.describeStreamSummary(input, options)),
    listShards: (input) => inTime((options) => looks.listShards(input, options)),
    listTagsForStream: (input) => inTime((options) => looks.listTagsForStream(input, options)),
    addTagsToStream: (input) => inTime((options) => changes.addTagsToStream(input, options)),
    updateShardCount: (input) => inTime((options) => changes.updateShardCount(input, options)),
    splitShard: (input) => inTime((options) => changes.splitShard(input, options)),
    mergeShards: (input) => inTime((options) => changes.mergeShards(input, options)),
  };
}

/** Waits for each answer only that long. */
export function boundedHandler(): NodeHttpHandler {
  return new NodeHttpHandler({
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    throwOnRequestTimeout: true,
  });
}
