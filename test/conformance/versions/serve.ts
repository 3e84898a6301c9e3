import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import type { Kinesis } from '@aws-sdk/client-kinesis';
import { localClients } from '../../../bin/local/emulators/clients';
import type * as core from '../../../lib/core';

/** The core of the worker's own version, and clients of the emulators. */
export interface WorkerContext {
  /** The core of the version of this process. Its type is the type of the working tree. */
  core: typeof core;
  dynamoDb: DynamoDB;
  kinesis: Kinesis;
}

// biome-ignore lint/suspicious/noExplicitAny: each call has its own input
export type Calls = Record<string, (input: any) => unknown>;

/** A call that the test sends to a worker. */
export interface CallMessage {
  id: number;
  name: string;
  input: unknown;
}

/** The response of a worker: the result, or the error. */
export interface ResultMessage {
  id: number;
  result?: unknown;
  error?: { name: string; message: string; code?: string; stack?: string };
}

/** Loads the package of this process, and serves the calls of the test until the test ends the process. */
export function serve(start: (context: WorkerContext) => Calls): void {
  const [folder, endpoints] = process.argv.slice(2);
  const load = createRequire(join(folder!, 'package.json'));
  const { kinesis, dynamodb: dynamoDb } = localClients(JSON.parse(endpoints!));
  const calls = start({ core: load('./dist/lib/core/index.js'), dynamoDb, kinesis });
  process.on('message', async ({ id, name, input }: CallMessage) => {
    process.send!(await resultOf(id, async () => calls[name]!(input)));
  });
  process.on('disconnect', () => process.exit());
  process.send!('ready');
}

async function resultOf(id: number, call: () => Promise<unknown>): Promise<ResultMessage> {
  try {
    return { id, result: await call() };
  } catch (error) {
    const { name, message, code, stack } = error as Error & { code?: string };
    return { id, error: { name, message, code, stack } };
  }
}
