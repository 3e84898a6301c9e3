import { crc32 } from 'node:zlib';
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

/** An answer over HTTP. */
export interface SdkHttpResponse {
  statusCode: number;
  headers?: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: each request handler has its own kind of body
  body?: any;
}

/** The part of the AWS SDK's clients that a light client uses, whatever the service. */
export interface SdkClient {
  readonly config: {
    credentials(options?: { forceRefresh?: boolean }): Promise<SigningCredentials>;
    /** By how many milliseconds the clock of the service is ahead of this machine's, as far as the SDK knows. */
    readonly systemClockOffset: number;
    readonly requestHandler: SdkRequestHandler;
  };
  readonly middlewareStack: SdkMiddlewareStack;
}

/** What is sent. */
interface LightRequest {
  /** JSON. */
  readonly body: string | Uint8Array;
  /** Whether another attempt can succeed after an answer with a status of 4xx and this error, such as a throttle. */
  isTransient(error: Error): boolean;
  readonly options: SdkRequestOptions | undefined;
}

/** Errors that say that the credentials are no longer valid. Sources: the DynamoDB and Kinesis API references, "Common Errors". */
const OUTDATED_CREDENTIALS = ['ExpiredTokenException', 'UnrecognizedClientException'];

/**
 * Sends a request past the middleware of the SDK, and once more if the credentials were replaced meanwhile.
 *
 * @returns the text of the answer; undefined if the service refuses the request because of its signature, its time or its
 *   content, so that the client of the SDK can fix the cause, or throw its own error
 * @throws as the SDK would throw it, what another attempt can overcome: a throttle, an answer of 5xx, a lost connection
 */
export async function lightRequest(
  { config }: SdkClient,
  route: Route,
  request: LightRequest,
): Promise<string | undefined> {
  const credentials = await config.credentials();
  const first = await send(config, route, request, credentials);
  if (first.error === undefined) return first.answer;
  if (!OUTDATED_CREDENTIALS.includes(first.error.name)) return undefined;
  const fresh = await config.credentials({ forceRefresh: true });
  if (fresh.accessKeyId === credentials.accessKeyId && fresh.sessionToken === credentials.sessionToken)
    return undefined;
  return (await send(config, route, request, fresh)).answer;
}

async function send(
  config: SdkClient['config'],
  route: Route,
  { body, isTransient, options }: LightRequest,
  credentials: SigningCredentials,
): Promise<{ answer?: string; error?: Error }> {
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
  checkSum(bytes, response);
  const answer = bytes.toString();
  if (response.statusCode === 200) return { answer };
  const error = serviceError(response, answer);
  if (response.statusCode >= 500 || isTransient(error)) throw error;
  return { error };
}

/**
 * DynamoDB sends the CRC-32 of the body as it leaves the service. If a request handler has unpacked the body, the sum does
 * not fit.
 */
function checkSum(bytes: Buffer, { headers = {} }: SdkHttpResponse): void {
  const sum = headers['x-amz-crc32'];
  if (sum === undefined || headers['content-encoding'] !== undefined || crc32(bytes) === Number(sum)) return;
  const error = new Error('the body of the answer does not have the checksum of its header');
  throw Object.assign(error, { name: 'CRC32CheckFailed', $retryable: {} });
}

/** An error as the SDK would throw it. Its name is the last part of the answer's type. */
function serviceError({ statusCode, headers = {} }: SdkHttpResponse, text: string): Error {
  const { __type = 'UnknownError', message = '', Message = message, ThrottlingReasons } = jsonObject(text);
  const name = String(__type).split('#').at(-1);
  return Object.assign(new Error(String(Message)), {
    name,
    ...(Array.isArray(ThrottlingReasons) && { ThrottlingReasons }),
    $metadata: { httpStatusCode: statusCode, requestId: headers['x-amzn-requestid'] },
  });
}

/** An empty object if the text is not JSON. A proxy between the client and the service may answer with other text. */
function jsonObject(text: string): {
  __type?: unknown;
  message?: unknown;
  Message?: unknown;
  ThrottlingReasons?: unknown;
} {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
