import { shardAttributesOfUpdate } from 'cdk-even-shards/sharded-index';
import { Entity } from 'electrodb';

/**
 * Orders in a sharded index, with ElectroDB. The shard is an ordinary attribute of the entity, and both writes set it. A `watch` or
 * `set` hook cannot set it: on an update, the hook sees the changed attributes but not the table key, from which the shard is calculated.
 *
 * ElectroDB composes the table key, so `shardAttributesOfUpdate` gets the stored key.
 */
export function electroOrders(documents, byStatus) {
  const orders = new Entity(
    {
      model: { entity: 'order', version: '1', service: 'shop' },
      attributes: {
        orderId: { type: 'string', required: true },
        status: { type: 'string', required: true },
        note: { type: 'string' },
        [byStatus.shardAttribute]: { type: byStatus.keyLayout === 'multi-attribute' ? 'number' : 'string' },
      },
      indexes: {
        primary: {
          pk: { field: byStatus.tableKey[0], composite: ['orderId'] },
          sk: { field: byStatus.tableKey[1], composite: [] },
        },
      },
    },
    { client: documents, table: byStatus.tableName },
  );
  const shardOf = (orderId, status) =>
    shardAttributesOfUpdate(byStatus, { ...orders.get({ orderId }).params().Key, status });
  return {
    place: (order) => orders.put({ ...order, ...shardOf(order.orderId, order.status) }).go(),
    ship: (orderId) =>
      orders
        .patch({ orderId })
        .set({ status: 'shipped', ...shardOf(orderId, 'shipped') })
        .go(),
    annotate: (orderId, note) => orders.patch({ orderId }).set({ note }).go(),
  };
}
