import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FunctionPool, LocalStackStoppedError } from '../../../bin/local/functions/function-pool';

const INVOCATIONS = 30;

let codeDirectory: string;

beforeAll(() => {
  codeDirectory = mkdtempSync(join(tmpdir(), 'function-pool-'));
  writeFileSync(join(codeDirectory, 'index.js'), 'exports.handler = () => new Promise(() => {});');
});

afterAll(() => rmSync(codeDirectory, { recursive: true }));

test('FunctionPool.stop rejects the invocations that wait for an instance', async () => {
  const pool = new FunctionPool(
    {
      path: 'Hanging',
      name: 'hanging',
      arn: 'arn:aws:lambda:us-east-1:000000000000:function:hanging',
      runtime: 'nodejs22.x',
      handler: 'index.handler',
      codeDirectory,
      environment: {},
      unset: {},
      timeoutSeconds: 60,
      memoryMb: 128,
    },
    {},
  );
  const settled = Promise.allSettled(Array.from({ length: INVOCATIONS }, () => pool.invoke('{}')));
  await pool.stop();
  const outcomes = await settled;
  const rejections = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  expect(rejections).toHaveLength(INVOCATIONS - 8);
  for (const reason of rejections) expect(reason).toBeInstanceOf(LocalStackStoppedError);
});
