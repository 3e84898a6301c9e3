import type { DynamoDbItem } from '../../aws-client/attribute-value';
import { checkClient } from '../../aws-client/client-check';
import { lightRequest, type SdkClient, type SdkRequestOptions } from '../../aws-client/light-request';
import { type RoutedCommand, Routes } from '../../aws-client/routes';
import { type AttributeJson, itemFromJson, itemToJson } from './attribute-json';
import type { IndexQueryInput, IndexQueryOutput, QueryClient } from './query-client';
import { queryFailure } from './query-failure';

const QUERIES: RoutedCommand<{ TableName?: string }> = {
  commandName: 'QueryCommand',
  resourceOf: ({ TableName }) => String(TableName),
};

/** The part of the AWS SDK's DynamoDB client that the light client uses. `new DynamoDB({})` fits without an adapter. */
export interface SdkQueryClient extends SdkClient {
  query(input: IndexQueryInput, options?: SdkRequestOptions): Promise<IndexQueryOutput>;
}

/** The trace of one query. */
export interface LightQueryTrace {
  tableName: string;
  /** Absent for a query of a table. */
  indexName?: string;
  /** Whether the client of the SDK sent the query. If true, the SDK's middleware has seen the query, too. */
  viaSdk: boolean;
  /** When the query was sent, in milliseconds since 1970. */
  startedAt: number;
  durationMs: number;
  consumedReadUnits?: number;
  /** The error with which the query failed. */
  error?: unknown;
}

/** Options of a light client of DynamoDB. */
export interface LightQueryOptions {
  /**
   * The light client calls this function after every query, whether the query succeeded or failed. Use this function for
   * tracing, because tracers that add middleware to the SDK do not see the queries of the light client. The function must not
   * throw.
   * @default no calls
   */
  onQuery?(trace: LightQueryTrace): void;
}

/**
 * A client for fan-out queries that needs a third of the processor time of the AWS SDK's client. Use this client for indexes
 * with many shards, because a page of such an index takes mostly processor time.
 *
 *     const page = await fanOutQuery(lightQueryClient(new DynamoDB({ maxAttempts: 1 })), config, request);
 *
 * The light client uses the credentials, the region, the endpoint, the sockets and the time-outs of `dynamoDb`. The light
 * client throws a transient failure, such as a throttle, as the SDK would, and `fanOutQuery` retries the query. The light
 * client sends every other failed query once more through the SDK's client. The SDK can fix some causes, such as a wrong clock.
 * Otherwise the SDK throws its own error.
 *
 * Middleware that an application adds to `dynamoDb` does not see the queries of the light client. Use `onQuery` instead.
 * docs/decisions has the reasons and the measurements.
 *
 * @param dynamoDb the client with the credentials, the endpoint and the sockets for the light client; keep this client as long
 *   as the light client
 * @throws InvalidArgumentError if `dynamoDb` is a document client, or has no `query`
 */
export function lightQueryClient(dynamoDb: SdkQueryClient, { onQuery }: LightQueryOptions = {}): QueryClient {
  checkClient(dynamoDb, ['query']);
  const routes = Routes.of(dynamoDb, QUERIES);
  return {
    async query(input: IndexQueryInput, options?: SdkRequestOptions): Promise<IndexQueryOutput> {
      const traced = (viaSdk: boolean, work: () => Promise<IndexQueryOutput | undefined>) =>
        onQuery === undefined ? work() : trace(onQuery, input, viaSdk, work);
      const viaSdk = async () => (await traced(true, () => queryWithSdk(dynamoDb, input, options)))!;
      const route = await routes.find(input.TableName);
      if (route === undefined) return viaSdk().finally(() => routes.sentWithSdk(input.TableName));
      const response = await traced(false, async () => {
        const body = JSON.stringify(toJson(input));
        const text = await lightRequest(dynamoDb, route, { body, isTransient: isThrottle, options });
        return text === undefined ? undefined : fromJson(Object(JSON.parse(text)));
      }).catch((error) => {
        if (options?.abortSignal?.aborted || queryFailure(error) !== 'final') throw error;
      });
      return response ?? viaSdk();
    },
  };
}

/**
 * Sends a query through the client of the SDK. If the SDK detects a wrong clock, it corrects the clock but has no
 * attempt left with `maxAttempts: 1`. Therefore this function sends the query again.
 */
async function queryWithSdk(
  dynamoDb: SdkQueryClient,
  input: IndexQueryInput,
  options: SdkRequestOptions | undefined,
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

function isThrottle(error: Error): boolean {
  return queryFailure(error) === 'throttled';
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
