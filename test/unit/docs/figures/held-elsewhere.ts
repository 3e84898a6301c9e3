/**
 * The figures of the guides that `held.ts` does not compute, by why it does not: another test holds them, the command that the guide
 * names beside them measures or defines them, AWS or another author says them, or they are those of an example.
 */
interface Elsewhere {
  byTest?: readonly string[];
  byCommand?: readonly string[];
  byOthers?: readonly string[];
  ofExamples?: readonly string[];
}

/** What has a digit and counts nothing. */
export const NAMES: readonly string[] = [
  'MD5',
  'base64',
  'us-east-1',
  'HTTP/1.1',
  'HTTP/2',
  'UTF-8',
  'UTF-16',
  'boto3',
  'p99',
  'p95',
  'p50',
];

export const HELD_ELSEWHERE: Readonly<Record<string, Elsewhere>> = {
  'README.md': { byOthers: ['more than 1,000 write units a second', '1,000 records or 1 MB a second'] },
  'adaptive-counts.md': {
    byCommand: ['a step to 8,000 writes a second', 'On 16 partitions', 'tested up to 100,000 values'],
    byOthers: ['show 64 % of hot partitions', '$0.03 for a million writes', 'more than 1 KB', 'at most 80 characters'],
    ofExamples: ['the readers ask 8 shards', 'Decision 0039', 'Decision 0039', 'devops-agent#94'],
  },
  'consuming.md': {
    byTest: ['After 150,000 keys', 'a text of 43 ASCII characters'],
    byCommand: ['about 160 bytes of memory', '183 bytes as JSON'],
  },
  'fan-out-query.md': {
    byTest: [
      'for some page of 100 items from 100 shards',
      'must read 3 times the floor',
      'Usual keys take 10 to 20 MB',
      'plays other cases, 300 of them',
      'of 400 items of 8 kB in 20 shards, 24.6 times with the least, 12.1 times with 1.5 times the least, 4.4 times with 2 times the least, 1.7 times with 4 times the least, and 1.2 times with 8 times the least',
    ],
    byCommand: ['by 30 to 70 ms'],
    byOthers: ['service pages of up to 1 MB'],
  },
  'functions.md': { ofExamples: ['far above 2 has one of two causes'] },
  'hash-keys.md': {
    byTest: [
      'no shard has more than ceil(m/2k)',
      'at most 2 - 1/k times',
      'at most 4/3 - 1/(3k) times',
      'm = 1 to 1,000',
      'in 62,413 of them',
      'in 38,205,',
    ],
    byCommand: [
      'integers of 128 bits',
      'runs 64 allocators',
      'each of 2,000 owners, and 2 % of the writes',
      'a request to the table takes 5 ms',
      '"lost answers", 5 % of the commits',
      'two environments make 53 commits a second, 32 make 72',
    ],
  },
  'index-resharding.md': {
    byOthers: ['It is at most 15 minutes on Lambda, and 90 minutes on Lambda Managed Instances'],
    ofExamples: ['costs as much as with 20 shards'],
  },
  'keyspaces.md': {
    ofExamples: ['"10.50"', '"5E2"'],
    byTest: [
      'modulo 200',
      'every one of 100,000 UUIDs into one shard of 200',
      'before the year 0',
      'of another year than 0 to 9999',
      'days or milliseconds since 1970',
      'on port 9142, with private DNS',
      'with 150,000 digits',
    ],
    byCommand: ['Apache Cassandra 5', 'version 17', '(2,600 with'],
  },
  'limits.md': {
    byTest: ['as of November 2026'],
    byOthers: ['1,000 records or 1 MB a second', 'ten times in 24 hours'],
  },
  'second-day.md': { byOthers: ['a read unit for each 8 KB'] },
  'monitoring.md': {
    byTest: ['$0.10 a month', '$0.30 for each metric', '$3 for a dashboard', '$0.30 a month', '$0.50 for each GB'],
    byOthers: [
      'more than 1 MB or 1,000 records a second',
      '2 MB and five requests a second',
      'in 24 hours',
      'more than 1,000 write units a second',
      'more than 3,000 read units a second',
      'At 100 % [DAX',
      'has them, 24 hours',
      '1,769 MB',
      'draws at most 500 lines',
      'as of 2025',
    ],
    ofExamples: ['such as 121212-3', 'It is near 1', 'well above 1', 'At 1 the', 'At 2, half', 'More than 1 means'],
  },
  'ordered-producer.md': {
    byTest: [
      'carried 343,000 records a second',
      '100,000 kept up 448,000',
      '76 % of the bytes',
      '66 % with a linger of 5 ms',
      'The goals were 90 % of unordered and 95 % of the shards',
      'miss 95 % of the shards',
      'held 26 seconds',
      'nine tenths and more up to 3 %, and a third at 5 %',
      'five of them have 4 to 5 % of their entries rejected',
      'within 15 seconds',
      'takes 60 ms at most',
    ],
    byCommand: [
      'On 64 shards at 20 ms',
      '64 shards with the limits of the service, 10,000 uniform keys, records of 100 bytes, a round trip of 20 ms',
      'what 10,000 records a second cost',
      'a buffer of 100,000 records',
      'twice the records that it takes. "5.0 %" is',
      'a tenth at 1 %',
      'where it was 1 %',
      'records of 100 bytes with their key, a round trip of 20 ms',
      'many keys, 64 shards, and records of 100 bytes',
      'a batcher of 500 records',
      '10,000 uniform keys share a buffer of 10,000 records',
      '500 uniform keys at 20 ms',
      'the same keys at 5 ms',
      'With 20,000 keys',
      'with 100 keys',
      '100,000 records of 93 bytes and 5,000 keys',
      'batches of 500 records by the client',
      'held 64.0 MiB',
      'was 38.8 MiB',
      '621 bytes for each buffered record, of which 256',
      'aiokpl 0.2.0',
    ],
    ofExamples: ['In case 4', 'and 1 / (share', 'Decision [0009', '[0015', '[0061'],
  },
  'other-languages.md': {
    byTest: ['of rule 4', 'of rule 5', 'from 10^21 on', 'below 10^-6', 'from 0 to count - 1', 'the first 8 bytes'],
    byOthers: ['Veach, 2014'],
    ofExamples: ['1000, 0.5, -7'],
  },
  'outbox.md': {
    byTest: [
      'goes 433 times as fast',
      'relayed 128,822 rows a second',
      'two relayed 1.6 times as many rows as one',
      'It was tested on 18',
      'CloudEvents 1.0',
      '700,000 if it is bytes',
      'classes 0A, 22, 23, 25, 26, 28, 3D, 3F, 42, 54, 55 of SQLSTATE',
    ],
    byCommand: [
      'Rows a second, of 100 bytes',
      'at 20 ms',
      'at a round trip of 20 ms',
      'ith 10,000 keys',
      'puts 10,000 rows at once',
      'With 1,000,000 keys it reads 1,000,000 rows',
      'Rows of 10 kB',
    ],
    byOthers: [
      'Postgres 14',
      '(list prices of 2026, ARM, 730 hours)',
      'a minimum capacity of 0 ACU',
      'capacity of 0.5 ACU, 365 ACU hours a month',
      'takes about 15 seconds',
    ],
  },
  'peers.md': {
    byCommand: [
      'takes 10 to 30 ms by chance',
      'puts records of 100 bytes with 1,000 keys',
      'four batches of 500 at once',
      '128 shards, more than any peer needs',
      '40,000 records, medians of three rounds',
      'fails 1 % of the entries',
      '20,000 records, one round',
      'throttle 1 % of the entries',
    ],
    byOthers: ['takes 1,000 records and 1 MB a second'],
    ofExamples: ['of 1,000 records, how many a consumer reads', 'of 1,000 records, how many no consumer reads'],
  },
  'planning.md': {
    byTest: ['37,584 commits of 43 repositories', 'is below 1e-11', 'more than 1.5 times its share stays below 5 %'],
    byCommand: [
      'takes 1 ms for 100 partitions at 5 %',
      'takes 0.1 s at 90 %',
      '1,000,000 keys on 64 shards',
      'takes 15 to 30 s of processor time',
    ],
    byOthers: ['In November 2026'],
    ofExamples: ['instead of 100 %', 'is 30 % of the peak'],
  },
  'resharding.md': {
    byTest: [
      'still declares 4',
      'to 8, 16, and 32 shards',
      'CloudFormation: 4 shards',
      'deployment to 32',
      'pairs of counts from 1 to 64',
      'at the target of 70 %',
    ],
    byCommand: ['records of 1 KB'],
    byOthers: ['in 24 hours', 'the last 24 hours'],
  },
  'running-locally.md': { ofExamples: ['alone, it is 1'] },
  'sharded-tables.md': {
    byCommand: ['after 4 ms', 'medians on Node.js 20', '(17 or newer)'],
    ofExamples: ['if writers use 20 shards and readers ask 40'],
  },
  'versions.md': {
    byOthers: ['Node.js 22 from January 2027', 'on Node.js 20;', 'read in November 2026'],
    byCommand: ['on 20.16.0'],
    ofExamples: ['Before 1.0.0', 'From 1.0.0 on'],
  },
};
