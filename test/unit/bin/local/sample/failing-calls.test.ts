import type { ConfiguredRetryStrategy } from '@smithy/core/retry';
import { localClients } from '../../../../../bin/local/emulators/clients';
import type { LocalStack } from '../../../../../bin/local/run-local';
import { runSample } from '../../../../../bin/local/sample';

const endpoints = { kinesis: 'http://127.0.0.1:1', dynamodb: 'http://127.0.0.1:1', lambda: 'http://127.0.0.1:1' };

test.each(['kinesis', 'dynamodb'] as const)(
  'a client of %s makes 30 attempts of a failing call within half a minute',
  async (service) => {
    jest.useFakeTimers();
    try {
      const strategy = (await localClients(endpoints)[service].config.retryStrategy()) as ConfiguredRetryStrategy;
      let token = await strategy.acquireInitialRetryToken('');
      const begunAtMs = Date.now();
      const retry = () => strategy.refreshRetryTokenForRetry(token, { errorType: 'TRANSIENT' }).catch(() => undefined);
      for (let attempts = 1; ; attempts++) {
        const [next] = await Promise.all([retry(), jest.runAllTimersAsync()]);
        if (next !== undefined) token = next;
        else {
          expect(attempts).toBe(30);
          break;
        }
      }
      expect(Date.now() - begunAtMs).toBeGreaterThan(20_000);
      expect(Date.now() - begunAtMs).toBeLessThanOrEqual(30_000);
    } finally {
      jest.useRealTimers();
    }
  },
);

/** A stack. Access to any property of this stack throws the error. */
const failing = (error: Error) =>
  ({
    get functions(): never {
      throw error;
    },
  }) as unknown as LocalStack;
const sample = (error: Error) => runSample(failing(error), { input: [], print: () => {} });

test('the sample reports the last error that a service returned', async () => {
  const error = Object.assign(new Error('Internal service failure.'), {
    name: 'InternalFailure',
    $metadata: { attempts: 30 },
  });
  await expect(sample(error)).rejects.toMatchObject({
    code: 'SAMPLE_FAILED',
    problem: 'the sample failed: a call failed 30 times: InternalFailure: Internal service failure.',
    cause: error,
  });
});

test('the sample throws an error of its own code without a wrapper', async () => {
  const mistake = new TypeError('not a function');
  await expect(sample(mistake)).rejects.toBe(mistake);
});
