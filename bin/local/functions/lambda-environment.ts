import { delimiter } from 'node:path';
import { CASSANDRA } from '../../../lib/core/contract/function-environment';
import { LOCAL_REGION } from '../assembly/emulated-types';
import type { LocalFunction } from '../assembly/planned-function';

export interface Endpoints {
  readonly kinesis: string;
  readonly dynamodb: string;
  readonly lambda: string;
  /** `HOST:PORT` of a Cassandra that emulates Amazon Keyspaces. Absent if the run has no Cassandra. */
  readonly cassandra?: string;
}

/** Credentials that are invalid on AWS. Emulators do not check credentials. */
export const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

/** An address on which no server listens. */
const CLOSED_PORT = '127.0.0.1:1';

/**
 * The environment variables of a function: the variables in the template, the variables that Lambda adds, and the
 * endpoints of the emulators.
 *
 * @param packages folders with the packages of Lambda's runtime, for `NODE_PATH`, which Lambda also sets
 */
export function lambdaEnvironment(
  definition: LocalFunction,
  endpoints: Endpoints,
  packages: readonly string[] = [],
): Record<string, string> {
  return {
    ...definition.environment,
    ...clientEnvironment(endpoints),
    _HANDLER: definition.handler,
    // The Node.js of this machine can be older than Lambda's. Without this variable, the SDK would print a warning in
    // each log.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memoryMb),
    AWS_LAMBDA_FUNCTION_NAME: definition.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${definition.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    // cassandra-driver reads no endpoint from environment variables, so this variable passes the endpoint. Without a Cassandra, connections must fail on this
    // machine instead of reaching AWS.
    ...(knowsKeyspaces(definition) && { [CASSANDRA]: endpoints.cassandra ?? CLOSED_PORT }),
    LAMBDA_TASK_ROOT: definition.codeDirectory,
    ...nodePath([definition.environment.NODE_PATH, ...packages]),
    PATH: process.env.PATH ?? '',
  };
}

function nodePath(folders: readonly (string | undefined)[]): Record<string, string> {
  const known = folders.filter((folder) => folder !== undefined);
  return known.length === 0 ? {} : { NODE_PATH: known.join(delimiter) };
}

/** Whether the function has the configuration of a table of Amazon Keyspaces in its variables. */
function knowsKeyspaces({ environment }: LocalFunction): boolean {
  return Object.values(environment).some((text) => text.includes('"keyspaceName"'));
}

/** The environment variables that direct any AWS SDK to the emulators. */
export function clientEnvironment(endpoints: Endpoints): Record<string, string> {
  return {
    AWS_ACCESS_KEY_ID: LOCAL_CREDENTIALS.accessKeyId,
    AWS_DEFAULT_REGION: LOCAL_REGION,
    // Calls to services without an emulator go to the local Lambda endpoint, which rejects these calls. So no call
    // leaves this machine.
    AWS_ENDPOINT_URL: endpoints.lambda,
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_KINESIS: endpoints.kinesis,
    AWS_REGION: LOCAL_REGION,
    AWS_SECRET_ACCESS_KEY: LOCAL_CREDENTIALS.secretAccessKey,
  };
}
