import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { Kinesis } from '@aws-sdk/client-kinesis';
import type { Context } from 'aws-lambda';

/** A function for the tests of local runs. The event contains the name of the action. */

const kinesis = new Kinesis({});
const dynamodb = new DynamoDB({});

interface Order {
  readonly orderId: string;
  readonly statusShard: string;
  readonly createdAt: string;
}

const ACTIONS: Readonly<Record<string, (argument: never, context: Context) => unknown>> = {
  write: async (order: Order) => {
    await dynamodb.putItem({
      TableName: process.env.TABLE_NAME,
      Item: Object.fromEntries(Object.entries(order).map(([name, S]) => [name, { S }])),
    });
    const { ShardId } = await kinesis.putRecord({
      StreamName: process.env.STREAM_NAME,
      PartitionKey: order.orderId,
      Data: Buffer.from(JSON.stringify(order)),
    });
    return { shardId: ShardId };
  },
  describe: (_, context) => ({
    context: { ...context, remaining: context.getRemainingTimeInMillis() },
    environment: process.env,
  }),
  print: (text: string) => console.log(text),
  meet: async ({ directory, invocations }: { directory: string; invocations: number }, { awsRequestId }) => {
    writeFileSync(join(directory, awsRequestId), '');
    while (readdirSync(directory).length < invocations) await sleep(10);
    return 'met';
  },
  sleep: (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds, 'slept')),
  fail: (message: string) => {
    throw new TypeError(message);
  },
  exit: (code: number) => process.exit(code),
  respond: (bytes: number) => 'x'.repeat(bytes - 2),
};

export async function handler(event: { action: string; argument: never }, context: Context): Promise<unknown> {
  return ACTIONS[event.action]!(event.argument, context);
}
