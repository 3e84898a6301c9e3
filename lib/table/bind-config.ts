import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { constructField } from '../construct-field';
import { InvalidArgumentError } from '../core/foundation/errors';
import type { ShardedIndexConfig } from '../core/sharded-index/sharded-index-config';
import type { ShardedIndexBindingOptions } from './sharded-index-binding-options';

/** Source: the Lambda API reference, Environment: Variables. */
const VARIABLE_NAME = /^[a-zA-Z][a-zA-Z0-9_]+$/;

/**
 * Which index each variable of a function holds, as text that two imports of one index have in common: Lambda's own
 * `addEnvironment` replaces a variable without a word.
 */
const boundIndexes = new WeakMap<lambda.Function, Map<string, string>>();

/** Puts the configuration of an index, and `json` is what is deployed of it, into the environment of a function. */
export function bindConfig(
  config: ShardedIndexConfig,
  json: string,
  bound: lambda.Function,
  binding: ShardedIndexBindingOptions,
): void {
  const variable = binding.environmentVariable ?? inCapitals(config.indexName);
  const field = constructField(bound, 'environmentVariable');
  if (!VARIABLE_NAME.test(variable)) {
    throw new InvalidArgumentError(field, variable, 'letters, digits and underscores, starting with a letter');
  }
  const index = JSON.stringify(config);
  const indexes = boundIndexes.get(bound) ?? new Map<string, string>();
  boundIndexes.set(bound, indexes);
  if ((indexes.get(variable) ?? index) !== index) {
    throw new InvalidArgumentError(field, variable, 'a variable of its own for each index of the function');
  }
  indexes.set(variable, index);
  bound.addEnvironment(variable, json);
}

/** `byStatus` is BY_STATUS. */
function inCapitals(indexName: string): string {
  return indexName
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^a-zA-Z0-9]+/g, '_')
    .toUpperCase();
}
