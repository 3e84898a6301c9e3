import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { variableName } from '../../lib/core/contract/function-environment';
import { UsageError } from '../flags';
import { clientEnvironment } from './functions/lambda-environment';
import type { LocalStack } from './run-local';
import { configsByVariable } from './sharded-configs';

/**
 * Runs a command as an application of the stack: its SDK finds the local endpoints, and it is told of each sharded index and table as
 * `bindReader` would tell it (`BY_STATUS`), and of the name of each function (`QUERY` of `Orders/Query/Function`).
 *
 * @returns its exit code
 */
export async function runCommand(stack: LocalStack, [program, ...programArguments]: string[]): Promise<number> {
  const child = spawn(program!, programArguments, {
    stdio: 'inherit',
    env: { ...process.env, ...NO_ACCOUNT, ...variables(stack), ...clientEnvironment(stack.endpoints) },
  });
  const ended = once(child, 'exit');
  child.once('error', () => {}); // `once` rejects with it
  const [code] = await ended.catch((cause: Error) => {
    throw new UsageError(`cannot run ${program}: ${cause.message}`, 'even-shards local');
  });
  return code ?? 1;
}

/**
 * Variables that would come before the credentials of a local run: an SDK asks a profile first, or adds the token of a
 * session.
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

/** The name of the variable for a function: its path without the stack, and without the child that holds the function. */
function functionVariable(path: string): string {
  return variableName(
    path
      .split('/')
      .slice(1)
      .join('/')
      .replace(/\/Function$/, ''),
  );
}
