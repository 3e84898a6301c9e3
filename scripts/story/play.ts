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
const print = (...lines: string[]): void => console.log(lines.join('\n'));

async function main(): Promise<void> {
  const told = story();
  const { events, repositories } = told;
  const starting = hasPostgres ? PostgresServer.start().catch(() => undefined) : undefined;
  print(
    '',
    'THE PROBLEM',
    `   A Kinesis stream carries the events of ${repositories.length} repositories: create, commit and destroy. A consumer keeps a table of`,
    '   the existing repositories and their commits. The table is correct only if the events of each repository arrive in',
    '   order. But when Kinesis throttles one record of a request, it stores the other records. A writer that sends the',
    '   throttled record again changes the order.',
    '',
    `   This run writes ${events.length} events to a stream with 4 shards. Each shard accepts ${RECORDS_PER_SECOND} records a second here (on AWS: 1,000).`,
    '   The app is bin/app.ts, on emulators of Kinesis, DynamoDB and Lambda.',
    '',
    'WITHOUT cdk-even-shards',
  );
  const plain = await inThrottledRun(async (run) => {
    await writePlainly(run.stack.clients.kinesis, run.streamName, events);
    print(
      '   PutRecords writes the events. The throttled records go into a later PutRecords request.',
      `   Kinesis throttled ${counted(run.throttled(), 'record')}. Later records of the same repositories came before these records.`,
      '',
      'WITH cdk-even-shards',
    );
    return run.readCache();
  });

  await inThrottledRun(async (run) => {
    const server = await starting;
    if (server === undefined) {
      await writeWithProducer(run, events);
      print('   The ordered producer function writes the events.');
    } else {
      await writeThroughOutbox(run, server, events);
      await server.stop();
      print(
        '   Each change of a repository and its event are one transaction in Postgres. A relay reads the events from',
        '   this outbox, and the ordered producer writes them.',
      );
    }
    print(
      `   Kinesis throttled ${counted(run.throttled(), 'record')}. The producer sends an event only when Kinesis has stored the previous event of`,
      '   its repository. It does not wait with the events of other repositories.',
    );
    const ordered = await run.readCache();
    printCaches(told, ordered, plain);
    print(
      '',
      'THE LIBRARY ALSO SPREADS LOAD OVER SHARDS',
      '   Without it, the hash of Kinesis can place many busy keys on one shard. And an index with a status or a time as',
      '   its key has one hot partition, which throttles the writes of the whole table.',
    );
    await runSample(run.stack, { input: [], print });
    print('');
  });
}

async function inThrottledRun<T>(use: (run: ThrottledRun) => Promise<T>): Promise<T> {
  const run = await startThrottledRun(app);
  try {
    return await use(run);
  } finally {
    await run.stop();
  }
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
    `   Without the library, ${wrongIn(plain)} of ${repositories.length} repositories are wrong. With the library, ${wrongIn(ordered)} of ${repositories.length} are wrong.`,
  );
  if (wrongIn(ordered) > 0) process.exitCode = 1;
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
