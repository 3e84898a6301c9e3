import { PostgresServer } from '../../support/postgres/postgres-server';
import { HistoryPlayer } from '../core/outbox/histories/play-history';

// npm run soak outbox [histories] [first seed]
const [count = 10_000, firstSeed = 0] = process.argv.slice(2, 4).map(Number);

/** Histories run in parallel, because they mostly wait for locks and for the server. */
const PLAYERS = 8;
const PROGRESS_EVERY = 100;

async function main(): Promise<void> {
  const server = await PostgresServer.start();
  const startedAt = performance.now();
  const totals: Record<string, number> = {};
  const failed: number[] = [];
  let [begun, done] = [0, 0];

  async function play(database: string): Promise<void> {
    const player = await HistoryPlayer.start(await server.createDatabase(database));
    try {
      while (begun < count) {
        const seed = firstSeed + begun++;
        try {
          const { counts } = await player.play(seed);
          for (const [name, value] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + value;
        } catch (error) {
          failed.push(seed);
          console.error(error, `\nonce more: npm run soak outbox 1 ${seed}`);
        }
        done += 1;
        if (done % PROGRESS_EVERY === 0 || done === count) report();
      }
    } finally {
      await player.end();
    }
  }

  function report(): void {
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const summed = Object.entries(totals).map(([name, value]) => `${value} ${name}`);
    console.log(`${done} histories, ${failed.length} failed, ${summed.join(', ')}, ${seconds} s`);
  }

  try {
    await Promise.all(Array.from({ length: Math.min(PLAYERS, count) }, (_, index) => play(`soak_${index}`)));
  } finally {
    await server.stop();
  }
  if (failed.length > 0) throw new Error(`${failed.length} histories failed: seeds ${failed.join(', ')}`);
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
