import { describeOnPostgres } from '../../../support/postgres/describe-on-postgres';
import { PostgresServer } from '../../../support/postgres/postgres-server';
import { randomRuns, randomRunsTimeout } from '../../../support/random-runs';
import { HistoryPlayer, type Mutant } from './histories/play-history';

const HISTORIES = randomRuns(150);
const PLAYERS = 3;

const MOST_TO_NOTICE = 400;
const PLAYERS_OF_MUTANTS = 8;

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

  /**
   * The third mutant, `parked rows pass`, needs about 200 histories, so only `npm run soak outbox` uses it. The exhaustive tests
   * find the same mutant in seconds.
   */
  test.each<Mutant>(['no lock on the key', 'late rows are skipped'])(
    'a history fails with the mutant: %s',
    async (mutant) => {
      const databases = Array.from(
        { length: PLAYERS_OF_MUTANTS },
        (_, index) => `${mutant.replaceAll(' ', '_')}_${index}`,
      );
      const own = await Promise.all(
        databases.map(async (name) => HistoryPlayer.start(await server.createDatabase(name), mutant)),
      );
      const noticed = await playUntilNoticed(own);
      await Promise.all(own.map((each) => each.end()));
      expect(noticed.length).toBeGreaterThan(0);
      for (const { message } of noticed) expect(message).toMatch(/^seed \d+: /);
    },
    900_000,
  );

  /** Runs seeds until a history fails. The histories that run in parallel continue to their end. */
  async function playUntilNoticed(own: HistoryPlayer[]): Promise<Error[]> {
    const noticed: Error[] = [];
    let seed = 0;
    const play = async (each: HistoryPlayer): Promise<void> => {
      while (noticed.length === 0 && seed < MOST_TO_NOTICE)
        await each.play(seed++).catch((error) => noticed.push(error));
    };
    await Promise.all(own.map(play));
    return noticed;
  }
});
