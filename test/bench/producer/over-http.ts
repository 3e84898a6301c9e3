import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { printTable, rounded } from '../../support/tables/producer/table';
import { APPROACHES, CARRIERS, KEYS, RECORD_BYTES, RECORDS } from './over-http-approaches';

/**
 * The number of processes of each approach. V8 optimizes code differently in each process, so the results of two
 * processes differ more than the results of two rounds.
 */
const PROCESSES = 3;
const WARM_UPS = 1;
const ROUNDS = 2;

/** With this argument, the program that calls `benchOverHttp` must call `serveApproach` instead. */
export const APPROACH = 'approach';

/** A stream in its own process that accepts every record. Its processor time is not counted. */
const SERVER = `
  const responses = [];
  const result = '{"SequenceNumber":"49590338271490256608559692538361571095921575989136588898","ShardId":"shardId-000000000000"}';
  const responseTo = (entries) =>
    (responses[entries] ??= Buffer.from('{"FailedRecordCount":0,"Records":[' + Array(entries).fill(result) + ']}'));
  const server = require('node:http').createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('latin1');
      const entries = body.split('"PartitionKey":').length - 1;
      const body = responseTo(entries);
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1', 'content-length': body.length });
      response.end(body);
    });
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

/**
 * Measures the processor time of ordered puts over HTTP, compared with batches by the client of the SDK. Each approach
 * has its own processes, so that the garbage and the compiled code of another approach have no effect. The bench does
 * not force garbage collections, because V8 would then compile code again during the measurement.
 */
export async function benchOverHttp(program: string): Promise<void> {
  const server = spawn(process.execPath, ['-e', SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(createInterface({ input: server.stdout }), 'line');
  const samples = APPROACHES.map(() => CARRIERS.map((): number[] => []));
  for (let set = 0; set < PROCESSES; set++) {
    const children = APPROACHES.map(([name]) =>
      CARRIERS.map((carrier) => fork(program, [APPROACH, name, carrier, port])),
    );
    for (let round = -WARM_UPS; round < ROUNDS; round++) {
      for (const [row, columns] of children.entries()) {
        for (const [column, child] of columns.entries()) {
          const time = await timeOf(child);
          if (round >= 0) samples[row]![column]!.push(time);
        }
      }
    }
    for (const child of children.flat()) child.disconnect();
  }
  server.kill();
  const times = samples.map((columns) => columns.map((all) => median(all)));
  const baseline = times[0]![0]!;
  console.log(
    `${rounded(RECORDS)} records of ${RECORD_BYTES} bytes, ${rounded(KEYS)} keys, over HTTP on loopback; ` +
      `the middle of ${ROUNDS} rounds in turn in each of ${PROCESSES} processes\n`,
  );
  printTable(
    ['', "µs a record, the SDK's client", 'ratio', 'the light client', 'ratio', 'the same bytes, made before', 'ratio'],
    APPROACHES.map(([name], index) => [
      name,
      ...times[index]!.flatMap((time) => [rounded(time, 2), `${rounded(time / baseline, 2)} x`]),
    ]),
  );
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
}

async function timeOf(child: ChildProcess): Promise<number> {
  const measured = once(child, 'message');
  child.send('put');
  const [time] = await measured;
  return time;
}
