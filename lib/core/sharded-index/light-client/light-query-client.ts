import type { DynamoDbItem } from '../../foundation/attribute-value';
import type { IndexQueryInput, IndexQueryOutput, QueryClient } from '../query-client';
import { queryFailure } from '../query-failure';
import { type AttributeJson, itemFromJson, itemToJson } from './attribute-json';
import { type Route, Routes, type SdkMiddlewareStack } from './routes';
import type { SigningCredentials } from './signature';

export interface QueryOptions {
  abortSignal?: AbortSignal;
}

/** What the light client needs of the AWS SDK's `new DynamoDB({})`, which satisfies it as it is. */
export interface SdkQueryClient {
  query(input: IndexQueryInput, options?: QueryOptions): Promise<IndexQueryOutput>;
  readonly config: {
    credentials(): Promise<SigningCredentials>;
    /** Milliseconds by which the service's clock is ahead of this machine's, as the SDK found out. */
    readonly systemClockOffset: number;
    readonly requestHandler: {
      // biome-ignore lint/suspicious/noExplicitAny: the SDK's request is a class, with methods that no handler needs
      handle(request: any, options?: QueryOptions): Promise<{ response: { statusCode: number; body?: any } }>;
    };
  };
  readonly middlewareStack: SdkMiddlewareStack;
}

/**
 * A client for fan-out queries that takes a third of the CPU time that the AWS SDK takes for a query, which is most of
 * the time of a wide page.
 *
 *     const page = await fanOutQuery(lightQueryClient(new DynamoDB({})), config, request);
 *
 * Whatever needs a decision stays with the SDK's client: credentials, region, endpoint, sockets and time-outs are its
 * own. A failure that another attempt may mend, such as a throttle, is thrown in the SDK's terms, for `fanOutQuery` to
 * try again; a query that fails otherwise is handed to the SDK's client, to mend, as with a wrong clock, or to throw as
 * always. Left out is the SDK's middleware: what an application adds to the client's own does not see these queries.
 * See docs/decisions.
 */
export function lightQueryClient(dynamoDb: SdkQueryClient): QueryClient {
  const routes = new Routes(dynamoDb.middlewareStack);
  return {
    async query(input: IndexQueryInput, options?: QueryOptions): Promise<IndexQueryOutput> {
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

/** Sends a query once. Undefined if the service refuses it for what it is: its signature, its time, what it asks. */
async function attempt(
  { config }: SdkQueryClient,
  route: Route,
  input: IndexQueryInput,
  options: QueryOptions | undefined,
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

/** An error as the SDK would throw it, named by the last part of the answer's type. */
function serviceError(httpStatusCode: number, text: string): Error {
  const { __type = 'UnknownError', message = '' } = jsonObject(text);
  const name = String(__type).split('#').at(-1);
  return Object.assign(new Error(String(message)), { name, $metadata: { httpStatusCode } });
}

/** What is between the client and the service may answer with something else. */
function jsonObject(text: string): { __type?: unknown; message?: unknown } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** The whole body of an answer. By events: a stream's iterator would cost as much as parsing what it reads. */
function textOf(body: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    body.on('data', (chunk: Buffer) => chunks.push(chunk));
    body.on('end', () => resolve(Buffer.concat(chunks).toString()));
    body.on('error', reject);
  });
}
