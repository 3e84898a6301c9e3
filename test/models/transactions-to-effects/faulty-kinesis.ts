import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../../lib/testing/seeded-random';

/** The faults that can affect a request. */
export const FAULTS = [
  'answered late',
  'failed',
  'throttled',
  'failed in part',
  'applied, answer lost',
  'answer lost, applied late',
] as const;
type Fault = (typeof FAULTS)[number];

export interface FaultyKinesis {
  readonly endpoint: string;
  /** The number of requests with each fault. */
  readonly faults: Record<Fault, number>;
  stop(): Promise<void>;
}

interface Entries {
  Records: object[];
}

/** The percentage of requests without a fault. */
const HEALTHY_PERCENT = 40;

/** The delay of a late request. A producer has sent the request again before this delay ends. */
const LATE_MS = 300;

/**
 * Starts a proxy between a Kinesis client and Kinesis. The seed and the order of the requests determine the fault of
 * each request.
 */
export async function startFaultyKinesis(kinesisEndpoint: string, seed: number): Promise<FaultyKinesis> {
  const random = seededRandom(seed);
  const faults = Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as Record<Fault, number>;
  const late = new Set<Promise<unknown>>();

  async function forward({ headers, url }: IncomingMessage, body: string): Promise<{ status: number; body: string }> {
    const { 'content-type': type, 'x-amz-target': target, authorization, 'x-amz-date': date } = headers;
    const sent = { 'content-type': type, 'x-amz-target': target, authorization, 'x-amz-date': date };
    const response = await fetch(`${kinesisEndpoint}${url}`, {
      method: 'POST',
      headers: sent as Record<string, string>,
      body,
    });
    return { status: response.status, body: await response.text() };
  }

  /** Forwards some of the records, and returns a throttle error for the other records. */
  async function forwardInPart(request: IncomingMessage, body: string): Promise<{ status: number; body: string }> {
    const { Records, ...input } = JSON.parse(body) as Entries;
    const withheld = Records.map(() => random() < 0.5);
    const passing = Records.filter((_, index) => !withheld[index]);
    const answers: object[] = [];
    if (passing.length > 0) {
      const answer = await forward(request, JSON.stringify({ ...input, Records: passing }));
      if (answer.status !== 200) return answer;
      answers.push(...(JSON.parse(answer.body) as Entries).Records);
    }
    const results = withheld.map((isWithheld) => (isWithheld ? THROTTLED_ENTRY : answers.shift()));
    const FailedRecordCount = withheld.filter(Boolean).length;
    return { status: 200, body: JSON.stringify({ FailedRecordCount, Records: results }) };
  }

  async function befall(fault: Fault, request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    faults[fault] += 1;
    if (fault === 'answered late') {
      await sleep(20 * random());
      respond(response, await forward(request, body));
    } else if (fault === 'failed') respond(response, errorAnswer(500, 'InternalFailure'));
    else if (fault === 'throttled') respond(response, errorAnswer(400, 'ProvisionedThroughputExceededException'));
    else if (fault === 'failed in part') respond(response, await forwardInPart(request, body));
    else if (fault === 'applied, answer lost') {
      await forward(request, body);
      response.destroy();
    } else {
      response.destroy();
      const applied = sleep(LATE_MS * (1 + random())).then(() => forward(request, body));
      late.add(applied.finally(() => late.delete(applied)));
    }
  }

  const server = createServer(async (request, response) => {
    const body = await text(request);
    const isPut = request.headers['x-amz-target'] === 'Kinesis_20131202.PutRecords';
    if (!isPut || random() * 100 < HEALTHY_PERCENT) respond(response, await forward(request, body));
    else await befall(FAULTS[Math.floor(random() * FAULTS.length)]!, request, response, body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    stop: async () => {
      await Promise.all(late);
      server.close();
      server.closeAllConnections();
    },
  };
}

const THROTTLED_ENTRY = { ErrorCode: 'ProvisionedThroughputExceededException', ErrorMessage: 'Rate exceeded' };

function errorAnswer(status: number, type: string): { status: number; body: string } {
  return { status, body: JSON.stringify({ __type: type, message: type }) };
}

function respond(response: ServerResponse, { status, body }: { status: number; body: string }): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(body);
}
