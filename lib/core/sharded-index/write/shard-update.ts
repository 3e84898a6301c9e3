import { InvalidArgumentError } from '../../kernel/errors';
import { checkShardedConfig } from '../config/check-sharded-config';
import { isTableConfig, type ShardedConfig } from '../config/sharded-index-config';
import { placeIn } from '../config/stored-place';
import { shardAttributesOfUpdate, shardingAttributes } from './shard-attributes';
import { changedAttributes, type UpdateAction, type UpdateClauses, updateClauses } from './update-clauses';
import { checkExpressionLimits, checkPlaceholders, type WriteExpression } from './write-expression';

/** The changes of an update that decide shards, or that need no expression. No attribute may be both set and removed. */
export interface ItemChanges {
  /** The attributes to set, as plain JavaScript values. None may be undefined. */
  set?: Record<string, unknown>;
  /** The names of the attributes to remove. */
  remove?: readonly string[];
}

/** The part of an UpdateItem request that says what to change. Its values are plain JavaScript values. */
export interface UpdateExpression {
  /** The clauses of the library and those of the caller, merged. */
  UpdateExpression: string;
  /** The condition of the caller. */
  ConditionExpression?: string;
  /** The attribute names of the placeholders. Those of the library start with `#evenShards`. Absent if there are none. */
  ExpressionAttributeNames?: Record<string, string>;
  /** The values of the placeholders. Those of the library start with `:evenShards`. Absent if there are none. */
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
 *
 * An update does not see the whole item. So it does not reject an item without the sort key of an index, which the index does not
 * contain: `findStrays` counts such items.
 *
 * `expression` is the caller's own: SET, REMOVE, ADD and DELETE clauses with paths and functions, and a condition. The
 * answer holds both, so it is the whole request besides `TableName` and `Key`:
 *
 *     shardUpdate([byStatus], Key, { set: { status: 'shipped' } }, {
 *       UpdateExpression: 'SET #log = list_append(#log, :entry) ADD version :one',
 *       ConditionExpression: 'version = :seen',
 *       ExpressionAttributeNames: { '#log': 'log' }, // a reserved word of DynamoDB
 *       ExpressionAttributeValues: { ':entry': ['shipped'], ':one': 1, ':seen': 7 },
 *     });
 *
 * @param configs the configurations of all sharded indexes of the table that the changes concern, and that of the table if
 *   it is sharded by its own key
 * @param key the item's table key, as plain JavaScript values; of a table that is sharded by its own key, that of `shardKey`, or of
 *   the item that was read
 * @param changes what to set and to remove; the values of indexes go here, because they decide the shards
 * @param expression further clauses and a condition
 * @throws InvalidArgumentError if nothing changes, if a value to set is undefined, if an attribute is changed twice, if the
 *   changes name an attribute of the table key, a shard attribute or what decides the shard of a table, if the expression
 *   changes the value of an index, if the key of a table that is sharded by its own key names no shard that readers ask, or if
 *   DynamoDB would reject the expression as too long: about 130 attributes fit into one
 * @throws InvalidIndexValueError if a value to set is neither a non-empty string nor a finite number
 */
export function shardUpdate(
  configs: readonly ShardedConfig[],
  key: object,
  changes: ItemChanges,
  expression: WriteExpression & { UpdateExpression?: string } = {},
): UpdateExpression {
  for (const config of configs) checkShardedConfig(config);
  checkPlaceholders(expression);
  const own = updateClauses(expression.UpdateExpression);
  checkChanges(configs, changes, changedAttributes(own, expression.ExpressionAttributeNames));
  const { set = {}, remove = [] } = changes;
  const setIfAbsent: Record<string, unknown> = {};
  const all = { set: { ...set }, remove: new Set(remove) };
  for (const config of configs) {
    if (isTableConfig(config)) {
      // An update that finds no item creates one, and no query would find it at a place that readers do not ask.
      placeIn(config, 'key', key);
      continue;
    }
    const { valueAttribute, shardAttribute, strategy } = config;
    if (valueAttribute !== undefined && all.remove.has(valueAttribute)) {
      all.remove.add(shardAttribute);
    } else if (strategy === 'random' && (valueAttribute === undefined || config.tableKey.includes(valueAttribute))) {
      // In such an index the value of an item never changes, so its shard does not change either.
      Object.assign(setIfAbsent, shardAttributesOfUpdate(config, key));
    } else {
      Object.assign(all.set, shardAttributesOfUpdate(config, { ...set, ...key }));
    }
  }
  const update = merged(all.set, setIfAbsent, [...all.remove], own, expression);
  checkExpressionLimits('changes', update);
  return update;
}

function checkChanges(
  configs: readonly ShardedConfig[],
  { set = {}, remove = [] }: ItemChanges,
  ofExpression: readonly string[],
): void {
  if (!Array.isArray(remove)) throw new InvalidArgumentError('changes.remove', remove, 'a list of attributes');
  const changed = [...Object.keys(set), ...remove];
  if (changed.length + ofExpression.length === 0)
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
  const inBoth = ofExpression.find((attribute) => changed.includes(attribute));
  if (inBoth !== undefined)
    throw new InvalidArgumentError(
      'expression.UpdateExpression',
      inBoth,
      'clauses for attributes that changes leaves out',
    );
  for (const config of configs) {
    const fixed = [...config.tableKey, config.shardAttribute, ...(isTableConfig(config) ? placing(config) : [])];
    const inChanges = fixed.find((attribute) => changed.includes(attribute));
    if (inChanges !== undefined)
      throw new InvalidArgumentError(
        'changes',
        inChanges,
        'an object without attributes of the table key, without the shard attribute, and without what decides the shard of a table',
      );
    const hidden = [...fixed, config.valueAttribute!].find((attribute) => ofExpression.includes(attribute));
    if (hidden !== undefined)
      throw new InvalidArgumentError(
        'expression.UpdateExpression',
        hidden,
        'clauses that leave keys, shards and values of indexes as they are; set a value in changes',
      );
  }
}

/** The attributes that decide where an item of a table is. An update must not change them. */
function placing(config: ShardedConfig): string[] {
  return [config.valueAttribute!, ...shardingAttributes(config)];
}

function merged(
  set: Record<string, unknown>,
  setIfAbsent: Record<string, unknown>,
  remove: readonly string[],
  own: UpdateClauses,
  expression: WriteExpression,
): UpdateExpression {
  const names: Record<string, string> = { ...expression.ExpressionAttributeNames };
  const values: Record<string, unknown> = { ...expression.ExpressionAttributeValues };
  let [named, valued] = [0, 0];
  const name = (attribute: string): string => {
    const placeholder = `#evenShards${named++}`;
    names[placeholder] = attribute;
    return placeholder;
  };
  const value = (of: unknown): string => {
    const placeholder = `:evenShards${valued++}`;
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
  const clauses = {
    SET: [...assignments, ...own.SET.map(textOf)],
    REMOVE: [...remove.map(name), ...own.REMOVE.map(textOf)],
    ADD: own.ADD.map(textOf),
    DELETE: own.DELETE.map(textOf),
  };
  const {
    ConditionExpression,
    ExpressionAttributeNames: _names,
    ExpressionAttributeValues: _values,
    ...rest
  } = expression;
  return {
    // Further fields, such as ReturnValues, have nothing to do with shards and stay as the caller gave them.
    ...rest,
    UpdateExpression: Object.entries(clauses)
      .filter(([, parts]) => parts.length > 0)
      .map(([keyword, parts]) => `${keyword} ${parts.join(', ')}`)
      .join(' '),
    ...(ConditionExpression !== undefined && { ConditionExpression }),
    ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  };
}

function textOf({ text }: UpdateAction): string {
  return text;
}
