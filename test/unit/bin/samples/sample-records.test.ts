import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { InvalidInputError } from '../../../../bin/invalid-input-error';
import { sampleRecords } from '../../../../bin/samples/sample-records';

const folder = mkdtempSync(join(tmpdir(), 'sample-records-'));

async function read(name: string, content: string | Buffer): Promise<object[]> {
  const file = join(folder, name);
  writeFileSync(file, name.endsWith('.gz') && typeof content === 'string' ? gzipSync(content) : content);
  const events: object[] = [];
  for await (const { event } of sampleRecords([file])) events.push(event);
  return events;
}

const ITEM = '{"Item":{"id":{"S":"a"},"count":{"N":"2"}}}';

test.each(['export.json', 'export.json.gz'])('the items of an export in %s are records', async (name) => {
  expect(await read(name, `${ITEM}\n${ITEM}\n`)).toEqual([
    { id: 'a', count: 2 },
    { id: 'a', count: 2 },
  ]);
});

// Source: the DynamoDB developer guide, "DynamoDB table export output format".
test.each([
  ['empty.json', '', 'empty.json holds no event'],
  ['empty.json.gz', '', 'empty.json.gz holds no event'],
  ['array.json', '\n[1]', 'line 2: must be a JSON object'],
  ['cut.json', `${ITEM}\n{"Item":{"id"`, 'cut.json, line 2: must be a JSON object'],
  [
    'data.ion',
    '$ion_1_0 {Item:{id:"a"}}\n',
    'data.ion, line 1: is Amazon Ion. Export the table with the format DYNAMODB_JSON',
  ],
  [
    'manifest-files.json',
    '{"itemCount":1,"md5Checksum":"x","etag":"y","dataFileS3Key":"AWSDynamoDB/01/data/a.json.gz"}',
    'manifest-files.json, line 1: is a manifest of an export',
  ],
  [
    'manifest-summary.json',
    '{"manifestFilesS3Key":"AWSDynamoDB/01/manifest-files.json"}',
    'is a manifest of an export',
  ],
])('the file %s of an export without records is rejected with its line', async (name, content, problem) => {
  await expect(read(name, content)).rejects.toThrow(problem);
});

test('a missing, a truncated and a plain file with the name of a gzipped file are rejected', async () => {
  await expect(sampleRecords(['/no/such/file']).next()).rejects.toThrow('cannot read /no/such/file');
  const zipped = gzipSync(`${ITEM}\n${ITEM}`);
  const lengths = Array.from({ length: zipped.length - 1 }, (_, at) => at + 1);
  for (const content of [Buffer.from(ITEM), ...lengths.map((length) => zipped.subarray(0, length))]) {
    await expect(read('broken.json.gz', content)).rejects.toThrow(InvalidInputError);
  }
});

test('lines can end with CR and LF, and a line can arrive in several chunks', async () => {
  const note = `\u2028${'ä'.repeat(200_000)}`;
  expect(await read('events.json', `${ITEM}\r\n${JSON.stringify({ note })}\r\n`)).toEqual([
    { id: 'a', count: 2 },
    { note },
  ]);
});
