import { describeOnPostgres } from '../../../support/postgres/describe-on-postgres';
import { type Load, playLoad } from '../../../support/postgres/play-load';
import { PostgresServer } from '../../../support/postgres/postgres-server';

const WHOLE = { lost: [], missing: 0, foreign: [], disordered: [] };
const LOAD = { writers: 8, transactionsOfEach: 120, keys: 40, longestPauseMs: 0, workers: 1, isDisturbed: false };

describeOnPostgres('a relay while writers write', () => {
  let server: PostgresServer;
  let url: string;

  beforeAll(async () => {
    server = await PostgresServer.start();
    url = await server.createDatabase('load');
  }, 60_000);
  afterAll(() => server?.stop());

  test.each([
    ['without pauses', { ...LOAD, seed: 1 }],
    [
      'with pauses between the statements of a transaction',
      { ...LOAD, seed: 2, writers: 16, transactionsOfEach: 60, longestPauseMs: 8 },
    ],
  ] satisfies [string, Load][])(
    'sends each committed row once, in the order of its key: %s',
    async (_, load) => {
      const { committed, ...report } = await playLoad(url, load);
      expect(report).toEqual({ ...WHOLE, repeated: [], disturbances: 0 });
      expect(committed).toBeGreaterThan(1_000);
    },
    120_000,
  );

  test('sends each committed row once or several times, and no other rows, while workers are killed and the ranges of keys are divided', async () => {
    const load = { ...LOAD, seed: 3, workers: 3, longestPauseMs: 10, isDisturbed: true };
    const { committed, disturbances, repeated, ...report } = await playLoad(url, load);
    expect(report).toEqual(WHOLE);
    expect(committed).toBeGreaterThan(800);
    expect(disturbances).toBeGreaterThan(5);
    expect(repeated.length).toBeLessThan(committed);
  }, 120_000);
});
