import { InvalidArgumentError } from '../foundation/errors';
import { shardAttributes } from './shard-attributes';
import { checkShardedIndexConfig, type ShardedIndexConfig } from './sharded-index-config';

/** What an update does to an item: attributes to set, as plain JavaScript values, and attributes to remove. */
export interface ItemChanges {
  set?: Record<string, unknown>;
  remove?: readonly string[];
}

/** The part of an UpdateItem request that says what to change, with plain JavaScript values. */
export interface UpdateExpression {
  UpdateExpression: string;
  ExpressionAttributeNames: Record<string, string>;
  /** Absent if nothing is set. */
  ExpressionAttributeValues?: Record<string, unknown>;
}

/**
 * An update that keeps an item where sharded indexes look for it: a new value moves the item to a shard of that value,
 * a removed one takes it out of the index, and an item that the update creates gets its shard.
 *
 *     await documents.update({ TableName, Key, ...shardUpdate([byStatus], Key, { set: { status: 'shipped' } }) });
 *
 * An update that leaves the value alone leaves the item in its shard; it must not create the item then, since an index
 * by value has no place for it. Add a condition of your own as `ConditionExpression`, with placeholders that do not
 * start with `evenShards`.
 *
 * @param configs every sharded index of the table that the changes concern
 * @param key the item's table key
 * @throws InvalidArgumentError if nothing changes, if an attribute is both set and removed, or if one that decides about
 *   the shard is changed by hand: a key attribute of the table, or a shard attribute
 * @throws InvalidIndexValueError if a value to set is none that an index can be keyed by
 */
export function shardUpdate(
  configs: readonly ShardedIndexConfig[],
  key: object,
  changes: ItemChanges,
): UpdateExpression {
  checkChanges(configs, changes);
  const { set = {}, remove = [] } = changes;
  const setIfAbsent: Record<string, unknown> = {};
  const all = { set: { ...set }, remove: new Set(remove) };
  for (const config of configs) {
    const { valueAttribute, shardAttribute, strategy } = config;
    if (valueAttribute !== undefined && all.remove.has(valueAttribute)) {
      all.remove.add(shardAttribute);
    } else if (valueAttribute === undefined && strategy === 'random') {
      Object.assign(setIfAbsent, shardAttributes(config, key));
    } else {
      Object.assign(all.set, shardAttributes(config, { ...set, ...key }));
    }
  }
  return expressionOf(all.set, setIfAbsent, [...all.remove]);
}

function checkChanges(configs: readonly ShardedIndexConfig[], { set = {}, remove = [] }: ItemChanges): void {
  const changed = [...Object.keys(set), ...remove];
  if (changed.length === 0) throw new InvalidArgumentError('changes', { set, remove }, 'at least one attribute');
  const twice = changed.find((attribute, index) => changed.indexOf(attribute) !== index);
  const unset = Object.keys(set).find((attribute) => set[attribute] === undefined);
  if (unset !== undefined) throw new InvalidArgumentError(`changes.set.${unset}`, undefined, 'a value, or in remove');
  if (twice !== undefined) throw new InvalidArgumentError('changes.remove', twice, 'attributes that are named once');
  for (const config of configs) {
    checkShardedIndexConfig(config);
    const fixed = [...config.tableKey, config.shardAttribute].find((attribute) => changed.includes(attribute));
    if (fixed === undefined) continue;
    throw new InvalidArgumentError('changes', fixed, 'made of attributes other than the table key and the shard');
  }
}

function expressionOf(
  set: Record<string, unknown>,
  setIfAbsent: Record<string, unknown>,
  remove: readonly string[],
): UpdateExpression {
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const name = (attribute: string): string => {
    const placeholder = `#evenShards${Object.keys(names).length}`;
    names[placeholder] = attribute;
    return placeholder;
  };
  const value = (of: unknown): string => {
    const placeholder = `:evenShards${Object.keys(values).length}`;
    values[placeholder] = of;
    return placeholder;
  };
  const assignments = [
    ...Object.entries(set).map(([attribute, to]) => `${name(attribute)} = ${value(to)}`),
    ...Object.entries(setIfAbsent).map(([attribute, to]) => {
      const placeholder = name(attribute);
      return `${placeholder} = if_not_exists(${placeholder}, ${value(to)})`;
    }),
  ];
  const clauses = [
    ...(assignments.length > 0 ? [`SET ${assignments.join(', ')}`] : []),
    ...(remove.length > 0 ? [`REMOVE ${remove.map(name).join(', ')}`] : []),
  ];
  return {
    UpdateExpression: clauses.join(' '),
    ExpressionAttributeNames: names,
    ...(assignments.length > 0 && { ExpressionAttributeValues: values }),
  };
}
