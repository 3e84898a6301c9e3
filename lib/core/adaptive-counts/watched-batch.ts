import { attributeOf } from '../aws-client/attribute-value';
import { isObject } from '../kernel/checks';
import { plainDecimal } from '../kernel/decimal';
import type { ShardedIndexConfig } from '../sharded-index';
import { keyValue } from '../sharding/key-value';
import { valueName } from './adaptive-config';

/** The writes of tables in a BatchWriteItem request or response, in the types of the SDK's client or document client. */
export interface BatchRequests {
  // biome-ignore lint/suspicious/noExplicitAny: the item has the types of the SDK, or plain values
  [table: string]: readonly { PutRequest?: { Item?: Record<string, any> }; DeleteRequest?: object }[] | undefined;
}

/** A put request, and the text of its value. The value is undefined if the index has no value attribute. */
interface WatchedPut {
  readonly request: object;
  readonly name: string | undefined;
}

/** The put requests of the table of an index whose items have a value. Requests are for the name or the ARN of a table. */
export function watchedPuts(config: ShardedIndexConfig, requests: unknown): WatchedPut[] {
  const { tableName, valueAttribute } = config;
  const tables = Object.entries<unknown>(Object(requests)).filter(
    ([table]) => table === tableName || table.endsWith(`:table/${tableName}`),
  );
  return tables.flatMap(([, list]) =>
    (Array.isArray(list) ? list : []).flatMap((entry) => {
      const { PutRequest: request } = Object(entry);
      const item: Record<string, unknown> = Object(Object(request).Item);
      if (!isObject(request)) return [];
      if (valueAttribute === undefined) return [{ request, name: undefined }];
      try {
        return [{ request, name: valueName(config, plainValue(item, valueAttribute)) }];
      } catch {
        // The index does not contain an item without a valid value.
        return [];
      }
    }),
  );
}

/** A value of the document client, or the value in an attribute of the SDK's client, as the counts name it. */
function plainValue(item: Record<string, unknown>, name: string): string | number | undefined {
  const attribute = attributeOf(item, name);
  const { S, N }: { S?: unknown; N?: unknown } = Object(attribute);
  return typeof N === 'string' ? plainDecimal(N) : keyValue(S ?? attribute);
}
