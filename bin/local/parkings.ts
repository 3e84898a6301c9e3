import { DynamoDbParkingStore } from '../../lib/core/consumer';
import { CONSUMER_NAME, PARKING_TABLE_NAME } from '../../lib/core/contract/function-environment';
import type { LocalFunction } from './assembly/planned-function';
import type { LocalStack } from './run-local';

/** A function and the store of its parked keys. */
export interface Parking {
  readonly definition: LocalFunction;
  readonly tableName: string;
  readonly consumer: string;
  readonly store: DynamoDbParkingStore;
}

/**
 * The parked keys of each function of an `OrderedStreamConsumer`. The requests pass no gate, so limits do not throttle
 * changes by a person.
 */
export function parkingsOf({ functions, ungatedClients }: LocalStack): Parking[] {
  return functions.flatMap((definition) => {
    const { [PARKING_TABLE_NAME]: tableName, [CONSUMER_NAME]: consumer } = definition.environment;
    if (tableName === undefined || consumer === undefined) return [];
    const store = new DynamoDbParkingStore(ungatedClients.dynamodb, { tableName, consumer });
    return [{ definition, tableName, consumer, store }];
  });
}
