import type { DynamoDbItem } from '../../foundation/attribute-value';
import type { IndexQueryInput, IndexQueryOutput, QueryClient } from '../query-client';
import { queryFailure } from '../query-failure';
import { type AttributeJson, itemFromJson, itemToJson } from './attribute-json';
import { type Route, Routes, type SdkMiddlewareStack } from './routes';
import type { SigningCredentials } from './signature';

/** Options of one request. */
export interface SdkQueryOptions {
  /** Aborts the request. */
  abortSignal?: AbortSignal;
}

/** The part of the AWS SDK's DynamoDB client that the light client uses. `new DynamoDB({})` fits without an adapter. */
export interface SdkQueryClient {
  query(input: IndexQueryInput, options?: SdkQueryOptions): Promise<IndexQueryOutput>;
  readonly config: {
    credentials(): Promise<SigningCredentials>;
    /** By how many milliseconds the clock of the service is ahead of this machine's, as far as the SDK knows. */
    readonly systemClockOffset: number;
    readonly requestHandler: {
      // biome-ignore lint/suspicious/noExplicitAny: the SDK's request is a class, with methods that no handler needs
      handle(request: any, options?: SdkQueryOptions): Promise<{ response: { statusCode: number; body?: any } }>;
    };
  };
  readonly middlewareStack: SdkMiddlewareStack;
}

/**
 * A client for fan-out queries that needs a third of the CPU time of the AWS SDK's client. Use it for wide indexes:
 * most of the time of a wide page is CPU time.
 *
 *     const page = await fanOutQuery(lightQueryClient(new DynamoDB({ maxAttempts: 1 })), config, request);
 *
 * The SDK's client still decides everything: the credentials, the region, the endpoint, the sockets and the time-outs
 * are those of `dynamoDb`. If another attempt can overcome a failure, such as a throttle, the light client throws it as
 * the SDK would, so that `fanOutQuery` tries again. The light client sends every other failed query once more through
 * the SDK's client, which can fix the cause, such as a wrong clock, or throws its own error.
 *
 * The light client does not run the SDK's middleware: middleware that an application adds to `dynamoDb` does not see
 * these queries. docs/decisions has the reasons and the measurements.
 *
 * @param dynamoDb the client whose credentials, endpoint and sockets to use; keep it as long as the light client
 */
export function lightQueryClient(dynamoDb: SdkQueryClient): QueryClient {
  const routes = new Routes(dynamoDb.middlewareStack);
  return {
    async query(input: IndexQueryInput, options?: SdkQueryOptions): Promise<IndexQueryOutput> {
      const viaSdk = () => dynamoDb.query(input, options);
      const route = await routes.find(input.TableName);
      if (route === undefined) return viaSdk().finally(() => routes.asked(input.TableName));
      const answer = await attempt(dynamoDb, route, input, options).catch((error) => {
        if (options?.abortSignal?.aborted || queryFailure(error) !== 'final') throw error;
      });
      return answer ?? viaSdk();
    },
  };
}

/** Sends a query once. Undefined if the service refuses it because of its signature, its time or its content. */
async function attempt(
  { config }: SdkQueryClient,
  route: Route,
  input: IndexQueryInput,
  options: SdkQueryOptions | undefined,
): Promise<IndexQueryOutput | undefined> {
  const body = JSON.stringify(toJson(input));
  const at = new Date(Date.now() + config.systemClockOffset);
  const request = {
    ...route.target,
    headers: {
      ...route.sign(route.signedHeaders, body, await config.credentials(), at),
      ...route.unsignedHeaders,
      'content-length': String(Buffer.byteLength(body)),
    },
    body,
  };
  const { response } = await config.requestHandler.handle(request, options);
  const text = await textOf(response.body);
  if (response.statusCode === 200) return fromJson(JSON.parse(text));
  const error = serviceError(response.statusCode, text);
  if (response.statusCode >= 500 || queryFailure(error) === 'throttled') throw error;
  return undefined;
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
function serviceError(httpStatusCode: number, text: string): Error {
  const { __type = 'UnknownError', message = '' } = jsonObject(text);
  const name = String(__type).split('#').at(-1);
  return Object.assign(new Error(String(message)), { name, $metadata: { httpStatusCode } });
}

/** An empty object if the text is not JSON. A proxy between the client and the service may answer with other text. */
function jsonObject(text: string): { __type?: unknown; message?: unknown } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** The whole body of an answer. It uses events because a stream's iterator would cost as much as parsing the body. */
function textOf(body: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    body.on('data', (chunk: Buffer) => chunks.push(chunk));
    body.on('end', () => resolve(Buffer.concat(chunks).toString()));
    body.on('error', reject);
  });
}
