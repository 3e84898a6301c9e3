import { itemOf } from './exported-item';
import { InvalidInputError } from './invalid-input-error';
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
