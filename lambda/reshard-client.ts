import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';

/** A request that takes longer is given up and sent again: what it asked for shows at the next look at the stream. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * HTTP/1.1, because the SDK's default for Kinesis, HTTP/2, needs TLS, which emulators lack; many attempts, because the
 * account's limits for describing streams are low, and shared by everybody who does.
 */
export function reshardClient(): Kinesis {
  return new Kinesis({
    maxAttempts: 8,
    requestHandler: new NodeHttpHandler({ requestTimeout: REQUEST_TIMEOUT_MS, throwOnRequestTimeout: true }),
  });
}
