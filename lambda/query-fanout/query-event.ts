import { UnknownIndexError } from '../../lib/core/errors';
import type { FanOutRequest } from '../../lib/core/fan-out/fan-out-request';
import type { AttributeValue } from '../../lib/core/fan-out/query-client';
import type { ShardedIndexConfig } from '../../lib/core/write-sharding/sharded-index-config';
import { InvalidEventError } from '../invalid-event-error';

/** A fan-out request, and the index to ask. */
export interface QueryEvent extends FanOutRequest {
  /** The name of one of the function's indexes. */
  index: string;
  /**
   * How items are written: plain JSON, or DynamoDB's own JSON with its types.
   * @default 'plain'
   */
  format?: 'plain' | 'dynamodb';
}

const FORMATS = ['plain', 'dynamodb'];

/** An event's parts, checked but for what the core checks itself. */
export function parseQueryEvent(
  indexes: Record<string, ShardedIndexConfig>,
  event: unknown,
): { config: ShardedIndexConfig; request: FanOutRequest; format: 'plain' | 'dynamodb' } {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) {
    throw new InvalidEventError('event', event, 'an object with index and a fan-out request');
  }
  const { index, format = 'plain', ...request } = event as QueryEvent;
  if (typeof index !== 'string' || !Object.hasOwn(indexes, index)) {
    throw new UnknownIndexError('index', index, `one of ${Object.keys(indexes).join(', ')}`);
  }
  if (!FORMATS.includes(format)) throw new InvalidEventError('format', format, `one of ${FORMATS.join(', ')}`);
  const { expressionAttributeValues: values } = request;
  if (typeof values === 'object' && values !== null) request.expressionAttributeValues = withBinary(values);
  return { config: indexes[index]!, request, format };
}

/** JSON writes binary in base64, the SDK takes bytes. */
function withBinary(values: Record<string, AttributeValue>): Record<string, AttributeValue> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const base64 = (value as { B?: unknown } | null)?.B;
      return [name, typeof base64 === 'string' ? { B: Buffer.from(base64, 'base64') } : value];
    }),
  );
}
