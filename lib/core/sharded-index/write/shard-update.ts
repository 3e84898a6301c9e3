import { InvalidArgumentError } from '../../kernel/errors';
import { checkShardedConfig } from '../config/check-sharded-config';
import { isTableConfig, type ShardedConfig } from '../config/sharded-index-config';
import { placeIn } from '../config/stored-place';
import { shardAttributesOfUpdate, shardingAttributes } from './shard-attributes';
import { changedAttributes, type UpdateAction, type UpdateClauses, updateClauses } from './update-clauses';
import { checkExpressionLimits, checkPlaceholders, type WriteExpression } from './write-expression';

/**
 * The attributes that an update sets and removes. Set and remove the values of indexes here, because a value decides the shard.
 * An attribute must not be both set and removed.
 */
export interface ItemChanges {
  /** The attributes to set, as plain JavaScript values. No value may be undefined. */
  set?: Record<string, unknown>;
  /** The names of the attributes to remove. */
  remove?: readonly string[];
}

/** The expressions of an UpdateItem request, with plain JavaScript values. */
export interface UpdateExpression {
  /** The merged clauses of the library and the caller. */
  UpdateExpression: string;
  /** The condition of the caller. */
  ConditionExpression?: string;
  /**
   * The attribute names of the placeholders. The placeholders of the library start with `#evenShards`. Absent if no
   * placeholder is used.
   */
  ExpressionAttributeNames?: Record<string, string>;
  /**
   * The values of the placeholders. The placeholders of the library start with `:evenShards`. Absent if no placeholder
   * is used.
   */
  ExpressionAttributeValues?: Record<string, unknown>;
}

/**
 * Returns an update expression that changes an item and keeps it in the right shard of its sharded indexes. Use this function
 * for every UpdateItem request that sets or removes the value of an index, or that may create the item.
 *
 *     await documents.update({ TableName, Key, ...shardUpdate([byStatus], Key, { set: { status: 'shipped' } }) });
 *
 * If the update sets a new value, the item moves to a shard of that value. If the update removes the value, the index no longer
 * contains the item. If the update creates the item, the item gets a shard. If the update does not change the value, the item
 * stays in its shard. Do not create an item with an update that sets no value: an index with a value attribute would not
 * contain the item.
 *
 * `shardUpdate` does not know the whole item, so it cannot check the sort key of an index. `findStrays` finds items that lack
 * the sort key.
 *
 * `expression` adds the caller's own SET, REMOVE, ADD and DELETE clauses and a condition. The result combines the clauses of
 * the caller and of the library. The result is the whole request except `TableName` and `Key`:
 *
 *     shardUpdate([byStatus], Key, { set: { status: 'shipped' } }, {
 *       UpdateExpression: 'SET #log = list_append(#log, :entry) ADD version :one',
 *       ConditionExpression: 'version = :seen',
 *       ExpressionAttributeNames: { '#log': 'log' }, // a reserved word of DynamoDB
 *       ExpressionAttributeValues: { ':entry': ['shipped'], ':one': 1, ':seen': 7 },
 *     });
 *
 * @param configs the configurations of all sharded indexes that the changes affect, and the configuration of the table if it is
 *   sharded by its own key
 * @param key the item's table key, as plain JavaScript values. For a table that is sharded by its own key, use the key from
 *   `shardKey` or from an item that was read
 * @param changes the attributes to set and to remove, including the values of indexes
 * @param expression further clauses and a condition
 * @throws InvalidArgumentError if nothing changes, a value to set is undefined, or an attribute is changed twice
 * @throws InvalidArgumentError if the changes contain an attribute of the table key, a shard attribute, or an attribute that
 *   decides the shard of a table
 * @throws InvalidArgumentError if the expression changes the value of an index
 * @throws InvalidArgumentError if the table is sharded by its own key, and the key does not contain a shard that readers query
 * @throws InvalidArgumentError if the expression is too long for DynamoDB; about 130 attributes fit into an expression
 * @throws InvalidIndexValueError if a value of an index is not a non-empty string or a finite number
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
      // An update can create the item, and queries would not find an item in a shard that readers do not query.
      placeIn(config, 'key', key);
      continue;
    }
    const { valueAttribute, shardAttribute, strategy } = config;
    if (valueAttribute !== undefined && all.remove.has(valueAttribute)) {
      all.remove.add(shardAttribute);
    } else if (strategy === 'random' && (valueAttribute === undefined || config.tableKey.includes(valueAttribute))) {
      // The value of an item cannot change here: the index has no value attribute, or the value is part of the table key. So
      // the item keeps its random shard.
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
    throw new InvalidArgumentError(`changes.set.${unset}`, undefined, 'a value (to remove the attribute, use remove)');
  if (twice !== undefined)
    throw new InvalidArgumentError('changes.remove', twice, 'a list of different attributes that are not in set');
  const inBoth = ofExpression.find((attribute) => changed.includes(attribute));
  if (inBoth !== undefined)
    throw new InvalidArgumentError(
      'expression.UpdateExpression',
      inBoth,
      'clauses for attributes that are not in changes',
    );
  for (const config of configs) {
    const fixed = [
      ...config.tableKey,
      config.shardAttribute,
      ...(isTableConfig(config) ? placeAttributes(config) : []),
    ];
    const inChanges = fixed.find((attribute) => changed.includes(attribute));
    if (inChanges !== undefined)
      throw new InvalidArgumentError(
        'changes',
        inChanges,
        'an object without attributes of the table key, shard attributes, and attributes that decide the shard of a table',
      );
    const hidden = [...fixed, config.valueAttribute!].find((attribute) => ofExpression.includes(attribute));
    if (hidden !== undefined)
      throw new InvalidArgumentError(
        'expression.UpdateExpression',
        hidden,
        'clauses that do not change keys, shards or values of indexes (set a value in changes)',
      );
  }
}

/** The attributes that decide the place of an item of a table. An update must not change these attributes. */
function placeAttributes(config: ShardedConfig): string[] {
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
    // Other fields, such as ReturnValues, are passed through unchanged.
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
