import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { constructField } from '../construct/props';
import { variableName } from '../core/contract/function-environment';
import { InvalidArgumentError } from '../core/kernel/errors';
import { checkEnvironmentSize, variablesOf } from './environment-size';

/** Source: the Lambda API reference, Environment: Variables. */
const VARIABLE_NAME = /^[a-zA-Z][a-zA-Z0-9_]+$/;

/** A sharded index or a sharded table, with its configuration for a function. */
interface Bound {
  readonly name: string;
  readonly config: object;
  /** The configuration as JSON for the environment variable. It may contain tokens. */
  readonly json: string;
}

/**
 * For each function, the configurations that `bindConfig` has added, as text, by the names of their variables. Two
 * imports of one index have the same text. A different text means that the variable already has another configuration,
 * which `addEnvironment` would replace without an error.
 */
const boundConfigs = new WeakMap<lambda.Function, Map<string, string>>();

/** Adds a configuration to the environment of a function. */
export function bindConfig({ name, config, json }: Bound, user: lambda.Function, environmentVariable?: string): void {
  const variable = environmentVariable ?? variableName(name);
  const field = constructField(user, 'environmentVariable');
  if (!VARIABLE_NAME.test(variable)) {
    throw new InvalidArgumentError(
      field,
      variable,
      'at least two characters: a letter, then letters, digits and underscores (by default, the name of the index or table)',
    );
  }
  const text = JSON.stringify(config);
  const configs = boundConfigs.get(user) ?? firstConfigsOf(user);
  if ((configs.get(variable) ?? text) !== text) {
    throw new InvalidArgumentError(field, variable, 'a different variable for each index or table of the function');
  }
  if (!configs.has(variable) && Object.hasOwn(variablesOf(user), variable)) {
    throw new InvalidArgumentError(field, variable, 'a variable that the function does not already have');
  }
  configs.set(variable, text);
  user.addEnvironment(variable, json);
}

/** Adds a check of the size of the environment to synthesis, once for each function. */
function firstConfigsOf(user: lambda.Function): Map<string, string> {
  const configs = new Map<string, string>();
  boundConfigs.set(user, configs);
  checkEnvironmentSize(
    user,
    constructField(user, 'environment'),
    'bind fewer indexes and tables to a function, count shards for fewer values, or set fewer variables',
  );
  return configs;
}
