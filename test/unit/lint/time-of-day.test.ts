import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');

/**
 * The time of day can jump, so it cannot measure a duration. Each file that reads the time of day has a reason: it
 * shows, stores or signs the time, or compares it with a time that another process has stored.
 */
const READS_THE_TIME_OF_DAY: Record<string, string> = {
  'bin/doctor/index.ts': 'a query of CloudWatch has a start time',
  'bin/doctor/unsharded-keys.ts': 'a report of Contributor Insights has a start time',
  'bin/local/assembly/event-sources.ts': 'Lambda rejects a starting position in the future',
  'bin/local/emulators/table-streams.ts': 'a record has its creation time',
  'bin/local/event-sources/event-source-worker.ts': 'a record has its arrival time',
  'bin/local/functions/function-host.ts': 'a request has the time of day at which it times out, as in Lambda',
  'bin/local/functions/function-process.ts': 'a request has the time of day at which it times out, as in Lambda',
  'bin/local/functions/lambda-environment.ts': 'the name of a log stream has the date',
  'bin/parked/index.ts': 'the output shows how long a key has waited',
  'bin/stream-shards/shard-reader.ts': 'a read of Kinesis has a start time',
  'bin/tail/index.ts': 'a read of Kinesis has a start time',
  'lambda/adaptive-shard-count-controller/index.ts': 'writers report minutes of the day',
  'lambda/keyspaces-query-fanout/sigv4-authenticator.ts': 'a signature has the time',
  'lambda/producer/hash-key-owners.ts': 'a frozen function ages by the time of day if the clock shows less',
  'lambda/stream-reconciler/index.ts': 'a stream carries times in tags',
  'lambda/stream-resharder/index.ts': 'no other clock continues from one invocation to the next',
  'lambda/stream-scaler/index.ts': 'a stream carries times in tags',
  'lib/core/adaptive-counts/adaptive-index.ts': 'a frozen process ages by the time of day if the clock shows less',
  'lib/core/adaptive-counts/change-count.ts': 'a count has the time of its last change',
  'lib/core/adaptive-counts/write-reporter.ts': 'reports are of minutes of the day',
  'lib/core/consumer/consumer-options.ts': 'processes of a consumer compare leases and waits',
  'lib/core/consumer/parking-moves.ts': 'the time-to-live of an item is a time of day',
  'lib/core/consumer/dynamodb-parking-store.ts': 'the time-to-live of an item is a time of day',
  'lib/core/consumer/metric-lines.ts': 'a metric has the time',
  'lib/core/consumer/parking-marks.ts': 'all processes of a consumer compare when a token ends',
  'lib/core/consumer/base-parking-store.ts': 'a store keeps the time at which a key was parked',
  'lib/core/aws-client/light-request.ts': 'a signature has the time',
  'lib/core/registry/dynamodb-registry-store.ts': 'the time-to-live of an item is a time of day',
  'lib/core/resharding/reshard-stream.ts': 'a stream carries times in tags',
  'lib/core/sharded-index/keeper/index-keeper.ts': 'processes of a keeper compare when an item is due',
  'lib/core/sharded-index/client/light-query-client.ts': 'a trace has the time',
};

/**
 * A timer of Node.js with a delay above 2^31 ms fires immediately. So the library waits with `Clock`, which splits a
 * long delay.
 */
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

test('the list in this test has each file that reads the time of day, with a reason', () => {
  const found = withPattern(/\bDate\.now\b|\bnew Date\(\)/, 'lib', 'lambda', 'bin');
  expect(found).toEqual(Object.keys(READS_THE_TIME_OF_DAY).sort());
});

test('only the files in the list of this test set timers of Node.js', () => {
  const found = withPattern(/\b(setTimeout|setInterval)\(|node:timers\/promises.*\bsetTimeout/, 'lib', 'lambda');
  expect(found).toEqual(Object.keys(SETS_TIMERS));
});
