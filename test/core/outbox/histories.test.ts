import { describeOnPostgres } from '../../postgres/describe-on-postgres';
import { PostgresServer } from '../../postgres/postgres-server';
import { HistoryPlayer, type Mutant } from './histories/play-history';

const HISTORIES = 300;
const PLAYERS = 3;

/** Of what is broken, histories that do not notice by then never would. */
const MOST_TO_NOTICE = 300;

describeOnPostgres('random histories of an outbox, on a real server', () => {
  let server: PostgresServer;
  const players: HistoryPlayer[] = [];

  beforeAll(async () => {
    server = await PostgresServer.start();
  }, 60_000);
  afterAll(async () => {
    await Promise.all(players.map((player) => player.end()));
    await server?.stop();
  });

  async function player(database: string, mutant?: Mutant): Promise<HistoryPlayer> {
    const started = await HistoryPlayer.start(await server.createDatabase(database), mutant);
    players.push(started);
    return started;
  }

  test(`a consumer sees each committed row once, in the order of the commits of its key: ${HISTORIES} seeds`, async () => {
    const repeats = await Promise.all(
      Array.from({ length: PLAYERS }, async (_, first) => {
        const own = await player(`histories_${first}`);
        let seen = 0;
        for (let seed = first; seed < HISTORIES; seed += PLAYERS) seen += (await own.play(seed)).counts.repeats;
        return seen;
      }),
    );
    // Without repeats it would not be known that they are dropped.
    expect(Math.min(...repeats)).toBeGreaterThan(0);
  }, 900_000);

  test.each<Mutant>(['no lock on the key', 'late rows are skipped', 'parked rows pass'])(
    'and notice where that is broken: %s',
    async (mutant) => {
      const own = await player(mutant.replaceAll(' ', '_'), mutant);
      await expect(playUntilNoticed(own)).rejects.toThrow(/^seed \d+: /);
    },
    300_000,
  );

  async function playUntilNoticed(own: HistoryPlayer): Promise<void> {
    for (let seed = 0; seed < MOST_TO_NOTICE; seed++) await own.play(seed);
  }
});
