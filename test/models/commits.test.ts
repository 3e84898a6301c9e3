import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type LocalStack, startLocal } from '../../bin/local/run-local';
import { runSample } from '../../bin/local/sample';
import { writeItems } from '../../bin/local/write-items';
import { type DynamoDbItem, fanOutQuery } from '../../lib/core';
import { describeWhere } from '../support/describe-where';
import { indexConfig, QUERY, readStream, synthesizeReferenceApp } from '../support/reference-app';

/** The commits of 43 public repositories, skewed as real data is: it lies beside the checkout, and not in it. */

const FILE = 'shared/data/commits.ndjson.gz';
const path = join(__dirname, '../../..', FILE);

interface Commit {
  repository: string;
  commit: string;
  committedAt: string;
  kind: string;
}

/** What the reference app can be told of this data: a shard for every thousand commits of a kind, and one for the rest. */
const KIND_SHARDS: Record<string, number> = { other: 17, chore: 13, merge: 4, fix: 2, feat: 2 };

const MINUTES = 60_000;

describeWhere(existsSync(path), `../${FILE} beside this checkout`)('the commits of 43 repositories', () => {
  let commits: Commit[];
  let directory: string;
  let app: string;
  let stack: LocalStack;

  beforeAll(() => {
    const text = gunzipSync(readFileSync(path)).toString();
    commits = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    directory = mkdtempSync(join(tmpdir(), 'commits-'));
    app = synthesizeReferenceApp({ byStatusShardCounts: KIND_SHARDS });
  });

  beforeEach(async () => {
    stack = await startLocal({ app });
  }, MINUTES);

  afterEach(() => stack?.stop());

  afterAll(() => {
    for (const each of [directory, app]) if (each !== undefined) rmSync(each, { recursive: true, force: true });
  });

  test(
    'the first 30 of each run through the sample, and it prints what came of them',
    async () => {
      const events = [...groupBy(commits, ({ repository }) => repository).values()].flatMap((all) => all.slice(0, 30));
      const input = join(directory, 'commits.ndjson');
      writeFileSync(input, events.map((event) => JSON.stringify(event)).join('\n'));
      const printed: string[] = [];
      await runSample(stack, {
        input: [input],
        partitionKey: 'repository',
        id: 'commit',
        value: 'kind',
        sort: 'committedAt',
        print: (line) => printed.push(line),
      });

      const times = events.map(({ committedAt }) => committedAt).sort();
      const [from, to] = [times[Math.floor(times.length / 4)]!, times[Math.floor((times.length * 3) / 4)]!];
      const inRange = ({ committedAt }: Commit) => committedAt >= from && committedAt <= to;
      expect(cells(printed)).toEqual([
        [
          expect.stringMatching(
            /^1225 events of 43 partition keys through EvenShards\/Producer\/Function in [\d.]+ s$/,
          ),
        ],
        ['every event is in the stream once, those of each partition key in the order of the input'],
        ['shard', 'events', 'partition keys'],
        ...(await rowsByShard(stack, events)),
        [
          `1225 items in ${stack.tables.find(({ path }) => path.startsWith('EvenShards/Jobs'))!.name}, queried through ${QUERY} from ${from} to ${to}`,
        ],
        ['every answer is what filtering and sorting the input gives'],
        ['status', 'items', 'shards'],
        ...[...groupBy(events, ({ kind }) => kind)].map(([kind, ofKind]) => [
          kind,
          String(ofKind.filter(inRange).length),
          String(KIND_SHARDS[kind] ?? 1),
        ]),
      ]);

      const landed = await readStream(stack);
      expect(landed).toHaveLength(events.length);
      const landedByKey = groupBy(landed, ({ partitionKey }) => partitionKey);
      for (const [repository, sent] of groupBy(events, (event) => event.repository)) {
        expect(landedByKey.get(repository)?.map(({ data }) => JSON.parse(data.toString()))).toEqual(sent);
      }
    },
    MINUTES,
  );

  test(
    'all 37,584 come back from the table, kind by kind and as a whole, as a plain sort has them',
    async () => {
      const byStatus = indexConfig(stack, 'byStatus');
      const items = commits.map(({ commit, kind, committedAt }) => ({
        jobId: commit,
        status: kind,
        createdAt: committedAt,
      }));
      await writeItems(stack, byStatus.tableName, items);

      for (const [kind, ofKind] of groupBy(commits, (commit) => commit.kind)) {
        const read: DynamoDbItem[] = [];
        let cursor: string | undefined;
        do {
          const request = { value: kind, order: 'descending', limit: 2_000, cursor } as const;
          const page = await fanOutQuery(stack.clients.dynamodb, byStatus, request);
          read.push(...page.items);
          cursor = page.cursor;
        } while (cursor !== undefined);
        const answer = read.map(({ jobId, createdAt }) => ({
          commit: (jobId as { S: string }).S,
          committedAt: (createdAt as { S: string }).S,
        }));
        expectSorted(answer.reverse(), ofKind);
      }

      const whole: { jobId: string; createdAt: string }[] = [];
      let cursor: string | undefined;
      do {
        const page = (await stack.invoke(QUERY, { index: 'byTime', cursor })) as {
          items: typeof whole;
          cursor?: string;
        };
        whole.push(...page.items);
        cursor = page.cursor;
      } while (cursor !== undefined);
      const answer = whole.map(({ jobId, createdAt }) => ({ commit: jobId, committedAt: createdAt }));
      expectSorted(answer, commits);
    },
    5 * MINUTES,
  );
});

/** Commits of one instant may stand in any order among themselves. */
function expectSorted(
  answer: readonly Pick<Commit, 'commit' | 'committedAt'>[],
  commits: readonly Pick<Commit, 'commit' | 'committedAt'>[],
): void {
  const times = (all: typeof answer) => all.map(({ committedAt }) => committedAt);
  const identities = (all: typeof answer) => all.map(({ commit, committedAt }) => `${commit} ${committedAt}`);
  expect(times(answer)).toEqual(times(commits).sort());
  expect(identities(answer).sort()).toEqual(identities(commits).sort());
}

/** The events of each shard, as MD5 and the service's own list of shards have it. */
async function rowsByShard({ clients, streams }: LocalStack, events: readonly Commit[]): Promise<string[][]> {
  const { Shards = [] } = await clients.kinesis.listShards({ StreamName: streams[0]!.name });
  const range = (key: 'StartingHashKey' | 'EndingHashKey', shard: (typeof Shards)[number]) =>
    BigInt(shard.HashKeyRange![key]!);
  return [...Shards]
    .sort((a, b) => (range('StartingHashKey', a) < range('StartingHashKey', b) ? -1 : 1))
    .map((shard) => {
      const here = events.filter(({ repository }) => {
        const hash = BigInt(`0x${createHash('md5').update(repository).digest('hex')}`);
        return range('StartingHashKey', shard) <= hash && hash <= range('EndingHashKey', shard);
      });
      const repositories = new Set(here.map(({ repository }) => repository));
      return [shard.ShardId!, String(here.length), String(repositories.size)];
    });
}

/** What was printed as cells, without progress, rules and empty lines. */
function cells(lines: readonly string[]): string[][] {
  return lines
    .filter((line) => line !== '' && !/^(sent|wrote) \d+ of|^[\s-]*$/.test(line))
    .map((line) => line.trim().split(/ {2,}/));
}

function groupBy<T>(all: readonly T[], keyOf: (each: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const each of all) {
    const group = groups.get(keyOf(each));
    if (group === undefined) groups.set(keyOf(each), [each]);
    else group.push(each);
  }
  return groups;
}
