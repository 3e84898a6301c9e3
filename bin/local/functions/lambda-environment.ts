import { delimiter } from 'node:path';
import { CASSANDRA } from '../../../lib/core/contract/function-environment';
import type { LocalFunction } from '../assembly/deployment-plan';
import { LOCAL_REGION } from '../assembly/emulated-types';

/** Where the emulated services listen. */
export interface Endpoints {
  readonly kinesis: string;
  readonly dynamodb: string;
  readonly lambda: string;
  /** `HOST:PORT` of a Cassandra that stands in for Amazon Keyspaces, if there is one. */
  readonly cassandra?: string;
}

/** Credentials that no emulator checks and that are worth nothing on AWS. */
export const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

/** A port that nothing listens on. */
const NOBODY = '127.0.0.1:1';

/**
 * The environment of a function: what its template declares, what Lambda adds, and the endpoints of the emulators.
 *
 * @param packages folders of the packages that Lambda's runtime brings, which it names in the same variable
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
    // Lambda's runtime is newer than the Node.js of this machine may be, and each log would have a warning about its age.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memoryMb),
    AWS_LAMBDA_FUNCTION_NAME: definition.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${definition.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    // The driver reads no endpoint from its environment. Without a Cassandra, it must find nothing, and must not leave this
    // machine.
    ...(knowsKeyspaces(definition) && { [CASSANDRA]: endpoints.cassandra ?? NOBODY }),
    LAMBDA_TASK_ROOT: definition.codeDirectory,
    ...nodePath([definition.environment.NODE_PATH, ...packages]),
    PATH: process.env.PATH ?? '',
  };
}

function nodePath(folders: readonly (string | undefined)[]): Record<string, string> {
  const known = folders.filter((folder) => folder !== undefined);
  return known.length === 0 ? {} : { NODE_PATH: known.join(delimiter) };
}

/** Whether a construct has told the function about a table of Amazon Keyspaces. */
function knowsKeyspaces({ environment }: LocalFunction): boolean {
  return Object.values(environment).some((text) => text.includes('"keyspaceName"'));
}

/** The variables that make any SDK call the emulators. */
export function clientEnvironment(endpoints: Endpoints): Record<string, string> {
  return {
    AWS_ACCESS_KEY_ID: LOCAL_CREDENTIALS.accessKeyId,
    AWS_DEFAULT_REGION: LOCAL_REGION,
    // Calls to services without an emulator go to the local Lambda endpoint, which refuses them. So none leaves the
    // machine.
    AWS_ENDPOINT_URL: endpoints.lambda,
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_KINESIS: endpoints.kinesis,
    AWS_REGION: LOCAL_REGION,
    AWS_SECRET_ACCESS_KEY: LOCAL_CREDENTIALS.secretAccessKey,
  };
}
