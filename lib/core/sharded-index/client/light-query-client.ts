import { crc32 } from 'node:zlib';
import type { DynamoDbItem } from '../../foundation/attribute-value';
import { type AttributeJson, itemFromJson, itemToJson } from './attribute-json';
import { bodyBytes } from './body-bytes';
import type { IndexQueryInput, IndexQueryOutput, QueryClient } from './query-client';
import { queryFailure } from './query-failure';
import { type Route, Routes, type SdkMiddlewareStack } from './routes';
import type { SigningCredentials } from './signature';

/** Options of one request. */
export interface SdkQueryOptions {
  /** Aborts the request. */
  abortSignal?: AbortSignal;
}

/** The part of the SDK's request handlers that the light client uses. */
export interface SdkRequestHandler {
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's request is a class, with methods that no handler needs
  handle(request: any, options?: SdkQueryOptions): Promise<{ response: SdkHttpResponse }>;
}

/** An answer over HTTP. */
export interface SdkHttpResponse {
  statusCode: number;
  headers?: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: each request handler has its own kind of body
  body?: any;
}

/** The part of the AWS SDK's DynamoDB client that the light client uses. `new DynamoDB({})` fits without an adapter. */
export interface SdkQueryClient {
  query(input: IndexQueryInput, options?: SdkQueryOptions): Promise<IndexQueryOutput>;
  readonly config: {
    credentials(options?: { forceRefresh?: boolean }): Promise<SigningCredentials>;
    /** By how many milliseconds the clock of the service is ahead of this machine's, as far as the SDK knows. */
    readonly systemClockOffset: number;
    readonly requestHandler: SdkRequestHandler;
  };
  readonly middlewareStack: SdkMiddlewareStack;
}

/** What one query did, for tracing. */
export interface LightQueryTrace {
  tableName: string;
  /** Absent for a query of a table. */
  indexName?: string;
  /** Whether the client of the SDK sent the query. Then the SDK's middleware has seen it too. */
  viaSdk: boolean;
  /** When the query was sent, in milliseconds since 1970. */
  startedAt: number;
  durationMs: number;
  consumedReadUnits?: number;
  /** The error that the query failed with. */
  error?: unknown;
}

/** What a light client of DynamoDB tells of its queries. */
export interface LightQueryOptions {
  /**
   * Is called after every query, whether it succeeds or fails. Use it for tracing, because tracers that add middleware to
   * the SDK do not see the queries of the light client. It must not throw.
   * @default no calls
   */
  onQuery?(trace: LightQueryTrace): void;
}

/**
 * A client for fan-out queries that needs a third of the processor time of the AWS SDK's client. Use it for wide indexes:
 * most of the time of a wide page is processor time.
 *
 *     const page = await fanOutQuery(lightQueryClient(new DynamoDB({ maxAttempts: 1 })), config, request);
 *
 * The SDK's client still decides everything: the credentials, the region, the endpoint, the sockets and the time-outs
 * are those of `dynamoDb`. If another attempt can overcome a failure, such as a throttle, the light client throws it as
 * the SDK would, so that `fanOutQuery` tries again. The light client sends every other failed query once more through
 * the SDK's client, which can fix the cause, such as a wrong clock, or throws its own error.
 *
 * The light client does not run the SDK's middleware: middleware that an application adds to `dynamoDb` does not see
 * these queries, and `onQuery` does. docs/decisions has the reasons and the measurements.
 *
 * @param dynamoDb the client whose credentials, endpoint and sockets to use; keep it as long as the light client
 */
export function lightQueryClient(dynamoDb: SdkQueryClient, { onQuery }: LightQueryOptions = {}): QueryClient {
  const routes = Routes.of(dynamoDb);
  return {
    async query(input: IndexQueryInput, options?: SdkQueryOptions): Promise<IndexQueryOutput> {
      const traced = (viaSdk: boolean, work: () => Promise<IndexQueryOutput | undefined>) =>
        onQuery === undefined ? work() : trace(onQuery, input, viaSdk, work);
      const viaSdk = async () => (await traced(true, () => askSdk(dynamoDb, input, options)))!;
      const route = await routes.find(input.TableName);
      if (route === undefined) return viaSdk().finally(() => routes.asked(input.TableName));
      const answer = await traced(false, () => attempt(dynamoDb, route, input, options)).catch((error) => {
        if (options?.abortSignal?.aborted || queryFailure(error) !== 'final') throw error;
      });
      return answer ?? viaSdk();
    },
  };
}

/**
 * Sends a query through the client of the SDK. Where the SDK finds its own clock to be wrong, it corrects the clock but has
 * no attempt left with `maxAttempts: 1`, so this asks again.
 */
async function askSdk(
  dynamoDb: SdkQueryClient,
  input: IndexQueryInput,
  options: SdkQueryOptions | undefined,
): Promise<IndexQueryOutput> {
  const offset = dynamoDb.config.systemClockOffset;
  try {
    return await dynamoDb.query(input, options);
  } catch (error) {
    if (dynamoDb.config.systemClockOffset === offset || options?.abortSignal?.aborted) throw error;
    return dynamoDb.query(input, options);
  }
}

async function trace(
  onQuery: (trace: LightQueryTrace) => void,
  { TableName: tableName, IndexName: indexName }: IndexQueryInput,
  viaSdk: boolean,
  work: () => Promise<IndexQueryOutput | undefined>,
): Promise<IndexQueryOutput | undefined> {
  const startedAt = Date.now();
  const begun = performance.now();
  const report = (outcome: Pick<LightQueryTrace, 'consumedReadUnits' | 'error'>): void =>
    onQuery({ tableName, indexName, viaSdk, startedAt, durationMs: performance.now() - begun, ...outcome });
  try {
    const output = await work();
    report({ consumedReadUnits: output?.ConsumedCapacity?.CapacityUnits });
    return output;
  } catch (error) {
    report({ error });
    throw error;
  }
}

/** Errors that say that the credentials are no longer valid. Source: the DynamoDB API reference, "Common Errors". */
const OUTDATED_CREDENTIALS = ['ExpiredTokenException', 'UnrecognizedClientException'];

/**
 * Sends a query, and once more if the credentials were replaced meanwhile. Undefined if the service refuses it because
 * of its signature, its time or its content.
 */
async function attempt(
  { config }: SdkQueryClient,
  route: Route,
  input: IndexQueryInput,
  options: SdkQueryOptions | undefined,
): Promise<IndexQueryOutput | undefined> {
  const body = JSON.stringify(toJson(input));
  const credentials = await config.credentials();
  const first = await send(config, route, body, credentials, options);
  if ('output' in first) return first.output;
  if (!OUTDATED_CREDENTIALS.includes(first.error.name)) return undefined;
  const fresh = await config.credentials({ forceRefresh: true });
  if (fresh.accessKeyId === credentials.accessKeyId && fresh.sessionToken === credentials.sessionToken)
    return undefined;
  const second = await send(config, route, body, fresh, options);
  return 'output' in second ? second.output : undefined;
}

async function send(
  config: SdkQueryClient['config'],
  route: Route,
  body: string,
  credentials: SigningCredentials,
  options: SdkQueryOptions | undefined,
): Promise<{ output: IndexQueryOutput } | { error: Error }> {
  const at = new Date(Date.now() + config.systemClockOffset);
  const request = {
    ...route.target,
    headers: {
      ...route.sign(route.signedHeaders, body, credentials, at),
      ...route.unsignedHeaders,
      'content-length': String(Buffer.byteLength(body)),
    },
    body,
  };
  const { response } = await config.requestHandler.handle(request, options);
  const bytes = await bodyBytes(response.body);
  checkSum(bytes, response);
  if (response.statusCode === 200) return { output: fromJson(Object(JSON.parse(bytes.toString()))) };
  const error = serviceError(response, bytes.toString());
  if (response.statusCode >= 500 || queryFailure(error) === 'throttled') throw error;
  return { error };
}

/**
 * DynamoDB sends the CRC-32 of the body as it leaves the service. A request handler that unpacks bodies shows another one.
 */
function checkSum(bytes: Buffer, { headers = {} }: SdkHttpResponse): void {
  const sum = headers['x-amz-crc32'];
  if (sum === undefined || headers['content-encoding'] !== undefined || crc32(bytes) === Number(sum)) return;
  const error = new Error('the body of the answer does not have the checksum of its header');
  throw Object.assign(error, { name: 'CRC32CheckFailed', $retryable: {} });
}

function toJson({ ExpressionAttributeValues, ExclusiveStartKey, ...rest }: IndexQueryInput): object {
  return {
    ...rest,
    ExpressionAttributeValues: itemToJson(ExpressionAttributeValues),
    ...(ExclusiveStartKey !== undefined && { ExclusiveStartKey: itemToJson(ExclusiveStartKey) }),
  };
}

function fromJson(output: IndexQueryOutput): IndexQueryOutput {
  const decode = (json: object): DynamoDbItem => itemFromJson(json as AttributeJson);
  return {
    ...output,
    ...(output.Items !== undefined && { Items: output.Items.map(decode) }),
    ...(output.LastEvaluatedKey !== undefined && { LastEvaluatedKey: decode(output.LastEvaluatedKey) }),
  };
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
