import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { startKinesisEmulator } from '../../../bin/local/emulators/kinesis-emulator';
import { OrderedProducer, type OrderedProducerOptions } from '../../../lib/core';
import { printTable, rounded } from '../../support/tables/producer/table';

/** The scenario of aiokpl 0.2. Source: benchmarks/bench_throughput.py and the page of its results. */
const RECORDS = 20_000;
const RECORD_BYTES = 200;
const KEYS = 256;
const PUBLISHED_PER_SECOND = 8_572;

const ROUNDS = 3;
const STREAM = 'Events';

/** Puts every record and waits for all receipts. Returns the seconds. */
type Approach = (kinesis: Kinesis, endpoint: string) => Promise<number>;

/**
 * Runs the benchmark of aiokpl: puts 20,000 records of 200 bytes with 256 keys into one shard, and waits for each
 * receipt. The stream is kinesis-mock in a thread, as in the original. If AIOKPL_PYTHON names a Python with aiokpl
 * (pip install aiokpl==0.2.0), the bench runs aiokpl, too.
 */
export async function benchPublishedFigure(): Promise<void> {
  const approaches: [string, Approach][] = [
    ['`OrderedProducer`, aggregation', ours({ aggregation: true })],
    ['`OrderedProducer`, aggregation and sequence', ours({ aggregation: true, sequence: true })],
    ['`OrderedProducer`, packed', ours({ aggregation: 'packed' })],
  ];
  const python = process.env.AIOKPL_PYTHON;
  if (python !== undefined) approaches.unshift(['aiokpl 0.2.0 here', aiokpl(python)]);
  const rows = [['aiokpl 0.2.0, as published, on a machine with 14 cores', rounded(PUBLISHED_PER_SECOND), '', '']];
  let baseline: number | undefined;
  for (const [name, approach] of approaches) {
    const rates = await inRounds(approach);
    const median = rates[Math.floor(ROUNDS / 2)]!;
    baseline ??= median;
    const range = `${rounded(rates[0]!)} to ${rounded(rates.at(-1)!)}`;
    rows.push([name, rounded(median), range, `${rounded(median / baseline, 1)} x`]);
  }
  console.log(
    `${rounded(RECORDS)} records of ${RECORD_BYTES} bytes, ${KEYS} keys, one shard of kinesis-mock, each record with its ` +
      `receipt; medians of ${ROUNDS} rounds\n`,
  );
  printTable(['', 'records/s', 'least to most', 'ratio'], rows);
}

/** The records per second of each round, in ascending order. Each round has a new stream. */
async function inRounds(approach: Approach): Promise<number[]> {
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const emulator = await startKinesisEmulator();
    const { endpoint } = emulator;
    const kinesis = new Kinesis({
      endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      maxAttempts: 1,
      requestHandler: new NodeHttpHandler(),
    });
    await kinesis.createStream({ StreamName: STREAM, ShardCount: 1 });
    await setTimeout(500);
    rates.push(RECORDS / (await approach(kinesis, endpoint)));
    kinesis.destroy();
    await emulator.stop();
  }
  return rates.sort((a, b) => a - b);
}

function ours(options: Partial<OrderedProducerOptions>): Approach {
  return async (kinesis) => {
    const data = Buffer.alloc(RECORD_BYTES, 'x');
    const startMs = performance.now();
    const producer = new OrderedProducer(kinesis, { streamName: STREAM, ...options });
    const puts = Array.from({ length: RECORDS }, (_, index) =>
      producer.put({ partitionKey: `pk-${index % KEYS}`, data }),
    );
    await Promise.all(puts);
    return (performance.now() - startMs) / 1_000;
  };
}

function aiokpl(python: string): Approach {
  return async (_, endpoint) => {
    const scenario = [endpoint, STREAM, RECORDS, KEYS, RECORD_BYTES].map(String);
    const script = spawn(python, ['test/bench/producer/run-aiokpl.py', ...scenario], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output, [status]] = await Promise.all([text(script.stdout), once(script, 'close')]);
    if (status !== 0) throw new Error('aiokpl failed');
    return Number(output);
  };
}
