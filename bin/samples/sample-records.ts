import type { DynamoDbItem } from '../../lib/core/aws-client/attribute-value';
import { isRecord } from '../../lib/core/kernel/checks';
import { plainItem } from '../../lib/core/sharded-index/query/plain-item';
import { InvalidInputError } from '../invalid-input-error';
import { type JsonItem, jsonItemBytes } from '../local/json-item';
import { type EventLine, userEvents } from './user-events';

/** A record of a sample: its fields and its size. */
export interface SampleRecord extends Omit<EventLine, 'text'> {
  readonly bytes: number;
}

/** Reads a sample with one record a line, or with one exported item of a table a line. */
export async function* sampleRecords(files: readonly string[]): AsyncGenerator<SampleRecord> {
  for await (const { text, ...line } of userEvents(files)) {
    if ('dataFileS3Key' in line.event || 'manifestFilesS3Key' in line.event) {
      const problem = 'is a manifest of an export. Pass the data files that it names, which end with .json.gz';
      throw new InvalidInputError(`${line.file}, line ${line.line}: ${problem}`);
    }
    const item = itemOf(line.event);
    yield item === undefined ? { ...line, bytes: Buffer.byteLength(text) } : { ...line, ...item };
  }
}

const TYPES: readonly string[] = ['S', 'N', 'B', 'BOOL', 'NULL', 'L', 'M', 'SS', 'NS', 'BS'];

/**
 * The item of a line of a table export, such as `{"Item": {"id": {"S": "a"}}}`, and its size in DynamoDB. Undefined if the line
 * is not a line of an export. Source: the DynamoDB developer guide, "DynamoDB table export output format".
 */
function itemOf(line: Record<string, unknown>): { event: Record<string, unknown>; bytes: number } | undefined {
  const { Item: item, ...others } = line;
  if (Object.keys(others).length > 0 || !isRecord(item) || !Object.values(item).every(isTyped)) return undefined;
  return { event: plainItem(item as DynamoDbItem), bytes: jsonItemBytes(item as JsonItem) };
}

function isTyped(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const [type, ...more] = Object.keys(value);
  return type !== undefined && more.length === 0 && TYPES.includes(type);
}
