import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import { createKeyedTable } from '../keyed-table';
import { createParkingTable } from './parking-stores';

export const EFFECTS_TABLE = 'Effects';

export async function createConsumerTables(dynamodb: DynamoDB): Promise<void> {
  await createParkingTable(dynamodb);
  await createKeyedTable(dynamodb, EFFECTS_TABLE, 'id');
}
