import { shardAttributesOfUpdate } from 'cdk-even-shards/sharded-index';
import { Entity, EntityParser, item, number, PutItemCommand, string, Table, UpdateItemCommand } from 'dynamodb-toolbox';

/**
 * Orders in a sharded index, with dynamodb-toolbox. The shard is an ordinary attribute of the entity, and both writes set it. A link
 * (`putLink`, `updateLink`) cannot set it: an `updateLink` does not run for missing attributes, and it does not see the table key.
 *
 * The entity computes the table key, so `shardAttributesOfUpdate` gets the stored key.
 */
export function toolboxOrders(documents, byStatus) {
  const [pk, sk] = byStatus.tableKey;
  const table = new Table({
    name: byStatus.tableName,
    documentClient: documents,
    partitionKey: { name: pk, type: 'string' },
    sortKey: { name: sk, type: 'string' },
  });
  const orders = new Entity({
    name: 'order',
    table,
    schema: item({
      orderId: string().key(),
      status: string(),
      note: string().optional(),
      [byStatus.shardAttribute]: (byStatus.keyLayout === 'multi-attribute' ? number() : string()).optional(),
    }),
    computeKey: ({ orderId }) => ({ [pk]: `ORDER#${orderId}`, [sk]: 'ORDER' }),
  });
  const shardOf = (orderId, status) =>
    shardAttributesOfUpdate(byStatus, {
      ...orders.build(EntityParser).parse({ orderId }, { mode: 'key' }).key,
      status,
    });
  return {
    place: (order) =>
      orders
        .build(PutItemCommand)
        .item({ ...order, ...shardOf(order.orderId, order.status) })
        .send(),
    ship: (orderId) =>
      orders
        .build(UpdateItemCommand)
        .item({ orderId, status: 'shipped', ...shardOf(orderId, 'shipped') })
        .send(),
    annotate: (orderId, note) => orders.build(UpdateItemCommand).item({ orderId, note }).send(),
  };
}
