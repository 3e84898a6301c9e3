import { randomBytes } from 'node:crypto';
import { devNull } from 'node:os';
import { delimiter, join } from 'node:path';
import { CASSANDRA } from '../../../lib/core/contract/function-environment';
import { LOCAL_REGION } from '../assembly/emulated-types';
import type { LocalFunction } from '../assembly/planned-function';
import { runtimeVersion } from './runtime-packages';

export interface Endpoints {
  readonly kinesis: string;
  readonly dynamodb: string;
  readonly lambda: string;
  /** `HOST:PORT` of a Cassandra that emulates Amazon Keyspaces. Absent if the run has no Cassandra. */
  readonly cassandra?: string;
}

/** Credentials that are invalid on AWS. Emulators do not check credentials. */
export const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

/** The options of a client of this run. The profile of the developer has no effect on the client. */
export const LOCAL_CLIENT = { credentials: LOCAL_CREDENTIALS, useDualstackEndpoint: false, useFipsEndpoint: false };

/** An address on which no server listens. */
const CLOSED_PORT = '127.0.0.1:1';

export const LATEST_VERSION = '$LATEST';

/** The version that a qualifier names. Undefined if the template has no such alias or version. */
export function versionOf(
  { qualifiers = {} }: Pick<LocalFunction, 'qualifiers'>,
  qualifier: string = LATEST_VERSION,
): string | undefined {
  if (qualifier === LATEST_VERSION) return qualifier;
  return Object.hasOwn(qualifiers, qualifier) ? qualifiers[qualifier] : undefined;
}

/**
 * The environment variables of a function: the variables that Lambda adds, the variables of the template, and the
 * endpoints of the emulators. Source: the AWS Lambda developer guide, "Defined runtime environment variables". A
 * template can set only the unreserved variables.
 *
 * @param packages folders with the packages of Lambda's runtime, for `NODE_PATH`, which Lambda also sets
 */
export function lambdaEnvironment(
  definition: LocalFunction,
  endpoints: Endpoints,
  packages: readonly string[] = [],
): Record<string, string> {
  const { name, memoryMb } = definition;
  const unreserved = {
    AWS_XRAY_CONTEXT_MISSING: 'LOG_ERROR',
    LANG: 'en_US.UTF-8',
    // Functions can run programs of this machine.
    PATH: process.env.PATH ?? '',
    TZ: ':UTC',
  };
  return {
    ...unreserved,
    ...definition.environment,
    ...clientEnvironment(endpoints),
    _HANDLER: definition.handler,
    // The Node.js of this machine can be older than Lambda's. Without this variable, the SDK would print a warning in
    // each log.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    AWS_EXECUTION_ENV: `AWS_Lambda_${definition.runtime}`,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
    AWS_SESSION_TOKEN: LOCAL_CREDENTIALS.secretAccessKey,
    // cassandra-driver reads no endpoint from environment variables, so this variable passes the endpoint. Without a Cassandra, connections must fail on this
    // machine instead of reaching AWS.
    ...(knowsKeyspaces(definition) && { [CASSANDRA]: endpoints.cassandra ?? CLOSED_PORT }),
    LAMBDA_RUNTIME_DIR: '/var/runtime',
    LAMBDA_TASK_ROOT: definition.codeDirectory,
    ...nodePath([definition.environment.NODE_PATH, ...layerPackages(definition), ...packages]),
  };
}

/** The environment variables that differ between the versions of a function. */
export function ofVersion(version: string): Record<string, string> {
  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '/');
  return {
    AWS_LAMBDA_FUNCTION_VERSION: version,
    AWS_LAMBDA_LOG_STREAM_NAME: `${day}/[${version}]${randomBytes(16).toString('hex')}`,
  };
}

function nodePath(folders: readonly (string | undefined)[]): Record<string, string> {
  const known = folders.filter((folder) => folder !== undefined);
  return known.length === 0 ? {} : { NODE_PATH: known.join(delimiter) };
}

/** Source: the AWS Lambda developer guide, "Packaging your layer content". */
function layerPackages({ layers, runtime }: LocalFunction): string[] {
  const folders = [`nodejs/node${runtimeVersion(runtime)}/node_modules`, 'nodejs/node_modules'];
  return folders.flatMap((folder) => layers.map((layer) => join(layer, folder)));
}

/** Whether the function has the configuration of a table of Amazon Keyspaces in its variables. */
function knowsKeyspaces({ environment }: LocalFunction): boolean {
  return Object.values(environment).some((text) => text.includes('"keyspaceName"'));
}

/**
 * The environment variables that direct any AWS SDK to the emulators, also if the profile of the developer has other
 * settings.
 */
export function clientEnvironment(endpoints: Endpoints): Record<string, string> {
  return {
    AWS_ACCESS_KEY_ID: LOCAL_CREDENTIALS.accessKeyId,
    AWS_CONFIG_FILE: devNull,
    AWS_DEFAULT_REGION: LOCAL_REGION,
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_DYNAMODB_STREAMS: endpoints.dynamodb,
    AWS_ENDPOINT_URL_KINESIS: endpoints.kinesis,
    AWS_ENDPOINT_URL_LAMBDA: endpoints.lambda,
    AWS_REGION: LOCAL_REGION,
    AWS_SECRET_ACCESS_KEY: LOCAL_CREDENTIALS.secretAccessKey,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
  };
}
