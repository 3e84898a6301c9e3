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
    env: { ...withoutProfile(process.env), ...variables(stack), ...commandEnvironment(stack) },
  });
  const ended = once(child, 'exit');
  child.once('error', () => {}); // `ended` rejects with this error.
  const [code] = await ended.catch((cause: Error) => {
    throw new UsageError(`cannot run ${program}: ${cause.message}`, 'even-shards local');
  });
  return code ?? 1;
}

/**
 * The environment without the profile of the developer, because SDKs would use its settings instead of the credentials
 * and endpoints of the local run.
 */
function withoutProfile(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('AWS_')));
}

function commandEnvironment({ endpoints }: LocalStack): Record<string, string> {
  return {
    ...clientEnvironment(endpoints),
    // Calls to services without an emulator go to the local Lambda endpoint, which rejects these calls. So no call of
    // an SDK leaves this machine.
    AWS_ENDPOINT_URL: endpoints.lambda,
    NO_PROXY: [process.env.NO_PROXY, '127.0.0.1'].filter(Boolean).join(),
  };
}

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
