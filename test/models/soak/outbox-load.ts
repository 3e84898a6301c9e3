import { playLoad } from '../../support/postgres/play-load';
import { PostgresServer } from '../../support/postgres/postgres-server';

// npm run soak outbox-load [minutes] [first seed]
const [minutes = 60, firstSeed = 0] = process.argv.slice(2, 4).map(Number);

/** Every second round has no crashes and no other disturbances, so it must have no duplicates. */
async function main(): Promise<void> {
  const server = await PostgresServer.start();
  const endsAt = performance.now() + minutes * 60_000;
  const totals = {
    rounds: 0,
    committed: 0,
    disturbances: 0,
    repeated: 0,
    lost: 0,
    missing: 0,
    foreign: 0,
    disordered: 0,
  };
  const failed: number[] = [];
  try {
    const url = await server.createDatabase('load');
    for (let seed = firstSeed; performance.now() < endsAt; seed++) {
      const isDisturbed = seed % 2 === 1;
      const report = await playLoad(url, {
        seed,
        writers: 4 + (seed % 5) * 6,
        // With one key, fewer transactions, because transactions of the same key run one after the other.
        transactionsOfEach: seed % 4 === 0 ? 20 : 100 + (seed % 7) * 50,
        keys: [1, 10, 40, 1_000][seed % 4]!,
        longestPauseMs: [0, 2, 10, 30][(seed >> 1) % 4]!,
        workers: 1 + (seed % 3),
        isDisturbed,
      });
      totals.rounds += 1;
      totals.committed += report.committed;
      totals.disturbances += report.disturbances;
      for (const kind of ['repeated', 'lost', 'foreign', 'disordered'] as const) totals[kind] += report[kind].length;
      totals.missing += report.missing;
      const { lost, missing, foreign, disordered, repeated } = report;
      const wrong = lost.length + missing + foreign.length + disordered.length + (isDisturbed ? 0 : repeated.length);
      const isWhole = wrong === 0;
      if (!isWhole) {
        failed.push(seed);
        console.error({ seed, ...report });
      }
      console.log(new Date().toISOString(), JSON.stringify({ seed, ...totals }));
    }
  } finally {
    await server.stop();
  }
  if (failed.length > 0) throw new Error(`${failed.length} rounds failed: seeds ${failed.join(', ')}`);
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
