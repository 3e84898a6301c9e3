import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { constructField } from '../construct-field';
import { InvalidArgumentError } from '../core/foundation/errors';
import type { ShardedIndex } from './sharded-index';
import type { ShardedIndexBinding } from './sharded-index-binding';

/** Source: the Lambda API reference, Environment: Variables. */
const VARIABLE_NAME = /^[a-zA-Z][a-zA-Z0-9_]+$/;

/** Which index each variable holds: Lambda's own `addEnvironment` replaces one without a word. */
const boundIndexes = new WeakMap<lambda.Function, Map<string, ShardedIndex>>();

/** Puts the configuration of an index into the environment of a function. */
export function bindConfig(index: ShardedIndex, bound: lambda.Function, binding: ShardedIndexBinding): void {
  const variable = binding.environmentVariable ?? inCapitals(index.indexName);
  const field = constructField(bound, 'environmentVariable');
  if (!VARIABLE_NAME.test(variable)) {
    throw new InvalidArgumentError(field, variable, 'letters, digits and underscores, starting with a letter');
  }
  const indexes = boundIndexes.get(bound) ?? new Map<string, ShardedIndex>();
  boundIndexes.set(bound, indexes);
  if ((indexes.get(variable) ?? index) !== index) {
    throw new InvalidArgumentError(field, variable, 'a variable of its own for each index of the function');
  }
  indexes.set(variable, index);
  bound.addEnvironment(variable, index.toConfigJson());
}

/** `byStatus` is BY_STATUS. */
function inCapitals(indexName: string): string {
  return indexName
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^a-zA-Z0-9]+/g, '_')
    .toUpperCase();
}
