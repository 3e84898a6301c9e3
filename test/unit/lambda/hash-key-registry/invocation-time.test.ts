import { InvocationTime } from '../../../../lambda/hash-key-registry/invocation-time';
import { HashKeyLedger, uniformRanges } from '../../../../lib/core';
import { DynamoDbRegistryStore, type RegistryTableClient } from '../../../../lib/core/registry/dynamodb-registry-store';

describe('InvocationTime', () => {
  let leftMs: number;
  let time: InvocationTime;
  beforeEach(() => {
    leftMs = 60_000;
    time = new InvocationTime();
    time.begin({ getRemainingTimeInMillis: () => leftMs });
  });

  test('makes calls while the invocation has time left', async () => {
    expect(await time.within(async () => 'answer')).toBe('answer');
    await expect(time.within(() => Promise.reject(new Error('of the service')))).rejects.toThrow('of the service');
  });

  test('makes no call in the last half second of the invocation', async () => {
    leftMs = 501;
    const call = jest.fn();
    await expect(time.within(call)).rejects.toMatchObject({ code: 'OUT_OF_TIME' });
    expect(call).not.toHaveBeenCalled();
  });

  test('ends a call that takes longer than the remaining time of the invocation', async () => {
    leftMs = 510;
    const silent = ({ abortSignal }: { abortSignal: AbortSignal }) =>
      new Promise<never>((_, reject) =>
        abortSignal.addEventListener('abort', () => {
          leftMs = 500;
          reject(abortSignal.reason);
        }),
      );
    await expect(time.within(silent)).rejects.toMatchObject({ code: 'OUT_OF_TIME', cause: { name: 'TimeoutError' } });
  });

  test('limits the time for which a ledger waits', async () => {
    leftMs = 510;
    const waited = time.clock.sleep(3_600_000);
    await expect(waited).resolves.toBeUndefined();
  });

  test('ends an allocation if each conditional write of the ledger fails', async () => {
    const failure = Object.assign(new Error('condition'), { name: 'ConditionalCheckFailedException' });
    let writes = 0;
    const table: RegistryTableClient = {
      getItem: () => time.within(async () => ({})),
      scan: () => time.within(async () => ({ Items: [] })),
      putItem: () =>
        time.within(async () => {
          writes += 1;
          leftMs -= 10_000;
          throw failure;
        }),
    };
    const ledger = new HashKeyLedger(new DynamoDbRegistryStore(table, 'owners'), {
      clock: { ...time.clock, sleep: async () => {} },
    });
    await expect(ledger.allocate([{ owner: 'a' }], uniformRanges(4))).rejects.toMatchObject({ code: 'OUT_OF_TIME' });
    expect(writes).toBe(6);
  });
});
