import { Stack } from 'aws-cdk-lib';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { constructField } from '../construct/props';
import { variableName } from '../core/contract/function-environment';
import { InvalidArgumentError } from '../core/kernel/errors';
import { checkEnvironmentSize } from './environment-size';

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

/** For each function, the variables that `bindConfig` has added, with their values. */
const boundVariables = new WeakMap<lambda.Function, Record<string, string>>();

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
  const configs = boundConfigs.get(user) ?? new Map<string, string>();
  boundConfigs.set(user, configs);
  if ((configs.get(variable) ?? text) !== text) {
    throw new InvalidArgumentError(field, variable, 'a different variable for each index or table of the function');
  }
  if (!configs.has(variable) && hasVariable(user, variable)) {
    throw new InvalidArgumentError(field, variable, 'a variable that the function does not already have');
  }
  configs.set(variable, text);
  variablesOf(user)[variable] = json;
  user.addEnvironment(variable, json);
}

/**
 * The variables that `bindConfig` has added to a function. The first call for a function adds a check of their total
 * size to synthesis.
 */
function variablesOf(user: lambda.Function): Record<string, string> {
  const known = boundVariables.get(user);
  if (known !== undefined) return known;
  const variables: Record<string, string> = {};
  boundVariables.set(user, variables);
  checkEnvironmentSize(
    user,
    constructField(user, 'environment'),
    variables,
    'bind fewer indexes and tables to a function, or count shards for fewer values',
  );
  return variables;
}

function hasVariable(user: lambda.Function, variable: string): boolean {
  const { environment } = user.node.defaultChild as lambda.CfnFunction;
  return Object.hasOwn(Stack.of(user).resolve(environment)?.variables ?? {}, variable);
}
