import { describeOnPostgres } from '../../../support/postgres/describe-on-postgres';
import { PostgresServer } from '../../../support/postgres/postgres-server';
import { randomRuns, randomRunsTimeout } from '../../../support/random-runs';
import { HistoryPlayer } from './histories/play-history';

/** `npm run soak outbox` runs any number of histories, and can break a rule of the outbox. */
const HISTORIES = randomRuns(60);
const PLAYERS = 3;

describeOnPostgres('in random histories of an outbox on a real server', () => {
  let server: PostgresServer;
  const players: HistoryPlayer[] = [];

  beforeAll(async () => {
    server = await PostgresServer.start();
  }, 60_000);
  afterAll(async () => {
    await Promise.all(players.map((player) => player.end()));
    await server?.stop();
  });

  async function player(database: string): Promise<HistoryPlayer> {
    const started = await HistoryPlayer.start(await server.createDatabase(database));
    players.push(started);
    return started;
  }

  test(
    `a consumer sees each committed row once, in the order of the commits of its key: ${HISTORIES} seeds`,
    async () => {
      const repeats = await Promise.all(
        Array.from({ length: PLAYERS }, async (_, first) => {
          const own = await player(`histories_${first}`);
          let seen = 0;
          for (let seed = first; seed < HISTORIES; seed += PLAYERS) seen += (await own.play(seed)).counts.repeats;
          return seen;
        }),
      );
      // If there were no duplicates, the test would not show that consumers drop duplicates.
      expect(Math.min(...repeats)).toBeGreaterThan(0);
    },
    randomRunsTimeout(900_000),
  );
});
