import {
  EARLIER_COUNTS_EXPIRE_AFTER_MS,
  MAX_COUNT_AGE_MS,
  REFRESH_AFTER_MS,
} from '../../../../lib/core/adaptive-counts/count-age';
import { TARGET_UTILISATION } from '../../../../lib/core/adaptive-counts/next-shard-count';
import {
  CONSUMER_METRICS,
  PRODUCER_METRICS,
  QUERY_METRICS,
  STREAM_SHARD_METRICS,
} from '../../../../lib/core/contract/function-metrics';
import { LARGEST_RECORD_OF_EVENT_KIB, MAX_EVENT_BYTES } from '../../../../lib/core/contract/kinesis-event';
import { RESERVED_MS } from '../../../../lib/core/contract/reserved-time';
import { suffixRange } from '../../../../lib/core/planning';
import { LIST_PRICES } from '../../../../lib/core/planning/list-prices';
import { SHARD_LIMITS } from '../../../../lib/core/planning/plan-stream';
import { PARTITION_READ_UNITS, PARTITION_WRITE_UNITS } from '../../../../lib/core/planning/suffix-range';
import { MAX_RECORD_LIMIT_BYTES } from '../../../../lib/core/producer/producer-record';
import { SCALE_OUT_PAUSE_MS } from '../../../../lib/core/resharding/scaling-policy';
import { MAX_SKEW, SCALE_IN_FRACTION, SURGE_FRACTION } from '../../../../lib/core/resharding/thresholds';
import { devDependencies, engines, peerDependencies } from '../../../../package.json';
import { declared } from './declared';

/** For each guide, the sentences that contain figures. The figures are computed from the constants of the library. */

const n = (number: number) => number.toLocaleString('en-US');
const percent = (share: number) => `${n(Number((100 * share).toFixed(1)))} %`;
const seconds = (ms: number) => ms / 1_000;
const minutes = (ms: number) => ms / 60_000;

const core = (file: string, name: string) => declared(`lib/core/${file}.ts`, name);
const lambda = (file: string, name: string) => declared(`lambda/${file}.ts`, name);
const construct = (file: string, name: string) => declared(`lib/${file}.ts`, name);

/** The cost in cents of a function that runs every minute for 30 days. Source: the price list of Lambda on arm64. */
function centsOfAMonth({ memoryGib, runSeconds }: { memoryGib: number; runSeconds: number }): number {
  return 30 * 1_440 * 100 * (0.2e-6 + memoryGib * runSeconds * 0.0000133334);
}

/**
 * How many minutes writes are throttled after a sudden load that needs this number of doublings. An update of the shard
 * count takes five minutes.
 */
const throttledMinutes = (doublings: number, metricsLate: number) =>
  3 + metricsLate + 5 + (doublings - 1) * minutes(SCALE_OUT_PAUSE_MS);

const READ_TOGETHER = n(core('adaptive-counts/adaptive-index', 'MAX_READ_TOGETHER'));

/**
 * The read units that a process consumes in a day to read the counts of this number of values. A read of twenty values
 * consumes one read unit.
 */
const dailyUnits = (values: number) => (values / 20) * (86_400_000 / REFRESH_AFTER_MS);
const dollars = (units: number, digits = 2) => ((units / 1e6) * LIST_PRICES.millionReadUnits).toFixed(digits);

export const HELD: Readonly<Record<string, readonly string[]>> = {
  'adaptive-counts.md': [
    `one query every ${seconds(REFRESH_AFTER_MS)} seconds in each busy process`,
    `about ${Math.round(centsOfAMonth({ memoryGib: construct('table/adaptive/adaptive-shard-count-controller', 'memorySize') / 1_024, runSeconds: 0.15 }))} cents a month for ${n(Math.floor((30 * 1_440) / 1_000) * 1_000)} invocations of 0.15 s`,
    `With more than ${READ_TOGETHER} grown values, a process reads only`,
    `each count at most every ${seconds(REFRESH_AFTER_MS)} seconds, and keeps the counts of ${n(core('adaptive-counts/adaptive-index', 'MAX_CACHED_VALUES'))} values`,
    `read the counts of all values, ${READ_TOGETHER} with each request`,
    `within the ${seconds(MAX_COUNT_AGE_MS)} seconds for which the earlier copy is valid`,
    `| ${READ_TOGETHER} | ${n(dailyUnits(1_000))} read units, $${dollars(dailyUnits(1_000))} |`,
    `| ${n(100_000)} | ${n(dailyUnits(1) * 20)} read units for each value that the process always uses, $${dollars(dailyUnits(20), 3)} | ${Math.round(dailyUnits(100_000) / 1e6)} million read units, $${dollars(dailyUnits(100_000))} |`,
    `at a utilization of ${percent(TARGET_UTILISATION)};`,
    `at most ${percent(TARGET_UTILISATION)} of one shard keeps one`,
    `One step takes ${seconds(EARLIER_COUNTS_EXPIRE_AFTER_MS)} seconds`,
    `the ${core('adaptive-counts/write-reporter', 'MAX_REPORTS')} values that were throttled most`,
    `An increase takes ${seconds(EARLIER_COUNTS_EXPIRE_AFTER_MS)} seconds: first`,
    `waits until no writer uses the earlier count: ${seconds(EARLIER_COUNTS_EXPIRE_AFTER_MS)} seconds`,
    `\`decreaseShardCount\` waits ${core('sharding/longest-write', 'LONGEST_INVOCATION_SECONDS') / 60} minutes`,
    `A copy of the counts is valid for ${seconds(MAX_COUNT_AGE_MS)} seconds, and a process reads a new copy after ${seconds(REFRESH_AFTER_MS)} seconds`,
    `So an outage of up to ${seconds(MAX_COUNT_AGE_MS - REFRESH_AFTER_MS)} seconds has no effect`,
    `Do not use counts that are older than ${seconds(MAX_COUNT_AGE_MS)} seconds`,
    `fail if its counts are ${seconds(MAX_COUNT_AGE_MS)} seconds old`,
  ],
  'consuming.md': [
    `Kinesis accepts records of up to ${MAX_RECORD_LIMIT_BYTES / 1_024 ** 2} MiB.`,
    `An event of Lambda has at most ${MAX_EVENT_BYTES / 1_024 ** 2} MiB`,
    `more than about ${(LARGEST_RECORD_OF_EVENT_KIB / 1_024).toFixed(1)} MiB**`,
    `of at most ${n(LARGEST_RECORD_OF_EVENT_KIB)} KiB fits`,
    `remembers a key for at least ${core('consumer/dynamodb-parking-store', 'DEFAULT_REMEMBER_DAYS')} days`,
    `one transaction** of at most ${core('consumer/once', 'MAX_ITEMS')} items of yours`,
    `error of the handler unchanged, up to ${core('consumer/parked-key-changes', 'MAX_ERROR_CHARACTERS')} characters`,
    `an item for each ${core('consumer/parked-segment', 'SEGMENT_BYTES') / 1_000} KB of its records`,
  ],
  'fan-out-query.md': [
    `by blocks of ${core('fan-out/read-size', 'BLOCK_BYTES') / 1_024} KB`,
    `up to ${core('fan-out/page-request', 'MAX_QUERY_VALUES')} values in one order`,
    `fewer than ${n(core('sharded-index/query/fan-out-items', 'RECENT_KEYS'))} other items`,
    `The default of both is ${core('fan-out/read-policy', 'DEFAULT_CONCURRENCY')}.`,
    `begin at ${n(core('sharding/shard-count', 'MAX_INDEX_SHARDS'))} for the second value`,
  ],
  'functions.md': [
    `up to ${n(lambda('producer/index', 'MAX_RECORDS_PER_EVENT'))} records`,
    `a round trip of 20 ms, an invocation sends up to ${n((construct('stream/producer/ordered-producer-function', 'timeout') * 60_000 - RESERVED_MS.producer) / 20)} records of one key`,
    `one [aggregate] of up to ${core('producer/producer-options', 'DEFAULT_MAX_AGGREGATE_BYTES') / 1_024} KiB`,
    `batch size of up to ${n(construct('stream/producer/table-stream-source', 'MAX_BATCH_SIZE'))}`,
    `an array of up to ${core('fan-out/page-request', 'MAX_QUERY_VALUES')} values`,
    `up to ${lambda('query-fanout/index', 'MAX_SOCKETS')} shards in parallel`,
    `up to ${percent(lambda('query-fanout/index', 'HEDGE_BUDGET'))} of its requests`,
    `or at ${lambda('query-fanout/index', 'MAX_PAGE_BYTES') / 1_000_000} MB, the largest response that Lambda allows`,
  ],
  'hash-keys.md': [
    `up to ${n(lambda('hash-key-registry/registry-event', 'MAX_OWNERS'))} owners`,
    `up to ${core('registry/hash-key-ledger', 'DEFAULT_MAX_ENTRIES')} owners in each commit`,
  ],
  'index-keeper.md': [
    `more than ${core('sharded-index/keeper/correction-allowance', 'CORRECTIONS_AT_ONCE')} corrections at once`,
    'more than one every ten seconds afterwards',
    'after a minute, and then less and less often, up to once an hour',
  ],
  'keyspaces.md': [
    `takes ${n(PARTITION_WRITE_UNITS)} write units and ${n(PARTITION_READ_UNITS)} read units a second`,
    `TLS on port ${lambda('keyspaces-query-fanout/keyspaces-client', 'PORT')}`,
    `has more than ${n(core('keyspaces/cql-key-type', 'MAX_ZEROS'))} zeros`,
    `reads 1 to ${core('fan-out/page-request', 'MAX_QUERY_VALUES')} values in one order`,
    `begin at ${n(core('sharding/shard-count', 'MAX_INDEX_SHARDS'))} for the second value`,
  ],
  'limits.md': [
    `${n(100_000 / 20)} read units if ${n(100_000)} counts were increased`,
    `as possible in ${minutes(lambda('stream-resharder/index', 'GIVE_UP_AFTER_MS'))} minutes`,
  ],
  'monitoring.md': [
    `more than ${MAX_SKEW} times as many hash keys as the mean`,
    `above ${construct('monitoring/dax-monitoring', 'maxCpuUtilizationPercent')} % for 15 minutes`,
    `more than ${construct('monitoring/dax-monitoring', 'NEARLY_FULL_PERCENT')} % of its memory`,
    `hide up to ${n(construct('monitoring/query-monitoring', 'MIN_HIDDEN_ITEMS'))} items raises no alarm`,
    // Source: the DynamoDB developer guide, "CloudWatch contributor insights: How it works": three consumed units of a write unit.
    `near ${n(3 * 60 * PARTITION_WRITE_UNITS)} a minute`,
    `the limit of a shard, ${SHARD_LIMITS.bytesWritten / 1e6} MB and ${n(SHARD_LIMITS.recordsWritten)} records a second. For a data point of one minute, this is ${(60 * SHARD_LIMITS.bytesWritten) / 1e6} MB and ${n(60 * SHARD_LIMITS.recordsWritten)} records`,
    `up to ${Object.keys(PRODUCER_METRICS).length - 1} metrics of a producer and one for each failure reason, ${Object.keys(QUERY_METRICS).length} metrics of a query function, ${[STREAM_SHARD_METRICS.openShards, STREAM_SHARD_METRICS.skew, STREAM_SHARD_METRICS.drift].length} of a reconciliation, and ${Object.keys(CONSUMER_METRICS).length} of an ordered consumer`,
    `for batches of ${core('consumer/ordered-consumer', 'LONG_BATCH_MS')} ms and more`,
    `tried ${core('consumer/consumer-options', 'maxTries')} times`,
    `$${500 * 3 * 0.3} a month for 500 shards`,
    `Each shard takes ${n(PARTITION_READ_UNITS)} units`,
  ],
  'second-day.md': [
    `or of up to ${declared('bin/doctor/index.ts', 'MAX_HOURS')} (`,
    `use \`--hours ${declared('bin/doctor/index.ts', 'MAX_HOURS')}\``,
  ],
  'ordered-producer.md': [
    `\`requestTimeoutMs\` (${seconds(core('producer/producer-options', 'requestTimeoutMs'))} seconds)`,
    `than ${seconds(core('producer/producer-options', 'requestTimeoutMs'))} seconds`,
    `until ${n(core('producer/put-all', 'MAX_REJECTED_KEYS'))} other keys`,
    `last sequence number of ${n(core('producer/put-transport', 'MAX_REMEMBERED_KEYS'))} idle keys`,
    `records above ${core('producer/producer-record', 'DEFAULT_MAX_RECORD_BYTES') / 2 ** 20} MiB`,
    `A record above ${core('producer/producer-record', 'DEFAULT_MAX_RECORD_BYTES') / 2 ** 20} MiB waits until`,
    `the default of ${n(core('producer/producer-options', 'maxBufferedRecords'))} records`,
    `payload units of ${core('planning/plan-stream', 'PUT_PAYLOAD_UNIT_BYTES') / 1_024} KiB`,
    `up to ${core('producer/shard-turns', 'MAX_REQUEST_RECORDS')} Kinesis records and ${core('producer/shard-turns', 'MAX_REQUEST_BYTES') / 2 ** 20} MiB`,
    `With 500 keys and a round trip of 20 ms, the producer sends at most ${n(500 / 0.02)} records a second`,
  ],
  'outbox.md': [
    `A worker remembers ${n(core('outbox/relay-options', 'MAX_PARKED_KEYS'))} parked keys at most`,
    `An invocation runs for ${construct('outbox/outbox-relay-function', 'timeout')} minutes`,
    `A statement may take ${seconds(core('outbox/relay-options', 'statementTimeoutMs'))} seconds`,
    `the relay waits for ${seconds(core('outbox/outbox-relay', 'LAST_STATEMENT_MS'))} seconds at most`,
    `from its default of ${n(core('producer/producer-options', 'DEFAULT_MAX_AGGREGATE_BYTES'))} bytes`,
  ],
  'planning.md': [
    `| records a second / ${n(SHARD_LIMITS.recordsWritten)} |`,
    `| bytes a second / ${n(SHARD_LIMITS.bytesWritten)} |`,
    `bytes a second × consumers / ${n(SHARD_LIMITS.bytesRead)};`,
    `A partition takes ${n(PARTITION_WRITE_UNITS)} write units a second`,
    `overloaded if it gets more than ${PARTITION_WRITE_UNITS} N / w times`,
    `the probability of an overloaded partition is below ${percent(core('planning/plan-index', 'probability'))}`,
    `up to ${n(core('planning/overload-probability', 'MAX_PLANNED_SHARDS'))} shards and ${n(core('planning/overload-probability', 'MAX_PLANNED_PARTITIONS'))} partitions`,
    `Generated keys have ${n(declared('bin/simulate/generated-keys.ts', 'MIN_RECORDS'))} to ${n(declared('bin/simulate/generated-keys.ts', 'MAX_RECORDS'))} records`,
  ],
  'resharding.md': [
    `ten updates in any 24 hours`,
    `takes longer than ${minutes(lambda('stream-resharder/index', 'GIVE_UP_AFTER_MS'))} minutes`,
    `if at most ${core('resharding/reshard-stream', 'MAX_MOVES_INSTEAD_OF_UPDATES')} are enough`,
    `skew*] is at most ${MAX_SKEW}: the widest shard has at most ${MAX_SKEW} times`,
    `bytes / ${SHARD_LIMITS.bytesWritten / 1e6} MB, and records / ${n(SHARD_LIMITS.recordsWritten)}`,
    `above the target plus ${percent(SURGE_FRACTION)} of the remaining capacity (${percent(0.7 + SURGE_FRACTION * 0.3)} for a target of 70 %)`,
    `below ${percent(SCALE_IN_FRACTION)} of the target for half an hour`,
    `at most ${percent(2 * SCALE_IN_FRACTION)} of the target`,
    `for up to ${throttledMinutes(1, 0)} minutes if one doubling is enough, and for up to ${throttledMinutes(2, 0)} minutes if it needs two. Late metrics can add ${['', '', '', 'three'][throttledMinutes(1, 3) - throttledMinutes(1, 0)]} minutes`,
  ],
  'running-locally.md': [
    `An event has at most ${MAX_EVENT_BYTES / 1_024 ** 2} MiB`,
    `| ${n(SHARD_LIMITS.recordsWritten)} records and ${SHARD_LIMITS.bytesWritten / 1e6} MB |`,
    `| ${SHARD_LIMITS.reads} reads and ${SHARD_LIMITS.bytesRead / 1e6} MB |`,
    `| ${n(PARTITION_WRITE_UNITS)} write units, ${n(PARTITION_READ_UNITS)} read units |`,
  ],
  'key-sharded-tables.md': [
    `take ${n(PARTITION_WRITE_UNITS * suffixRange({ writesPerSecond: 5_000, itemKb: 1 }))} writes of 1 KB a second`,
    `more than ${core('sharded-index/strays/item-transfer', 'MAX_COMPARED')} non-key attributes`,
  ],
  'sharded-tables.md': [
    `A partition takes ${n(PARTITION_WRITE_UNITS)} write units a second`,
    `takes ${n(PARTITION_READ_UNITS)} read units a second`,
    `which is ${declared('lib/table/dax-cluster.ts', 'timeToLive')} minutes unless you set it`,
  ],
  'testing.md': [
    `takes ${n(declared('lib/testing/hot-partition-table.ts', 'WRITE_UNITS_PER_SECOND'))} write units a second`,
  ],
  'versions.md': [
    `Node.js 20 from ${engines.node.slice(1, 6)}, Node.js ${engines.node.split('>=')[1]} and newer, \`aws-cdk-lib\` ${peerDependencies['aws-cdk-lib'].slice(1)} and newer, and \`constructs\` ${peerDependencies.constructs.slice(1)} and newer`,
    `The tests run with ${devDependencies['aws-cdk-lib']} (January 2026) and ${devDependencies['aws-cdk-lib-newest'].split('@')[1]}`,
  ],
  'threat-model.md': [
    `the ${core('registry/hash-key-ledger', 'DEFAULT_MAX_ENTRIES')} owners that were changed most recently`,
    `up to ${core('kernel/errors', 'MAX_DESCRIPTION_LENGTH')} characters of a wrong value`,
  ],
};
