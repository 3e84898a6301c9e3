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
      const totals: Record<string, number> = {};
      await Promise.all(
        Array.from({ length: PLAYERS }, async (_, first) => {
          const own = await player(`histories_${first}`);
          for (let seed = first; seed < HISTORIES; seed += PLAYERS) {
            const { counts } = await own.play(seed);
            for (const [name, count] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + count;
          }
        }),
      );
      // The histories must include stopped workers, rows that the relay gives up, and duplicates that consumers drop.
      for (const name of ['stops', 'givenUp', 'repeats']) {
        expect({ name, isInSome: totals[name]! > 0 }).toEqual({ name, isInSome: true });
      }
    },
    randomRunsTimeout(900_000),
  );
});
