import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { Lambda } from '@aws-sdk/client-lambda';
import { ConfiguredRetryStrategy } from '@smithy/core/retry';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { LOCAL_REGION } from '../assembly/emulated-types';
import { type Endpoints, LOCAL_CLIENT } from '../functions/lambda-environment';

export interface LocalClients {
  readonly kinesis: Kinesis;
  readonly dynamodb: DynamoDB;
  readonly lambda: Lambda;
}

/** How long a request to an emulator on this machine may take. An invocation of a function may take longer. */
const REQUEST_LIMIT = { requestTimeout: 30_000, throwOnRequestTimeout: true };

/** A limit can throttle calls for several seconds, so the clients retry these calls, as an application does. */
const MAX_ATTEMPTS = 30;

/**
 * The longest wait before a retry. All waits of a call together then take up to half a minute. A throttled call
 * succeeds within seconds, and a call that always fails must end.
 */
const LONGEST_WAIT_MS = 1_000;
const waitMs = (attempt: number): number => Math.min(LONGEST_WAIT_MS, 25 * 2 ** attempt);

/** Clients of the emulated services. */
export function localClients(endpoints: Endpoints): LocalClients {
  const common = () => ({
    region: LOCAL_REGION,
    ...LOCAL_CLIENT,
    retryStrategy: new ConfiguredRetryStrategy(MAX_ATTEMPTS, waitMs),
  });
  return {
    // HTTP/1.1 reuses connections. The default of this client is HTTP/2, with a session for each request.
    kinesis: new Kinesis({
      ...common(),
      endpoint: endpoints.kinesis,
      requestHandler: new NodeHttpHandler(REQUEST_LIMIT),
    }),
    dynamodb: new DynamoDB({
      ...common(),
      endpoint: endpoints.dynamodb,
      requestHandler: new NodeHttpHandler(REQUEST_LIMIT),
    }),
    lambda: new Lambda({ ...common(), endpoint: endpoints.lambda }),
  };
}
