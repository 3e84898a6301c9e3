import { crc32 } from 'node:zlib';
import { parsedJson } from '../kernel/parsed-json';
import { bodyBytes } from './body-bytes';
import type { Route, SdkMiddlewareStack } from './routes';
import type { SigningCredentials } from './signature';

/** Options of one request. */
export interface SdkRequestOptions {
  /** Aborts the request. */
  abortSignal?: AbortSignal;
}

/** The part of the SDK's request handlers that the light client uses. */
export interface SdkRequestHandler {
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's request is a class, with methods that no handler needs
  handle(request: any, options?: SdkRequestOptions): Promise<{ response: SdkHttpResponse }>;
}

/** An HTTP response. */
export interface SdkHttpResponse {
  statusCode: number;
  headers?: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: each request handler has its own kind of body
  body?: any;
}

/** The part of an AWS SDK client that a light client uses. This part is the same for every service. */
export interface SdkClient {
  readonly config: {
    credentials(options?: { forceRefresh?: boolean }): Promise<SigningCredentials>;
    /**
     * The difference between the clock of the service and the local clock, in milliseconds, as measured by the SDK. Positive if
     * the service is ahead.
     */
    readonly systemClockOffset: number;
    readonly requestHandler: SdkRequestHandler;
  };
  readonly middlewareStack: SdkMiddlewareStack;
}

interface LightRequest {
  /** The body, as JSON. */
  readonly body: string | Uint8Array;
  /** Whether a retry can succeed after a 4xx response with this error, for example after a throttle. */
  isTransient(error: Error): boolean;
  readonly options: SdkRequestOptions | undefined;
}

/** Error codes for credentials that are no longer valid. Sources: the DynamoDB and Kinesis API references, "Common Errors". */
const OUTDATED_CREDENTIALS = ['ExpiredTokenException', 'UnrecognizedClientException'];

/**
 * Sends a request without the middleware of the SDK. If the service rejects outdated credentials and there are new credentials,
 * sends the request again.
 *
 * @returns the text of the response; undefined if the service rejects the signature, the time or the content of the request. The
 *   caller then sends the request with the client of the SDK, which fixes the cause or throws its own error
 * @throws the SDK's error for a transient failure: a throttle, a 5xx response or a lost connection
 */
export async function lightRequest(
  { config }: SdkClient,
  route: Route,
  request: LightRequest,
): Promise<string | undefined> {
  const credentials = await config.credentials();
  const first = await send(config, route, request, credentials);
  if (first.error === undefined) return first.text;
  if (!OUTDATED_CREDENTIALS.includes(first.error.name)) return undefined;
  const fresh = await config.credentials({ forceRefresh: true });
  if (fresh.accessKeyId === credentials.accessKeyId && fresh.sessionToken === credentials.sessionToken)
    return undefined;
  return (await send(config, route, request, fresh)).text;
}

async function send(
  config: SdkClient['config'],
  route: Route,
  { body, isTransient, options }: LightRequest,
  credentials: SigningCredentials,
): Promise<{ text?: string; error?: Error }> {
  const at = new Date(Date.now() + config.systemClockOffset);
  const request = {
    ...route.target,
    headers: {
      ...route.sign(body, credentials, at),
      ...route.unsignedHeaders,
      'content-length': String(Buffer.byteLength(body)),
    },
    body,
  };
  const { response } = await config.requestHandler.handle(request, options);
  const bytes = await bodyBytes(response.body);
  verifyChecksum(bytes, response);
  const text = bytes.toString();
  if (response.statusCode === 200) return { text };
  const error = serviceError(response, text);
  if (response.statusCode >= 500 || isTransient(error)) throw error;
  return { error };
}

/**
 * Checks the CRC-32 that DynamoDB sends for the body. Does not check compressed bodies, because DynamoDB computes the checksum
 * after compression, and the request handler has decompressed the body.
 */
function verifyChecksum(bytes: Buffer, { headers = {} }: SdkHttpResponse): void {
  const sum = headers['x-amz-crc32'];
  if (sum === undefined || headers['content-encoding'] !== undefined || crc32(bytes) === Number(sum)) return;
  const error = new Error('the body of the response does not match the checksum in x-amz-crc32');
  throw Object.assign(error, { name: 'CRC32CheckFailed', $retryable: {} });
}

/** An error as the SDK would throw it. The name of the error is the last part of `__type` in the response. */
function serviceError({ statusCode, headers = {} }: SdkHttpResponse, text: string): Error {
  const { __type = 'UnknownError', message = '', Message = message, ThrottlingReasons } = jsonObject(text);
  const name = String(__type).split('#').at(-1);
  return Object.assign(new Error(String(Message)), {
    name,
    ...(Array.isArray(ThrottlingReasons) && { ThrottlingReasons }),
    $metadata: { httpStatusCode: statusCode, requestId: headers['x-amzn-requestid'] },
  });
}

/** Parses a JSON object. Returns an empty object for other text, which a proxy between client and service may send. */
function jsonObject(text: string): {
  __type?: unknown;
  message?: unknown;
  Message?: unknown;
  ThrottlingReasons?: unknown;
} {
  return Object(parsedJson(text));
}
