import { InvalidArgumentError } from '../kernel/errors';

/** What an envelope knows of a row. */
interface EnvelopedRow {
  readonly id: bigint;
  readonly partitionKey: string;
  readonly data: Uint8Array;
  readonly producerId: string;
  readonly type: string | null;
  /** A JSON object of texts. */
  readonly headers: string | null;
  /** Null if the shape does not read the time. */
  readonly createdAt: Date | null;
}

/** Makes the data of a record from a row. */
export interface RowShape {
  /** Whether it needs the time at which a row was put. */
  readonly readsTime: boolean;
  dataOf(row: EnvelopedRow): Uint8Array;
}

/** Rows as CloudEvents 1.0 in their JSON form. */
export interface CloudEventsEnvelope {
  /** What the events come from: the attribute `source`, a URI reference that is not empty, such as `/repositories`. */
  source: string;
  /** The attribute `type` of rows that were put without one. @default 'event' */
  defaultType?: string;
}

/** @throws InvalidArgumentError unless an event can have the attributes */
export function checkEnvelope({ source, defaultType = 'event' }: CloudEventsEnvelope): void {
  for (const [field, value] of Object.entries({ source, defaultType })) {
    if (typeof value === 'string' && value !== '') continue;
    throw new InvalidArgumentError(field, value, 'a text that is not empty');
  }
}

export const WITHOUT_ENVELOPE: RowShape = { readsTime: false, dataOf: ({ data }) => data };

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * CloudEvents 1.0, JSON form: the id is the outbox's producer id and the row's number, so a duplicate of an event has the
 * same id. Data that is JSON is put in as it stands, other text as a string, and the rest as base64. Headers become
 * attributes. Source: the CloudEvents specification 1.0.2, JSON event format, and its extensions for partitioning and tracing.
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

/** The members of the object that hold the data. */
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
  // As it stands: numbers keep all their digits.
  return `"datacontenttype":"application/json","data":${text}`;
}
