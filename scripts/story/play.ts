// Plays the story of "Guaranteeing Order with Kinesis Bulk Puts" with the reference app: npm start.
import { runSample } from '../../bin/local/sample';
import { counted } from '../../bin/plain-text';
import { textTable } from '../../bin/text-table';
import { hasPostgres, PostgresServer } from '../../test/support/postgres/postgres-server';
import { type Cache, type Story, story } from './history';
import { writeThroughOutbox, writeWithProducer } from './ordered-writers';
import { writePlainly } from './plain-writer';
import { RECORDS_PER_SECOND, startThrottledRun, type ThrottledRun } from './throttled-run';

/** The cloud assembly of the reference app. */
const [app = 'cdk.out'] = process.argv.slice(2);
const isTerminal = process.stderr.isTTY;

async function main(): Promise<void> {
  const told = story();
  const { events, repositories } = told;
  // Without a handler, a signal would end this process without its `exit` handlers, which end the relay.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  print(
    '',
    'THE PROBLEM',
    '   A consumer of a Kinesis stream keeps a table of repositories and their commits. The table is',
    '   correct only if the events of each repository arrive in order: create, commit, commit, destroy.',
    '   But when a shard is too busy, Kinesis throttles some records of a request and stores the others.',
    '   A writer that sends the throttled records again changes their order.',
    '',
    `   This run writes the same ${events.length} events of ${repositories.length} repositories twice: without and with the library. Each time,`,
    `   the stream has 4 shards, and a shard accepts ${RECORDS_PER_SECOND} records a second (on AWS: 1,000). The app is`,
    '   bin/app.ts, on emulators of Kinesis, DynamoDB and Lambda.',
  );
  const server = hasPostgres ? PostgresServer.start().catch(() => undefined) : undefined;
  const runs: { plain?: ThrottledRun; ordered?: ThrottledRun } = {};
  const progress = showProgress(events.length, runs);
  const playPlain = async () => {
    const run = await startThrottledRun(app);
    runs.plain = run;
    const seconds = await secondsOf(writePlainly(run.stack.clients.kinesis, run.streamName, events));
    return { run, seconds, cache: await run.readCache(), late: told.lateIn(await run.readEvents()) };
  };
  const playOrdered = async () => {
    const run = await startThrottledRun(app);
    runs.ordered = run;
    const postgres = await server;
    const seconds = await secondsOf(
      postgres === undefined ? writeWithProducer(run, events) : writeThroughOutbox(run, postgres, events),
    );
    await postgres?.stop();
    const late = told.lateIn(await run.readEvents());
    return { run, seconds, cache: await run.readCache(), late, hasOutbox: postgres !== undefined };
  };
  const [plain, ordered] = await Promise.all([playPlain(), playOrdered()]);
  clearInterval(progress);

  print(
    '',
    'WITHOUT cdk-even-shards',
    '   Every 100 ms, the writer sends the new events with PutRecords. It sends the throttled records',
    '   of each request again, with exponential back-off and jitter. Meanwhile, it sends newer events.',
    ...describeRun(plain),
    '',
    'WITH cdk-even-shards',
    ...(ordered.hasOutbox
      ? [
          '   A transaction in Postgres stores each change of a repository together with its event. A relay',
          '   reads the events from this outbox, and the ordered producer sends them.',
        ]
      : [
          '   The ordered producer function sends the events. If the embedded Postgres is installed, the',
          '   events go through an outbox first. It is not installed here.',
        ]),
    '   The producer sends an event only when Kinesis has stored the previous event of its repository.',
    '   Meanwhile, it sends the events of other repositories.',
    ...describeRun(ordered),
  );
  printCaches(told, ordered.cache, plain.cache);
  if (ordered.late > 0) process.exitCode = 1;
  print(
    '',
    'THE LIBRARY ALSO SPREADS LOAD OVER SHARDS',
    '   The app also has a table of jobs with two indexes, byTime and byStatus. An ordinary index with a',
    '   time or a status as its key has one hot partition, which throttles the writes of the whole table.',
    '   The library divides an index into shards, and one query reads the items of all shards in order.',
    '   Kinesis takes the shard of a record from the MD5 hash of its partition key. So many keys, such as',
    '   the accounts of customers, can be on one shard. The registry of the library gives each account a',
    '   hash key, so that no shard has two accounts more than another shard.',
  );
  await runSample(ordered.run.stack, { input: [], print });
  print('', 'README.md shows the smallest app, and a table of the constructs.', '');
  await Promise.all([plain.run.stop(), ordered.run.stop()]);
}

/** Measures a run: the throttled records, the order of the events in the stream, and the time. */
function describeRun({ run, late, seconds }: { run: ThrottledRun; late: number; seconds: string }): string[] {
  return [
    `   Kinesis rejected a record ${counted(run.throttled(), 'time')}, retries included. All events were stored after ${seconds} seconds.`,
    `   In the stream, ${counted(late, 'event')} came late: after a newer event of the same repository.`,
  ];
}

async function secondsOf(work: Promise<void>): Promise<string> {
  const began = performance.now();
  await work;
  return ((performance.now() - began) / 1_000).toFixed(1);
}

function print(...lines: string[]): void {
  if (isTerminal) process.stderr.write('\r\x1b[K');
  console.log(lines.join('\n'));
}

/** Shows how many events both runs have stored. On a terminal, each line replaces the previous line. */
function showProgress(events: number, runs: { plain?: ThrottledRun; ordered?: ThrottledRun }): NodeJS.Timeout {
  const storedBy = (run: ThrottledRun | undefined) => `${run?.stored() ?? 0} of ${events} events`;
  const show = () => {
    const line = `writing: ${storedBy(runs.plain)} without the library, ${storedBy(runs.ordered)} with the library`;
    process.stderr.write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
  };
  return setInterval(show, isTerminal ? 500 : 5_000);
}

/** Prints both caches. The exit code is 1 if a repository is wrong although the library was used. */
function printCaches({ repositories, correct, faultOf }: Story, ordered: Cache, plain: Cache): void {
  const commitsIn = (cache: Cache, repository: string) => {
    const commits = cache.get(repository);
    return commits === undefined ? 'destroyed' : counted(commits.length, 'commit');
  };
  const stored = (cache: Cache, repository: string) => {
    const fault = faultOf(repository, cache.get(repository));
    return `${commitsIn(cache, repository)}${fault === undefined ? '' : `: WRONG, ${fault}`}`;
  };
  const wrongIn = (cache: Cache) =>
    repositories.filter((repository) => faultOf(repository, cache.get(repository)) !== undefined).length;
  const rows = repositories.map((repository) => [
    repository,
    commitsIn(correct, repository),
    stored(ordered, repository),
    stored(plain, repository),
  ]);
  print(
    '',
    'WHAT THE CONSUMER STORED, read back from its table by another process',
    ...textTable(['repository', 'correct', 'with cdk-even-shards', 'without'], rows).map((line) => ` ${line}`),
    '',
    '   A create event starts an empty list of commits. If it comes late, earlier commits are missing.',
    '   A commit that comes after the destroy event creates the repository again.',
    `   Without the library, ${wrongIn(plain)} of ${repositories.length} repositories are wrong. With the library, ${wrongIn(ordered)} of ${repositories.length} are wrong.`,
  );
  if (wrongIn(ordered) > 0) process.exitCode = 1;
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
