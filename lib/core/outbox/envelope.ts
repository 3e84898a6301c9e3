import { isText } from '../kernel/checks';
import { InvalidArgumentError } from '../kernel/errors';

interface EnvelopedRow {
  readonly id: bigint;
  readonly partitionKey: string;
  readonly data: Uint8Array;
  readonly producerId: string;
  readonly type: string | null;
  /** The headers, as a JSON object whose values are texts. */
  readonly headers: string | null;
  /** The time at which the row was put. Null if the shape does not need it. */
  readonly createdAt: Date | null;
}

/** Creates the data of a record from a row. */
export interface RowShape {
  /** Whether `dataOf` needs the time at which a row was put. */
  readonly readsTime: boolean;
  dataOf(row: EnvelopedRow): Uint8Array;
}

/** Options to send rows as CloudEvents 1.0 in the JSON format. */
export interface CloudEventsEnvelope {
  /** The attribute `source` of the events, a non-empty URI reference, such as `/repositories`. */
  source: string;
  /** The attribute `type` of rows without a type. @default 'event' */
  defaultType?: string;
}

/** @throws InvalidArgumentError unless both attributes are non-empty strings */
export function checkEnvelope({ source, defaultType = 'event' }: CloudEventsEnvelope): void {
  for (const [field, value] of Object.entries({ source, defaultType })) {
    if (isText(value)) continue;
    throw new InvalidArgumentError(field, value, 'a non-empty string');
  }
}

export const WITHOUT_ENVELOPE: RowShape = { readsTime: false, dataOf: ({ data }) => data };

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Creates CloudEvents 1.0 in the JSON format. The id of an event consists of the outbox's producer id and the row's number, so a
 * duplicate of an event has the same id. JSON data is embedded unchanged, other text as a string, and other bytes in base64.
 * Headers become attributes. Source: the CloudEvents specification 1.0.2, JSON event format, and its extensions for partitioning
 * and tracing.
 */
export function cloudEvents({ source, defaultType = 'event' }: CloudEventsEnvelope): RowShape {
  return {
    readsTime: true,
    dataOf: ({ id, partitionKey, data, producerId, type, headers, createdAt }) => {
      const attributes = {
        specversion: '1.0',
        id: `${producerId}/${id}`,
        source,
        type: type ?? defaultType,
        time: createdAt!.toISOString(),
        partitionkey: partitionKey,
        ...(headers !== null && JSON.parse(headers)),
      };
      return Buffer.from(`${JSON.stringify(attributes).slice(0, -1)},${payloadOf(data)}}`);
    },
  };
}

/** The members of the event that contain the data. */
function payloadOf(data: Uint8Array): string {
  let text: string;
  try {
    text = UTF_8.decode(data);
  } catch {
    return `"datacontenttype":"application/octet-stream","data_base64":"${Buffer.from(data).toString('base64')}"`;
  }
  try {
    JSON.parse(text);
  } catch {
    return `"datacontenttype":"text/plain","data":${JSON.stringify(text)}`;
  }
  // Embeds the text unchanged, so that numbers keep all their digits.
  return `"datacontenttype":"application/json","data":${text}`;
}
