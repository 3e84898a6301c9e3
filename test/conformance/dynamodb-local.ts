import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** `npm run conformance` sets this environment variable to the folder of the DynamoDB Local jar. */
export const DYNAMODB_LOCAL = 'DYNAMODB_LOCAL';

/** Starts Amazon's DynamoDB Local on the loopback interface. DynamoDB Local ends when this process ends. */
export async function startDynamoDbLocal(): Promise<{ endpoint: string; stop(): Promise<void> }> {
  const folder = process.env[DYNAMODB_LOCAL];
  if (folder === undefined) throw new Error(`${DYNAMODB_LOCAL} is not set: run npm run conformance`);
  const child = spawn('java', [
    `-Djava.io.tmpdir=${tmpdir()}`,
    `-Djava.library.path=${join(folder, 'DynamoDBLocal_lib')}`,
    '-cp',
    [join(folder, 'DynamoDBLocal.jar'), join(folder, 'DynamoDBLocal_lib', '*')].join(
      process.platform === 'win32' ? ';' : ':',
    ),
    join(__dirname, 'LoopbackDynamoDb.java'),
  ]);
  const exit = once(child, 'exit');
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /^listening on port (\d+)$/.exec(line)?.[1];
    if (port === undefined) continue;
    const stop = async () => {
      child.stdin.end();
      await exit;
    };
    return { endpoint: `http://127.0.0.1:${port}`, stop };
  }
  throw new Error(`DynamoDB Local did not start: ${output}`);
}
