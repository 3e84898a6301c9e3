import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';

/** The client aborts a request that takes longer, and sends it again. The next look at the stream shows its effect. */
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
