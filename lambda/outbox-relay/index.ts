import { MetricUnit } from '@aws-lambda-powertools/metrics';
import { Pool } from 'pg';
import {
  AGGREGATION,
  CLOUD_EVENTS,
  DATABASE_HOST,
  DATABASE_NAME,
  DATABASE_PORT,
  HASH_BUCKETS,
  MAX_RECORD_BYTES,
  MAX_TRIES,
  OUTBOX_SCHEMA,
  STREAM_NAME,
  STREAMS,
  type StreamOfTopic,
} from '../../lib/core/contract/function-environment';
import { OUTBOX_METRICS } from '../../lib/core/contract/function-metrics';
import { callWithin } from '../../lib/core/kernel/call-within';
import { failsEveryRun } from '../../lib/core/outbox/lasting-errors';
import { OutboxRelay } from '../../lib/core/outbox/outbox-relay';
import type { RelaySummary } from '../../lib/core/outbox/relay-summary';
import { OrderedProducer } from '../../lib/core/producer/ordered-producer';
import { DEFAULT_MAX_RECORD_BYTES } from '../../lib/core/producer/producer-record';
import { functionMetrics } from '../embedded-metrics';
import { type TimedInvocation, timeLeft } from '../in-time';
import { loggable, loggableMessage } from '../loggable';
import { putClient } from '../put-client';
import { requiredEnvironment } from '../required-environment';
import { credentials } from './credentials';
import { firstConnection } from './first-connection';
import { OutboxReport } from './outbox-report';

/**
 * The relay stops reading rows this long before the end of the invocation, so that rows in flight can finish and
 * progress can be saved.
 */
const LAST_READ_MS = 10_000;

/** The producers stop sending requests this long before the end of the invocation. */
const LAST_SEND_MS = 6_000;

/**
 * Every request to Kinesis ends at least this long before the end of the invocation. A stopping relay then needs at
 * most 3 seconds for its last statement.
 */
const LAST_ANSWER_MS = 5_000;

/** The query of the last report ends at least this long before the end of the invocation. */
const LAST_REPORT_MS = 1_000;

/**
 * The relay stops waiting for its database connections to close this long before the end of the invocation. Lambda
 * closes connections that are still open then.
 */
const LAST_MS = 500;

/** The timeout of a request to Kinesis, including its response. The producer then sends the request again. */
const REQUEST_TIMEOUT_MS = 6_000;

/** The timeout of a statement. After this time, the relay treats the connection as lost. */
const STATEMENT_TIMEOUT_MS = 30_000;

const schema = process.env[OUTBOX_SCHEMA];
const maxTries = process.env[MAX_TRIES] === undefined ? undefined : Number(process.env[MAX_TRIES]);
const envelope = process.env[CLOUD_EVENTS] ? { cloudEvents: JSON.parse(process.env[CLOUD_EVENTS]) } : undefined;
const streamsByTopic: Record<string, StreamOfTopic> | undefined =
  process.env[STREAMS] && JSON.parse(process.env[STREAMS]);
const metrics = functionMetrics();

const kinesis = putClient();

export const handler = loggable(async (_event: unknown, context: TimedInvocation) => {
  let refusals = 0;
  try {
    return await relayInTime(context);
  } catch (error) {
    if (failsEveryRun(error)) refusals = 1;
    throw error;
  } finally {
    metrics.addMetric(OUTBOX_METRICS.refusals, MetricUnit.Count, refusals);
    metrics.publishStoredMetrics();
  }
});

function singleStream(): StreamOfTopic {
  const number = (name: string): number | undefined => (process.env[name] ? Number(process.env[name]) : undefined);
  return {
    streamName: requiredEnvironment(STREAM_NAME),
    maxRecordBytes: number(MAX_RECORD_BYTES),
    hashBuckets: number(HASH_BUCKETS),
  };
}

/**
 * Relays rows until shortly before the timeout of the invocation. Ends immediately if other processes hold all ranges
 * of keys.
 */
async function relayInTime(context: TimedInvocation): Promise<RelaySummary> {
  const leftMs = (reservedMs: number): number => timeLeft(context, reservedMs);
  const requestMs = (): number => Math.min(REQUEST_TIMEOUT_MS, leftMs(LAST_ANSWER_MS));
  const pool = await createPool(leftMs(LAST_READ_MS));
  const lastSend = AbortSignal.timeout(leftMs(LAST_SEND_MS));
  const producerFor = ({
    streamName,
    maxRecordBytes = DEFAULT_MAX_RECORD_BYTES,
    hashBuckets,
  }: StreamOfTopic): OrderedProducer =>
    new OrderedProducer(
      {
        putRecords: (input) => callWithin({ ms: requestMs() }, (within) => kinesis.putRecords(input, within)),
        listShards: (input) => callWithin({ ms: requestMs() }, (within) => kinesis.listShards(input, within)),
      },
      { streamName, maxRecordBytes, hashBuckets, aggregation: process.env[AGGREGATION] === 'true', signal: lastSend },
    );
  const producers = new Map(
    Object.entries(streamsByTopic ?? { '': singleStream() }).map(([topic, stream]) => [topic, producerFor(stream)]),
  );
  const relay = new OutboxRelay(pool, streamsByTopic ? Object.fromEntries(producers) : producers.get('')!, {
    schema,
    maxTries,
    envelope,
    onRejected: ({ id, tries, isGivenUp, summary }) =>
      console.error({ message: 'row rejected', id: `${id}`, tries, isGivenUp, cause: summary }),
    onReconnect: (error) => console.warn({ message: 'connecting again', cause: loggableMessage(error) }),
  });
  const report = new OutboxReport(relay, metrics);
  report.start();
  try {
    await firstConnection(pool, leftMs(LAST_READ_MS));
    return await relay.run({ signal: AbortSignal.timeout(leftMs(LAST_READ_MS)), standsBy: false });
  } finally {
    await Promise.all([...producers.values()].map((producer) => producer.close()));
    await report.stop(leftMs(LAST_REPORT_MS));
    await callWithin({ ms: leftMs(LAST_MS) }, () => pool.end()).catch(() => {});
  }
}

/** @param withinMs the timeout for reading the user name */
async function createPool(withinMs: number): Promise<Pool> {
  const host = requiredEnvironment(DATABASE_HOST);
  const port = Number(requiredEnvironment(DATABASE_PORT));
  const { user, password } = await credentials({ host, port }, withinMs);
  const pool = new Pool({
    host,
    port,
    database: requiredEnvironment(DATABASE_NAME),
    user,
    password,
    // A server on this machine is an emulator. Any other server must prove its identity with a certificate.
    ssl: host !== '127.0.0.1',
    max: 2,
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    query_timeout: STATEMENT_TIMEOUT_MS,
    application_name: 'even-shards outbox relay',
  });
  pool.on('error', (error) => console.warn({ message: 'connection lost', cause: loggableMessage(error) }));
  return pool;
}
