import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { variableName } from '../../lib/core/contract/function-environment';
import { UsageError } from '../flags';
import { clientEnvironment } from './functions/lambda-environment';
import type { LocalStack } from './run-local';
import { configsByVariable } from './sharded-configs';

/**
 * Runs a command as an application of the stack. Environment variables direct its SDK to the local endpoints. Other
 * variables have the configuration of each sharded index and table, under the name that `bindReader` uses
 * (`BY_STATUS`), and the name of each function (`QUERY` for `Orders/Query/Function`).
 *
 * @returns the exit code of the command
 */
export async function runCommand(stack: LocalStack, [program, ...programArguments]: string[]): Promise<number> {
  const child = spawn(program!, programArguments, {
    stdio: 'inherit',
    env: { ...process.env, ...NO_ACCOUNT, ...variables(stack), ...clientEnvironment(stack.endpoints) },
  });
  const ended = once(child, 'exit');
  child.once('error', () => {}); // `ended` rejects with this error.
  const [code] = await ended.catch((cause: Error) => {
    throw new UsageError(`cannot run ${program}: ${cause.message}`, 'even-shards local');
  });
  return code ?? 1;
}

/**
 * Environment variables that the command must not receive, because SDKs would use them instead of the credentials and
 * endpoints of the local run.
 */
const NO_ACCOUNT = {
  AWS_PROFILE: undefined,
  AWS_DEFAULT_PROFILE: undefined,
  AWS_SECURITY_TOKEN: undefined,
  AWS_SESSION_TOKEN: undefined,
  AWS_ENDPOINT_URL_LAMBDA: undefined,
  AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: undefined,
};

function variables(stack: LocalStack): Record<string, string> {
  const ofFunctions = stack.functions.map(({ path, name }): [string, string] => [functionVariable(path), name]);
  const ofConfigs = configsByVariable(stack).map(({ path, variable, config }): [string, string] => [
    variable ?? variableName(config.indexName ?? path.split('/').at(-1)!),
    JSON.stringify(config),
  ]);
  return Object.fromEntries([...ofFunctions, ...ofConfigs]);
}

/**
 * The name of the variable for a function: its construct path without the stack, and without `/Function` at the end.
 */
function functionVariable(path: string): string {
  return variableName(
    path
      .split('/')
      .slice(1)
      .join('/')
      .replace(/\/Function$/, ''),
  );
}
