import { contend } from './contention';

/** Ledgers on one store, like the execution environments of a function. Each call allocates a hash key for one new owner. */
describe('ledgers that allocate in parallel', () => {
  const crowds = [
    { ledgers: 64, calls: 6 },
    { ledgers: 32, calls: 6 },
    { ledgers: 128, calls: 4 },
  ];
  const waits = [0, 5].flatMap((requestMs) => [0, 0.05].map((lostAnswers) => ({ requestMs, lostAnswers })));
  test.each(crowds.flatMap((crowd) => waits.map((wait) => ({ callers: 1, ...crowd, ...wait }))))(
    'complete every call, give each owner a different key, and put the same number of owners into each shard: %j',
    async (contention) => {
      const { owners, ...outcome } = await contend(contention);
      expect(outcome).toMatchObject({ failures: {}, commits: owners, keys: owners, fullest: owners / 16 });
    },
  );

  test('combine the calls of several callers in one commit, and allocate 1,024 owners of 32 callers in less than 2 seconds', async () => {
    const outcome = await contend({ ledgers: 1, callers: 32, calls: 32, requestMs: 5, lostAnswers: 0 });
    expect(outcome).toMatchObject({ owners: 1_024, keys: 1_024, commits: 32, failures: {} });
    expect(outcome.seconds).toBeLessThan(2);
  });
});
