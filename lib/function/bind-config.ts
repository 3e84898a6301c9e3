import { Stack } from 'aws-cdk-lib';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { constructField } from '../construct/props';
import { variableName } from '../core/contract/function-environment';
import { InvalidArgumentError } from '../core/kernel/errors';
import { checkEnvironmentSize } from './environment-size';

/** Source: the Lambda API reference, Environment: Variables. */
const VARIABLE_NAME = /^[a-zA-Z][a-zA-Z0-9_]+$/;

/** A sharded index or a sharded table whose configuration a function gets. */
interface Bound {
  readonly name: string;
  readonly config: object;
  /** What is deployed of the configuration. */
  readonly json: string;
}

/**
 * What each variable of a function is about, as text that two imports of one index have in common: Lambda's own
 * `addEnvironment` replaces a variable without a word.
 */
const boundConfigs = new WeakMap<lambda.Function, Map<string, string>>();

/** What of it is deployed, by variable. */
const boundVariables = new WeakMap<lambda.Function, Record<string, string>>();

/** Puts a configuration into the environment of a function. */
export function bindConfig({ name, config, json }: Bound, user: lambda.Function, environmentVariable?: string): void {
  const variable = environmentVariable ?? variableName(name);
  const field = constructField(user, 'environmentVariable');
  if (!VARIABLE_NAME.test(variable)) {
    throw new InvalidArgumentError(
      field,
      variable,
      'at least two characters: a letter, and then letters, digits and underscores; if you give none, it is the name of what is bound',
    );
  }
  const text = JSON.stringify(config);
  const configs = boundConfigs.get(user) ?? new Map<string, string>();
  boundConfigs.set(user, configs);
  if ((configs.get(variable) ?? text) !== text) {
    throw new InvalidArgumentError(field, variable, 'a variable of its own for each index or table of the function');
  }
  if (!configs.has(variable) && hasVariable(user, variable)) {
    throw new InvalidArgumentError(field, variable, 'a variable that the function does not have yet');
  }
  configs.set(variable, text);
  variablesOf(user)[variable] = json;
  user.addEnvironment(variable, json);
}

/** The first variable of a function has synthesis look at the size of all of them. */
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
