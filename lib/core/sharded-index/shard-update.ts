import { InvalidArgumentError } from '../foundation/errors';
import { shardAttributes } from './shard-attributes';
import { checkShardedConfig, type ShardedConfig } from './sharded-index-config';

/** The changes of an update. At least one attribute must change, and no attribute may be both set and removed. */
export interface ItemChanges {
  /** The attributes to set, as plain JavaScript values. None may be undefined. */
  set?: Record<string, unknown>;
  /** The names of the attributes to remove. */
  remove?: readonly string[];
}

/** The part of an UpdateItem request that says what to change. Its values are plain JavaScript values. */
export interface UpdateExpression {
  /** `SET` and `REMOVE` clauses that use placeholders only. */
  UpdateExpression: string;
  /** The attribute names of the placeholders, which start with `#evenShards`. */
  ExpressionAttributeNames: Record<string, string>;
  /** The values of the placeholders, which start with `:evenShards`. Absent if the update sets nothing. */
  ExpressionAttributeValues?: Record<string, unknown>;
}

/**
 * The update expression that changes an item and keeps it in the right shard of its sharded indexes. Use it for every
 * UpdateItem request that sets or removes the value of an index, or that may create the item.
 *
 *     await documents.update({ TableName, Key, ...shardUpdate([byStatus], Key, { set: { status: 'shipped' } }) });
 *
 * If the update sets a new value, it moves the item to a shard of that value. If it removes the value, it takes the
 * item out of the index. If it creates the item, it gives the item a shard. An update that does not change the value
 * leaves the item in its shard; such an update must not create the item, because an index by value has no place for it.
 * You may add your own `ConditionExpression`, with placeholders that do not start with `evenShards`.
 *
 * @param configs the configurations of all sharded indexes of the table that the changes concern
 * @param key the item's table key, as plain JavaScript values
 * @throws InvalidArgumentError if nothing changes, if a value to set is undefined, if an attribute is both set and
 *   removed, or if the changes name an attribute of the table key or a shard attribute
 * @throws InvalidIndexValueError if a value to set is neither a non-empty string nor a finite number
 */
export function shardUpdate(configs: readonly ShardedConfig[], key: object, changes: ItemChanges): UpdateExpression {
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

function checkChanges(configs: readonly ShardedConfig[], { set = {}, remove = [] }: ItemChanges): void {
  const changed = [...Object.keys(set), ...remove];
  if (changed.length === 0)
    throw new InvalidArgumentError('changes', { set, remove }, 'an object that sets or removes at least one attribute');
  const twice = changed.find((attribute, index) => changed.indexOf(attribute) !== index);
  const unset = Object.keys(set).find((attribute) => set[attribute] === undefined);
  if (unset !== undefined)
    throw new InvalidArgumentError(
      `changes.set.${unset}`,
      undefined,
      'a value; to remove the attribute, name it in remove',
    );
  if (twice !== undefined)
    throw new InvalidArgumentError('changes.remove', twice, 'a list of attributes that changes names only once');
  for (const config of configs) {
    checkShardedConfig(config);
    const fixed = [...config.tableKey, config.shardAttribute].find((attribute) => changed.includes(attribute));
    if (fixed === undefined) continue;
    throw new InvalidArgumentError(
      'changes',
      fixed,
      'an object without attributes of the table key and without the shard attribute',
    );
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
