import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { deaggregate, OrderedProducer } from '../../lib/core';
import { FakeKinesis, seededRandom, VirtualClock } from '../../lib/testing';

/** AWS' own decoder for Python. Fetched into a cache the first time, and nobody's dependency. */
const PACKAGES = ['aws-kinesis-agg==1.2.3', 'six'];
const cache = resolve('node_modules/.cache/aws-kinesis-agg');
const python = join(cache, 'bin/python');

/** Reads aggregates in base64, one a line, and writes the user records of each as one line of JSON. */
const DECODE = `
import base64, json, sys
from aws_kinesis_agg.deaggregator import deaggregate_records
for line in sys.stdin:
    record = json.loads(line)
    event = {'kinesis': {'data': record['data'], 'partitionKey': record['partitionKey'], 'sequenceNumber': '1',
             'kinesisSchemaVersion': '1.0', 'approximateArrivalTimestamp': 0}, 'eventID': 'e', 'eventVersion': '1',
             'eventSource': 's', 'eventName': 'n', 'invokeIdentityArn': 'a', 'awsRegion': 'r', 'eventSourceARN': 'a'}
    records = deaggregate_records([event])
    print(json.dumps([[r['kinesis']['partitionKey'], r['kinesis'].get('explicitHashKey'),
                       base64.b64decode(r['kinesis']['data']).hex()] for r in records]))
`;

function fetchDecoder(): boolean {
  if (existsSync(python) && canImport()) return true;
  spawnSync('python3', ['-m', 'venv', cache]);
  spawnSync(python, ['-m', 'pip', 'install', '--quiet', ...PACKAGES]);
  return existsSync(python) && canImport();
}

const canImport = (): boolean => spawnSync(python, ['-c', 'import aws_kinesis_agg.deaggregator']).status === 0;

const hasDecoder = fetchDecoder();
if (!hasDecoder) console.log(`SKIPPED: the Python decoder needs python3 with venv, and ${PACKAGES.join(' ')}`);

(hasDecoder ? describe : describe.skip)('the decoder of AWS for Python', () => {
  test.each([
    ['per-key', undefined],
    ['packed', 2],
    ['packed', 256],
  ] as const)('reads what a producer sends: %s, hash buckets: %s', async (aggregation, hashBuckets) => {
    const clock = new VirtualClock();
    const kinesis = new FakeKinesis({ clock, shardCount: 4 });
    const random = seededRandom(1);
    const options = { streamName: 'Events', clock, random, aggregation, hashBuckets, sequence: true };
    const producer = new OrderedProducer(kinesis, options);
    const keys = ['a', '200', '100', '__proto__', '顧客', '🧾', 'é'];
    const records = Array.from({ length: 5_000 }, (_, index) => ({
      partitionKey: `${keys[index % keys.length]}${Math.floor(random() * 300)}`,
      data: Buffer.alloc(Math.floor(random() * 200), index),
      ...(index % 11 === 0 && { explicitHashKey: BigInt(index % 3) }),
    }));
    await clock.runUntil(producer.putAll(records));
    const stored = kinesis.records();
    const input = stored.map(({ partitionKey, data }) =>
      JSON.stringify({ partitionKey, data: Buffer.from(data).toString('base64') }),
    );
    const { stdout, stderr, status } = spawnSync(python, ['-c', DECODE], {
      input: input.join('\n'),
      encoding: 'utf8',
      maxBuffer: 100 * 2 ** 20,
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const decoded = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const ours = stored.map((each) =>
      deaggregate(each).map(({ partitionKey, explicitHashKey, data }) => [
        partitionKey,
        explicitHashKey?.toString() ?? null,
        Buffer.from(data).toString('hex'),
      ]),
    );
    expect(decoded).toEqual(ours);
  });
});
