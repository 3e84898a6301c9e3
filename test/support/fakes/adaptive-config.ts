import { indexConfig } from '../index-config';

/** An index by status with adaptive counts. */
export const adaptiveConfig = indexConfig({
  version: 2,
  tableName: 'orders',
  tableKey: ['orderId'],
  keyLayout: 'single-attribute',
  shardAttribute: 'byStatusShard',
  adaptive: { tableName: 'counts', maximum: 64 },
});
