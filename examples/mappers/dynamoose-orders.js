import { shardAttributesOfUpdate } from 'cdk-even-shards/sharded-index';
import dynamoose from 'dynamoose';

/**
 * Orders in a sharded index, with dynamoose. The shard is an ordinary attribute of the schema, and both writes set it. A `set` of the
 * schema cannot set it: on an update, `set` sees the attribute but not the table key, from which the shard is calculated.
 *
 * dynamoose stores the table key without changes, so `shardAttributesOfUpdate` gets the same key.
 */
export function dynamooseOrders(dynamoDb, byStatus) {
  dynamoose.aws.ddb.set(dynamoDb);
  const [pk, sk] = byStatus.tableKey;
  const Order = dynamoose.model(
    'Order',
    new dynamoose.Schema({
      [pk]: { type: String, hashKey: true },
      [sk]: { type: String, rangeKey: true },
      orderId: String,
      status: String,
      note: String,
      [byStatus.shardAttribute]: byStatus.keyLayout === 'multi-attribute' ? Number : String,
    }),
    { tableName: byStatus.tableName, create: false, update: false, waitForActive: false },
  );
  const keyOf = (orderId) => ({ [pk]: `ORDER#${orderId}`, [sk]: 'ORDER' });
  const shardOf = (orderId, status) => shardAttributesOfUpdate(byStatus, { ...keyOf(orderId), status });
  return {
    place: (order) => new Order({ ...keyOf(order.orderId), ...order, ...shardOf(order.orderId, order.status) }).save(),
    ship: (orderId) => Order.update(keyOf(orderId), { $SET: { status: 'shipped', ...shardOf(orderId, 'shipped') } }),
    annotate: (orderId, note) => Order.update(keyOf(orderId), { $SET: { note } }),
  };
}
