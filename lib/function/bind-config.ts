import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { constructField } from '../construct/props';
import { variableName } from '../core/contract/function-environment';
import { InvalidArgumentError } from '../core/kernel/errors';
import { ALLOWED_VARIABLE, addVariables, VARIABLE_NAME } from './environment-variables';

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
    throw new InvalidArgumentError(field, variable, `${ALLOWED_VARIABLE} (by default, the name of the index or table)`);
  }
  const text = JSON.stringify(config);
  const configs = boundConfigs.get(user) ?? new Map<string, string>();
  boundConfigs.set(user, configs);
  const bound = configs.get(variable);
  if (bound === text) return;
  if (bound !== undefined) {
    throw new InvalidArgumentError(field, variable, 'a different variable for each index or table of the function');
  }
  addVariables(user, field, { [variable]: json });
  configs.set(variable, text);
}
