import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');

/**
 * The time of day can be set, so it measures nothing. Each file that reads it has a reason: the time is shown, stored,
 * signed, or compared with a time of day that another process has stored.
 */
const READS_THE_TIME_OF_DAY: Record<string, string> = {
  'bin/doctor/index.ts': 'CloudWatch is asked from a time on',
  'bin/local/event-sources/event-source-worker.ts': 'a record has the time at which it came',
  'bin/local/console/load.ts': 'CloudWatch and DynamoDB Streams are asked from a time on',
  'bin/parked/index.ts': 'a person sees how long a key has waited',
  'bin/stream-shards/shard-reader.ts': 'Kinesis is asked from a time on',
  'bin/tail/index.ts': 'Kinesis is asked from a time on',
  'lambda/adaptive-shard-count-controller/index.ts': 'writers report minutes of the day',
  'lambda/keyspaces-query-fanout/sigv4-authenticator.ts': 'a signature has the time',
  'lambda/producer/hash-key-owners.ts': 'a frozen function ages by it, if the clock says less',
  'lambda/stream-reconciler/index.ts': 'a stream carries times in tags',
  'lambda/stream-resharder/index.ts': 'no other clock goes on from one invocation to the next',
  'lambda/stream-scaler/index.ts': 'a stream carries times in tags',
  'lib/core/adaptive-counts/adaptive-index.ts': 'a frozen process ages by it, if the clock says less',
  'lib/core/adaptive-counts/change-count.ts': 'a count says when it has changed',
  'lib/core/adaptive-counts/write-reporter.ts': 'reports are of minutes of the day',
  'lib/core/consumer/consumer-options.ts': 'processes of a consumer compare leases and waits',
  'lib/core/consumer/parking-moves.ts': 'the time-to-live of an item is a time of day',
  'lib/core/consumer/dynamodb-parking-store.ts': 'the time-to-live of an item is a time of day',
  'lib/core/consumer/metric-lines.ts': 'a metric has the time',
  'lib/core/consumer/parking-marks.ts': 'all processes of a consumer compare when a token ends',
  'lib/core/consumer/base-parking-store.ts': 'a store keeps since when a key is parked',
  'lib/core/aws-client/light-request.ts': 'a signature has the time',
  'lib/core/registry/dynamodb-registry-store.ts': 'the time-to-live of an item is a time of day',
  'lib/core/resharding/reshard-stream.ts': 'a stream carries times in tags',
  'lib/core/sharded-index/client/light-query-client.ts': 'a trace has the time',
};

/** Node.js takes a delay beyond the longest timer for none. So engines wait by their clock, which knows. */
const SETS_TIMERS: Record<string, string> = {
  'lambda/outbox-relay/outbox-report.ts': 'every 30 seconds',
  'lib/core/kernel/clock.ts': 'the clock of the system',
};

const sources = (...folders: string[]) =>
  folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`),
  );
const withPattern = (pattern: RegExp, ...folders: string[]) =>
  sources(...folders)
    .filter((file) => pattern.test(withoutComments(readFileSync(join(ROOT, file), 'utf8'))))
    .sort();

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}

test('who reads the time of day has a reason that this list names', () => {
  const found = withPattern(/\bDate\.now\b|\bnew Date\(\)/, 'lib', 'lambda', 'bin');
  expect(found).toEqual(Object.keys(READS_THE_TIME_OF_DAY).sort());
});

test('timers of Node.js are set in a few places that know how long they are', () => {
  const found = withPattern(/\b(setTimeout|setInterval)\(|node:timers\/promises.*\bsetTimeout/, 'lib', 'lambda');
  expect(found).toEqual(Object.keys(SETS_TIMERS));
});
