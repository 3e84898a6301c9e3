import { describeOnPostgres } from '../support/postgres/describe-on-postgres';
import { type Load, playLoad } from '../support/postgres/play-load';
import { PostgresServer } from '../support/postgres/postgres-server';

const WHOLE = { lost: [], foreign: [], repeated: [], disordered: [] };

describeOnPostgres('a relay beside writers that nothing disturbs', () => {
  let server: PostgresServer;
  let url: string;

  beforeAll(async () => {
    server = await PostgresServer.start();
    url = await server.createDatabase('load');
  }, 60_000);
  afterAll(() => server?.stop());

  test.each([
    ['without pauses', { seed: 1, writers: 8, transactionsOfEach: 150, keys: 40, longestPauseMs: 0 }],
    [
      'with pauses between the statements of a transaction',
      { seed: 2, writers: 16, transactionsOfEach: 50, keys: 40, longestPauseMs: 8 },
    ],
  ] satisfies [string, Load][])(
    'sends each committed row once, in the order of its key: %s',
    async (_, load) => {
      const { committed, ...report } = await playLoad(url, load);
      expect(report).toEqual(WHOLE);
      expect(committed).toBeGreaterThan(1_000);
    },
    120_000,
  );
});
